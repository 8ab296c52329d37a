"""Converts text to a form that the Pico engine can process.

The engine executes commands in angle brackets, and some of these commands read and write files. The engine can also
fail on symbols that it doesn't know. Rule: text that is sent to the engine contains no angle brackets. It contains only
Latin letters, digits, and the punctuation marks of the engine's languages.
"""

from __future__ import annotations

import re
import unicodedata

CHARS_MAX = 200  # a longer sentence is said in parts, because the engine's memory for a sentence is small
_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u02bc\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2212", "-"),
        **dict.fromkeys("\u2013\u2014\u2015", ", "),
        "\u2026": "...",
    }
)
_SYMBOLS = frozenset(" .,;:!?'\"()-/%&+=@#$*_\u20ac\u00a3\u00a7\u00b0\u00a1\u00bf\u00bd\u00bc\u00be\u00b2\u00b3")
_LATIN_END = "\u024f"
_RUN = re.compile(r"([^\w\s])\1{2,}")  # more than two of a symbol
_LONG_WORD = re.compile(r"\S{40}(?=\S)")


def speakable(text: str) -> str:
    """The text without the characters that the engine can't say. Empty if nothing remains."""
    plain = unicodedata.normalize("NFC", text).translate(_SAME)
    plain = "".join(letter if _is_known(letter) else " " for letter in plain)
    plain = " ".join(_LONG_WORD.sub(r"\g<0> ", _RUN.sub(r"\1\1\1", plain)).split())
    return plain if any(letter.isalnum() for letter in plain) else ""


def _is_known(letter: str) -> bool:
    return letter in _SYMBOLS or (letter <= _LATIN_END and letter.isalnum())


def parts(text: str, chars_max: int = CHARS_MAX) -> list[str]:
    """Cut the text into parts that are short enough for the engine. Cuts are made after punctuation if possible, and
    never inside a word."""
    found = []
    while len(text) > chars_max:
        cut = max(text.rfind(mark, 0, chars_max) for mark in (", ", "; ", ": "))
        cut = cut + 1 if cut > chars_max // 4 else text.rfind(" ", 0, chars_max)
        found.append(text[:cut])
        text = text[cut:].lstrip()
    return [*found, text] if text else found
