"""Words that sound alike: "reader" for "router", "plain" for "plane".

STT writes what it heard, so a known word may come as another word of nearly the same sound. Words are compared by their
consonants in order, with those that are easily confused taken as one. Rule: a word found by its sound is a guess, so
the agent asks whether it was meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_CLASSES = {
    letter: group[0] for group in ("bp", "dt", "gkq", "fv", "sz", "m", "n", "l", "r", "jy", "x") for letter in group
}
_PAIRS = (
    ("ph", "f"),
    ("ck", "k"),
    ("ch", "j"),
    ("sh", "j"),
    ("gh", ""),
    ("wr", "r"),
    ("kn", "n"),
    ("ce", "s"),
    ("ci", "s"),
)
_CODE_CHARS_MIN = 2  # fewer consonants fit too many words


@lru_cache(maxsize=1024)
def sound_of(text: str) -> str:
    """The consonants of a text. Similar consonants are treated as the same, and doubles count once."""
    word = "".join(char for char in text.casefold() if char.isalpha())
    for written, heard in _PAIRS:
        word = word.replace(written, heard)
    word = word.replace("c", "k")
    code = ""
    for char in word:
        sound = _CLASSES.get(char, "")
        if sound and not code.endswith(sound):
            code += sound
    return code


def like(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that sound like the text and begin with a similar sound. Empty if the text has too few consonants."""
    code = sound_of(text)
    if len(code) < _CODE_CHARS_MIN:
        return ()
    return tuple(dict.fromkeys(name for name in names if sound_of(name) == code and abs(len(name) - len(text)) <= 2))
