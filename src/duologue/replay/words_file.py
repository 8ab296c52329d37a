"""Reads the words of a conversation, which are stored in a separate file next to the journal.

The file has one JSON object per line: a header, then one object for each turn of the user and each sound of the agent.
Rule: an error names the line that is wrong. Control characters in the words are replaced by spaces.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

from duologue.core.errors import DuologueError
from duologue.observe.recorder import WORDS_FORMAT as FORMAT
from duologue.observe.recorder import WORDS_SCHEMA as SCHEMA
from duologue.observe.recorder import words_path

__all__ = ["InvalidWords", "Spoken", "read_words", "words_path"]


_NEEDED = {"user": ("turn", "text", "at"), "agent": ("text", "at")}
_KINDS: dict[str, type] = {"turn": int, "reply": int, "voice": int, "at": int, "text": str, "unheard": str}
# Characters that change the direction of text.
_OVERRIDES = {chr(code): " " for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


class InvalidWords(DuologueError, ValueError):
    """A words file that can't be read. The message names the line that is wrong."""


class Spoken(NamedTuple):
    """What the user said in one turn, or what the agent said in one sound. `turn`, `reply` and `voice` are the ids from
    the journal; 0 means unknown."""

    kind: str  # user or agent
    at: int  # milliseconds on the journal's clock
    text: str  # for the agent: only what was heard
    unheard: str = ""
    turn: int = 0
    reply: int = 0
    voice: int = 0


def read_words(lines: Iterable[str], complete: bool = True) -> tuple[Spoken, ...]:
    """Read everything that was said. Raises InvalidWords, whose message names the first line that is wrong. If
    `complete` is False, a last line that was cut off by a crash is ignored."""
    numbered = enumerate(lines, start=1)
    _check_header(_parse(*next(numbered, (1, ""))))
    spoken = []
    for number, text in numbered:
        try:
            data = _parse(number, text)
        except InvalidWords:
            if complete or text.endswith("\n") or next(numbered, None):
                raise
            break
        spoken.append(_read(number, data))
    return tuple(spoken)


def _parse(number: int, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except RecursionError:
        raise InvalidWords(f"line {number}: the JSON is nested too deeply") from None
    except ValueError:
        raise InvalidWords(
            f"line {number}: not JSON{', the line is cut off' if not text.endswith(chr(10)) else ''}"
        ) from None
    if not isinstance(data, dict):
        raise InvalidWords(f"line {number}: expected a JSON object")
    return data


def _check_header(header: dict[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise InvalidWords("line 1: not a Duologue words file")
    if header.get("schema") != SCHEMA:
        raise InvalidWords(
            f"line 1: the file has schema {header.get('schema')!r}, but this version reads only {SCHEMA}"
        )


def _read(number: int, data: dict[str, Any]) -> Spoken:
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in _NEEDED:
        raise InvalidWords(f"line {number}: kind must be user or agent, not {kind!r}")
    given = {name: value for name, value in data.items() if name != "kind"}
    for name in _NEEDED[kind]:
        if name not in given:
            raise InvalidWords(f"line {number}: a line of the kind {kind} must have the field {name!r}")
    for name, value in given.items():
        if name not in _KINDS:
            raise InvalidWords(f"line {number}: unknown field {name!r}")
        if type(value) is not _KINDS[name]:
            raise InvalidWords(f"line {number}: {name} must be {_KINDS[name].__name__}, not {value!r}")
    cleaned: dict[str, Any] = {name: _clean(value) if type(value) is str else value for name, value in given.items()}
    return Spoken(kind, **cleaned)


def _clean(text: str) -> str:
    """Replace control characters, direction overrides and lone surrogates by spaces."""
    return "".join(
        " " if unicodedata.category(letter) in ("Cc", "Cs") else _OVERRIDES.get(letter, letter) for letter in text
    )
