"""The texts that the agent says and shows without asking the brain, such as "I'm still working on that." Each text is
found by its language and its code.

A spoken phrase has several variants, and a number chooses one. Labels and notices are read on a screen and have one
text each. Each language is one file in `languages/`. Rule: the same language, code and number give the same text, so
that a journal replays with the same words.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter

from duologue.turns.language import known_code

_FOLDER = Path(__file__).with_name("languages")
LANGUAGES = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
DEFAULT = "en"

# What the agent says by itself, and when.
SPOKEN: dict[str, str] = {
    "working": "the first words while an answer is awaited",
    "still_working": "later words while an answer is awaited",
    "tool_running": "a tool or a job runs",
    "trouble": "a service fails and is tried again",
    "connecting": "the connection to a service is being opened",
    "reconnecting": "the connection to a service was lost and is opened again",
    "rate_limited": "a service refuses requests because there are too many",
    "apology": "the brain failed, so there is no answer",
    "empty_answer": "the brain answered with nothing",
    "broken_off": "an answer failed while the agent said it",
    "call_made": "an answer failed after a tool had been called for it",
    "yes": "a sound without words interrupted the agent",
    "go_on": "a sound without words or a lost line has cut off an answer",
    "sign_of_life": "the person asks whether the agent is there, while an answer is awaited",
    "ended": "a fault that can't be repaired ends the conversation",
    "talk_limit": "the person speaks for longer than a turn may last",
    "check_in": "the person is silent",
    "goodbye": "the last words after check-ins without an answer",
    "connection_back": "the connection that was lost is back",
    "not_reached": "a phone call came back, because its transfer has failed",
    "passing_on": "a phone call is transferred, because the server stops",
    "take_over": "a person should take over a phone call, and has heard the briefing",
}
# Labels that a screen shows: for the phases, for waits, and for ears that don't hear anything.
LABELS = (
    *("idle", "starting", "listening", "user_speaking", "thinking", "working", "speaking", "interrupted", "paused"),
    *("reconnecting", "error", "ending", "still_working", "making_progress", "taking_longer"),
    *("muted", "ears_loading", "ears_broken", "no_ears"),
)
# Parts of the agent in which a fault can occur, each as the subject of a sentence.
PARTS = ("brain", "voice", "ears", "session", "link")
# Texts of notices. The rows that choose between them are in `duologue.observe.notices`.
NOTICES = (
    *("fault_rate_limit", "fault_network_timeout", "fault_tool_error", "fault_invalid_args", "fault_session_expired"),
    *("fault_auth_failure", "fault_server_error", "fault_unknown", "fault_too_often", "stalled", "recovered"),
    *("restored", "not_restored"),
    *("long_turn", "long_speech", "lost", "problem_ears", "problem_voice", "problem_journal", "problem_tools"),
    *("unsaved", "saved_again", "stopping", "gone", "start_refused", "pause_over"),
)
SHOWN = (*LABELS, *NOTICES)  # codes of everything that is read
# Fields that a text may contain, such as "{tool}". Each code without an entry has none.
FIELDS: dict[str, frozenset[str]] = {
    "tool_running": frozenset({"tool"}),
    "lost": frozenset({"said"}),
    **{code: frozenset({"part"}) for code in NOTICES if code.startswith("fault_")},
}


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one language. Each spoken phrase has two or more variants."""

    language: str
    spoken: dict[str, tuple[str, ...]]
    labels: dict[str, str]
    parts: dict[str, str]
    notices: dict[str, str]


def phrase(language: str, code: str, number: int, **fields: str) -> str:
    """The spoken phrase with this code, such as "working". `number` chooses the variant; every number is valid. If
    there is no file for the language, the phrase is in English."""
    return filled(one_of(texts_in(language).spoken[code], number), fields)


def label(language: str, code: str) -> str:
    """The label with this code, such as "listening"."""
    return texts_in(language).labels[code]


def notice(language: str, code: str, **fields: str) -> str:
    """The text of the notice with this code, such as "restored". The value of the field `part` is a code, such as
    "ears"; it is replaced by the name of that part in this language."""
    texts = texts_in(language)
    named = {name: texts.parts[value] if name == "part" else value for name, value in fields.items()}
    return filled(texts.notices[code], named)


def one_of(variants: tuple[str, ...], number: int) -> str:
    """The variant with this number, counted from 0; after the last variant, the first one follows. Empty if there are
    no variants."""
    return variants[number % len(variants)] if variants else ""


def filled(text: str, fields: dict[str, str]) -> str:
    """The text with its fields replaced by their values. A field that has no value is removed."""
    return Formatter().vformat(text, (), {name: fields.get(name, "") for name in fields_of(text)}).strip()


def fields_of(text: str) -> frozenset[str]:
    """The names of the fields in a text. The format of a field is returned as a part of its name ("x:>8"), so a field
    with a format is never one of the known names. Raises ValueError if the text isn't valid, such as "{"."""
    parsed = [field[1:] for field in Formatter().parse(text) if field[1] is not None]
    return frozenset(f"{name}{'!' if how else ''}{how or ''}{':' if spec else ''}{spec}" for name, spec, how in parsed)


def texts_in(language: str) -> Texts:
    """The texts of a language. For `de-AT` and `de_AT`, these are the German texts. If there is no file for the
    language, these are the English texts."""
    known = known_code(language)
    return _read(known if known in LANGUAGES else DEFAULT)


@cache
def _read(name: str) -> Texts:
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    spoken = {code: tuple(variants) for code, variants in data["spoken"].items()}
    return Texts(name, spoken, data["labels"], data["parts"], data["notices"])
