"""Text that anybody can write down.

A service that streams may cut a character in two, and the name of a file may hold bytes that are no text. Rule: half a
character goes no further, because whoever gets it next, a voice, a model or a file, would fail at it.
"""

from __future__ import annotations

import re

_HALVES = re.compile("[\ud800-\udfff]")


def writable(text: str) -> str:
    """The same text; two halves of a character are one, and a half alone is the mark for what can't be read."""
    if _HALVES.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
