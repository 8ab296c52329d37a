"""Text that can be encoded as UTF-8.

A streaming service may split a character in two, and a file name may contain bytes that aren't text. Rule: a lone
surrogate is replaced here, because it couldn't be encoded when the text is sent to a voice or a model, or written to a
file.
"""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The same text, with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
