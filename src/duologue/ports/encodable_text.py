"""Text that can be encoded as UTF-8.

A streaming service may split a character in two, and a file name may contain bytes that aren't text. Rule:
a lone surrogate is replaced here, because the voice, model or file that gets the text next couldn't encode it.
"""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The same text, with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
