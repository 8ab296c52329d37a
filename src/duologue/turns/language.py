"""The phrases of a language that decide whether the agent is interrupted when the user speaks at the same time: "mhm"
doesn't interrupt, "stop" does.

The phrases of each language are one file in `languages/`. The file `und.toml` has the sounds that all languages share.
Rule: a language is data, and each file is read only once.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("languages")
SHARED_CODE = "und"  # the code of BCP 47 for an undetermined language
KNOWN = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml") if path.stem != SHARED_CODE))
_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*", re.IGNORECASE)
_LONG_CODES = {
    "chi": "zh", "cmn": "zh", "deu": "de", "dut": "nl", "eng": "en", "fra": "fr", "fre": "fr", "ger": "de", "ita": "it",
    "jpn": "ja", "nld": "nl", "pol": "pl", "por": "pt", "spa": "es", "zho": "zh",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Language:
    """The phrases of one language, in lower case. A phrase has one or more words."""

    name: str  # its code, such as "de"
    fillers: frozenset[str]  # hesitations: they say nothing
    backchannels: frozenset[str]  # a listener says them so that the speaker goes on
    negations: frozenset[str]  # next to one of these, a backchannel is an objection: "that's not right"
    commands: frozenset[str]  # said alone, they interrupt the agent
    beside: frozenset[str]  # may stand next to a command: "stop please", "okay wait"
    presence: frozenset[str]  # said alone, they ask whether the agent is still there
    hurry: frozenset[str]  # said alone, they ask the agent to hurry
    letters: frozenset[str]  # single letters that are words


LISTS = tuple(field.name for field in fields(Language) if field.name != "name")  # the keys of each file


def language(code: str) -> Language:
    """The phrases of the language with this code. `de-AT` and `de_AT` both give German. If there is no file for the
    code, the result is the language `und`, which has only the sounds that all languages share."""
    return _read(known_code(code) or SHARED_CODE)


def known_code(code: str) -> str:
    """The name of the phrase file for this language code, such as "en" for "en-US"; empty if there is no such file."""
    first = code.replace("_", "-").split("-")[0].lower()
    first = _LONG_CODES.get(first, first)
    return first if first in KNOWN else ""


def is_code(text: str) -> bool:
    """Does this text have the form of a language code, such as `de`, `pt-BR` or `zh_Hans_CN`?"""
    return _CODE.fullmatch(text.replace("_", "-")) is not None


@cache
def _read(name: str) -> Language:
    lists = _lists_of(name)
    if name != SHARED_CODE:
        lists = {key: lists[key] | shared for key, shared in _lists_of(SHARED_CODE).items()}
    return Language(name, **lists)


def _lists_of(name: str) -> dict[str, frozenset[str]]:
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return {key: frozenset(data[key]) for key in LISTS}


ENGLISH = language("en")
