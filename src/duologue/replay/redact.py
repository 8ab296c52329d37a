"""Rewrites an ear journal without its words, so that it can be attached to a bug report.

Each word is replaced by a placeholder of the same length and class: substantial word or filler. So the number of words
stays the same, and most decisions can still be computed again. Rule: a placeholder reveals nothing about the word. In
another utterance, the same word gets another placeholder. Placeholders are computed with a secret key that isn't
stored.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

from duologue.core.codec import canonical
from duologue.hearing.codec import words_from_json, words_to_json
from duologue.hearing.words import SaidWords
from duologue.observe.ears_writer import sum_of
from duologue.turns.language import Language
from duologue.turns.language import language as language_of
from duologue.turns.words import count

from .ears_file import checked_lines, read_ears

_SPACE = re.compile(r"(\s+)")
_LETTERS = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_SIGNS = "bcdfgjklnpqrstvwxz"  # no word of a known language has only these letters
_STEMS = "甲乙丙丁戊己庚辛壬癸"  # the ten signs that count years
_KEY_BYTES = 16


def redact_ears(lines: Iterable[str], key: bytes = b"") -> Iterator[str]:
    """The lines of an ear journal, with placeholders instead of words. If a crash has cut off the journal, the result
    is cut off too. Raises InvalidEars if the journal can't be read."""
    given = list(lines)
    ears = read_ears(given, complete=False)
    redactor = Redactor(
        ears.policy.language if ears.policy is not None else "en", key or secrets.token_bytes(_KEY_BYTES)
    )
    known = ""
    for number, data in checked_lines(given, complete=False):
        line = redactor.header(data) if number == 1 else redactor.line(data)
        known = sum_of(known, line)
        yield canonical({**line, "sum": known}) + "\n"


class Redactor:
    """Replaces words by placeholders."""

    def __init__(self, language: str, key: bytes) -> None:
        self._language = language_of(language)
        self._key = key

    def header(self, data: dict[str, Any]) -> dict[str, Any]:
        """The header with placeholders instead of words. The header contains words only if the conversation was taken
        over from another process."""
        return {**data, "words": words_to_json(self._words(words_from_json(data["words"]))), "redacted": True}

    def line(self, data: dict[str, Any]) -> dict[str, Any]:
        """One line of the journal, with placeholders instead of words."""
        line = dict(data)
        if isinstance(text := data.get("text"), str):
            scope = f"utterance {data.get('utterance', 0)}" if "heard" in data else str(data.get("input"))
            line["text"] = self.text(scope, text, is_final=data.get("heard") != "Partial")
            if isinstance(first := data.get("first_text"), str):
                line["first_text"] = self.text(scope, first)
        if isinstance(spoken := data.get("words"), list):  # of the agent
            line["words"] = [[self.text("agent", text, is_agent=True), *times] for text, *times in spoken]
        if isinstance(features := data.get("features"), dict) and isinstance(text := features.get("text"), str):
            line["features"] = {**features, "text": self.text("pause", text)}
        return line

    def _words(self, words: SaidWords) -> SaidWords:
        turns = []
        for said in words.turns:
            pieces = tuple((serial, self.text(f"piece {serial}", text)) for serial, text in said.pieces)
            known = {"": "", said.text: said._replace(pieces=pieces).text}
            finals = tuple((known.get(text) or self.text(f"turn {said.turn}", text), n) for text, n in said.finals)
            given, handled = (
                known.get(text) or self.text(f"turn {said.turn}", text) for text in (said.given, said.handled)
            )
            turns.append(said._replace(pieces=pieces, finals=finals, given=given, handled=handled))
        typed = tuple((content, self.text("Typed", text)) for content, text in words.typed)
        return words._replace(turns=tuple(turns), typed=typed)

    def text(self, scope: str, text: str, is_final: bool = True, is_agent: bool = False) -> str:
        """This text with placeholders instead of words. Within one `scope`, such as one utterance, two texts that begin
        with the same words also begin with the same placeholders. So a partial text that grows can still be
        recognised."""
        parts = _SPACE.split(text)
        passing = [not is_agent and _is_passing(part, self._language) for part in parts]
        wanted = count(text, self._language, is_final)
        made = self._fill(scope, parts, passing)
        for place in reversed(range(len(parts))):  # a phrase such as "of course" is a filler only as a whole
            now = count(made, self._language, is_final)
            if is_agent or now.substantial == wanted.substantial:
                break
            if passing[place] is (now.substantial < wanted.substantial) and _LETTERS.search(parts[place]):
                passing[place] = not passing[place]
                made = self._fill(scope, parts, passing)
        return made

    def _fill(self, scope: str, parts: list[str], passing: list[bool]) -> str:
        made = []
        for place, part in enumerate(parts):
            before = f"{scope}\0{''.join(parts[: place + 1])}".encode("utf-8", "surrogatepass")
            signs = blake2b(before, key=self._key).digest()
            made.append(_LETTERS.sub(partial(self._run, signs, passing[place]), part))
        return "".join(made)

    def _run(self, signs: bytes, is_passing: bool, run: re.Match[str]) -> str:
        """A placeholder for letters that follow each other without a break."""
        if is_passing and not _UNSPACED.search(run[0]):
            return _filler(len(run[0]), self._language)
        if run[0].lower() in self._language.letters:  # the language has words of one letter
            return sorted(self._language.letters)[0]
        start = run.start()
        return "".join(self._sign(letter, signs[(start + at) % len(signs)]) for at, letter in enumerate(run[0]))

    def _sign(self, letter: str, digit: int) -> str:
        return _STEMS[digit % len(_STEMS)] if _UNSPACED.match(letter) else _SIGNS[digit % len(_SIGNS)]


def _is_passing(part: str, language: Language) -> bool:
    found = count(part, language)
    return found.words > 0 and not found.substantial


def _filler(length: int, language: Language) -> str:
    """The language's first filler with this number of letters. If there is no such filler, the result is a stretched
    "uh"."""
    same = sorted(word for word in language.fillers if len(word) == length and word.isalpha())
    return same[0] if same else "u" + "h" * (length - 1)
