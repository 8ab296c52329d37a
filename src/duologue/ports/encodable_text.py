"""Text that can be encoded as UTF-8.

A streaming service may split a character in two, and a file name may contain bytes that aren't text. Rule:
a lone surrogate is replaced here, because encoding it would fail in whatever voice, model or file gets it next.
"""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The same text, with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
