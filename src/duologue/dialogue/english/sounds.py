"""Words that sound alike: "reader" for "router", "plain" for "plane".

STT writes what it heard, so instead of a known word it may write another word that sounds nearly the same. Two words
are compared by their consonants. Consonants that are easily confused, such as B and P, are treated as the same. Rule: a
word found by its sound is only a guess, so the agent asks whether it was meant.
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
    """The consonants of a text. Consonants that sound similar are replaced by the same letter, and repeated ones are
    written only once."""
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
    """The names that have the same consonants as the text (similar ones are treated as the same) and nearly the same
    length. Empty if the text has too few consonants."""
    code = sound_of(text)
    if len(code) < _CODE_CHARS_MIN:
        return ()
    return tuple(dict.fromkeys(name for name in names if sound_of(name) == code and abs(len(name) - len(text)) <= 2))
