"""Words that sound alike: "reader" for "router", "plain" for "plane".

STT writes what it heard, so instead of a known word it may write another word that sounds nearly the same. Two words
are compared by their consonants. Consonants that are easily confused, such as B and P, are treated as the same. Rule: a
known word that was found by its sound is only a guess, so the agent asks whether the user meant this word.
"""

from __future__ import annotations

import unicodedata
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
_VOWELS = frozenset("aeiouy")
_CODE_CHARS_MIN = 2  # fewer consonants fit too many words


@lru_cache(maxsize=1024)
def sound_of(text: str) -> str:
    """The consonants of a text. Consonants that sound similar are replaced by the same letter. If the same letter comes
    twice in a row, it is written only one time."""
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
    """The names that have the same consonants as the text (similar consonants are treated as the same), nearly the same
    length and nearly as many syllables. Empty if the text has too few consonants."""
    code = sound_of(text)
    if len(code) < _CODE_CHARS_MIN:
        return ()
    return tuple(dict.fromkeys(name for name in names if sound_of(name) == code and _fits(text, name)))


def _fits(text: str, name: str) -> bool:
    """Could a text and a name sound alike? They must have nearly the same length and nearly as many syllables, and
    either both or neither of them must begin with a vowel."""
    (first, syllables), (name_first, name_syllables) = _vowels(text), _vowels(name)
    return abs(len(name) - len(text)) <= 2 and first == name_first and abs(syllables - name_syllables) <= 1


@lru_cache(maxsize=1024)
def _vowels(text: str) -> tuple[bool, int]:
    """Whether a text begins with a vowel (a leading H is ignored), and how many groups of vowels it has. A silent E at
    the end of a word isn't counted."""
    spoken = " ".join(_without_silent_e(word) for word in text.casefold().split())
    vowels = [unicodedata.normalize("NFD", char)[0] in _VOWELS for char in spoken]
    groups = sum(is_vowel and not before for is_vowel, before in zip(vowels, [False, *vowels], strict=False))
    return spoken.removeprefix("h")[:1] in _VOWELS, groups


def _without_silent_e(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("e") and word[-2] not in _VOWELS else word
