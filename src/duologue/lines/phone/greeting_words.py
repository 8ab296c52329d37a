"""Recognises by the first words on a telephone whether an answering machine or a person has answered.

Each language is one file of phrases in `greetings/`. Rule: if a machine's phrase is anywhere in the words, a machine
has answered ("please leave a message after the tone"). A person has answered only if the words are nothing but a
person's phrases ("hello? who is this?").
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from duologue.turns.language import known_code
from duologue.turns.words import words_of

from .call.state import Answerer

_FOLDER = Path(__file__).with_name("greetings")
LANGUAGES = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
DEFAULT = "en"
_UNSPACED = ("ja", "zh")
WORDS_MAX = 12  # a person's first words aren't longer; a longer text can only be a machine's greeting


@dataclass(frozen=True, slots=True)
class GreetingPhrases:
    """The phrases of one language. Each phrase is a sequence of words. In a language without spaces, each phrase is one
    word."""

    machine: tuple[tuple[str, ...], ...]
    person: tuple[tuple[str, ...], ...]


def answerer_of(text: str, language: str = DEFAULT) -> Answerer:
    """Whether a person or an answering machine says these words; UNKNOWN if that isn't clear. A language without a file
    uses the English phrases."""
    code = known_code(language)
    code = code if code in LANGUAGES else DEFAULT
    phrases, words = phrases_in(code), _words(code, text)
    if any(_contains(words, phrase, code) for phrase in phrases.machine):
        return Answerer.MACHINE
    return Answerer.PERSON if words and _is_only(words, phrases.person, code) else Answerer.UNKNOWN


@cache
def phrases_in(code: str) -> GreetingPhrases:
    """The phrases of the language with this code. There must be a file for this language."""
    data = tomllib.loads((_FOLDER / f"{code}.toml").read_text(encoding="utf-8"))
    machine, person = (tuple(_words(code, phrase) for phrase in data[name]) for name in ("machine", "person"))
    return GreetingPhrases(machine, person)


def _words(code: str, text: str) -> tuple[str, ...]:
    words = [word.replace("\u2019", "'") for word in words_of(text)]
    return ("".join(words),) if code in _UNSPACED and words else tuple(words)


def _contains(words: tuple[str, ...], phrase: tuple[str, ...], code: str) -> bool:
    if code in _UNSPACED:
        return any(phrase[0] in word for word in words)
    size = len(phrase)
    return any(words[at : at + size] == phrase for at in range(len(words) - size + 1))


def _is_only(words: tuple[str, ...], phrases: tuple[tuple[str, ...], ...], code: str) -> bool:
    """Do these words consist only of the phrases: one of them, or several in a row?"""
    whole: tuple[str, ...] = words
    wanted = phrases
    if code in _UNSPACED:
        whole, wanted = tuple(words[0]), tuple(tuple(phrase[0]) for phrase in phrases)
    if len(whole) > WORDS_MAX * (1 if code not in _UNSPACED else 2):
        return False
    reached = {0}
    for at in range(len(whole)):
        if at in reached:
            reached |= {at + len(phrase) for phrase in wanted if whole[at : at + len(phrase)] == phrase}
    return len(whole) in reached
