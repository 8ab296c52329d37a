"""Events, settings and states as canonical JSON, and the digest of a state.

Canonical JSON has sorted keys, no spaces and enums by value, so the same value gives the same bytes on any computer and
with any hash seed. Rule: everything that is read is checked, and an error says which part of the data is wrong.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from functools import lru_cache
from typing import Any

from . import events as ev
from .errors import DuologueError, InvalidSettings, InvalidSnapshot
from .leaves import (
    TIMERS,
    Ask,
    Cue,
    Ending,
    ErrorClass,
    FaultSource,
    JobKind,
    Leaf,
    Link,
    Outcome,
    Overlap,
    Reply,
    Timer,
    User,
    Voice,
    Words,
)
from .settings import Settings
from .state import Fault, JobRecord, State

SCHEMA = 1

_EVENT_KINDS = {kind.__name__: kind for kind in ev.EVENTS}
_EVENT_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in ev.EVENTS}
_ENUMS: dict[str, type[Leaf]] = {
    kind.__name__: kind
    for kind in (
        Ask,
        Cue,
        Ending,
        ErrorClass,
        JobKind,
        Link,
        Outcome,
        Overlap,
        FaultSource,
        Reply,
        Timer,
        User,
        Voice,
        Words,
    )
}
_STATE_ENUMS: dict[str, type[Leaf]] = {
    "link": Link,
    "user": User,
    "voice": Voice,
    "reply": Reply,
    "words": Words,
    "ask": Ask,
    "ending": Ending,
    "told": Cue,
}
_PLAIN_FIELDS: dict[str, type] = {
    name: {"int": int, "bool": bool}[str(getattr(kind, "__forward_arg__", kind))]
    for name, kind in State.__annotations__.items()
    if str(getattr(kind, "__forward_arg__", kind)) in ("int", "bool")
}
_NUMBER_MAX = 1 << 46  # a float clock still resolves milliseconds up to here
_TURNS_OPEN_MAX = 1 << 20  # far more turns than a real conversation leaves unanswered
# A file of the previous version lacks these. They get their defaults.
_NEW_SETTINGS = {
    "commit_ms",
    "sent_text_ms_max",
    "cue_ms",
    "offer_ms",
    "hangs_up",
    "early_requests_max",
    "line_losses_max",
}
_NEW_NAMES = (
    "unread",
    "firm",
    "cut",
    "cues",
    "ending",
    "guess",
    "guesses",
    "paused",
    "says",
    "losses",
    "quiet_at",
    "sign_at",
    "told",
    "told_at",
)
_NEW_FIELDS = {name: State._field_defaults[name] for name in _NEW_NAMES}
_TIMER_NAMES = tuple(timer.value for timer in TIMERS)


def canonical(value: Any) -> str:
    """The canonical JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if type(value) is int or type(value) is bool:
        return value
    return value.value if isinstance(value, Leaf) else list(value) if isinstance(value, tuple) else value


def _enum(kind: type[Leaf], value: Any, place: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise InvalidSnapshot(f"{place}: {value!r} isn't a valid {kind.__name__}") from None


# -- Events


def event_to_json(event: ev.Event) -> dict[str, Any]:
    kind = type(event)
    return {"type": kind.__name__, **{name: _plain(getattr(event, name)) for name in _EVENT_FIELDS[kind]}}


def event_from_json(data: Any) -> ev.Event:
    """The event in this JSON data. Raises InvalidSnapshot if the data is invalid; the message says what is wrong."""
    name = data.get("type") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(name, str) or name not in _EVENT_KINDS:
        raise InvalidSnapshot(f"unknown event {name if isinstance(data, dict) else data!r}")
    kind = _EVENT_KINDS[name]
    known = {field.name: str(field.type) for field in fields(kind)}
    unknown = sorted(set(data) - set(known) - {"type"})
    if unknown:
        raise InvalidSnapshot(f"{kind.__name__} has no field {unknown[0]!r}")
    values = {
        name: _enum(_ENUMS[known[name]], value, f"{kind.__name__}.{name}") if known[name] in _ENUMS else value
        for name, value in data.items()
        if name != "type"
    }
    try:
        return kind(**values)
    except TypeError as error:
        raise InvalidSnapshot(f"{kind.__name__}: {str(error).split('.__init__() ')[-1]}") from None
    except DuologueError as error:
        raise InvalidSnapshot(str(error)) from None


# -- Settings


def settings_to_json(settings: Settings) -> dict[str, Any]:
    return {field.name: _plain(getattr(settings, field.name)) for field in fields(settings)}


def settings_from_json(data: Any) -> Settings:
    if not isinstance(data, dict):
        raise InvalidSnapshot("settings are missing")
    known = {field.name for field in fields(Settings)}
    wrong = sorted((set(data) ^ known) - (_NEW_SETTINGS - set(data)))
    if wrong:
        raise InvalidSnapshot(f"settings: {wrong[0]!r} is {'missing' if wrong[0] in known else 'unknown'}")
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
    values["overlap"] = _enum(Overlap, values["overlap"], "settings.overlap")
    try:
        return Settings(**values)
    except InvalidSettings as error:
        raise InvalidSnapshot(str(error)) from None


@lru_cache(maxsize=64)
def settings_digest(settings: Settings) -> str:
    return _digest(settings_to_json(settings))


# -- States


def state_to_json(s: State) -> dict[str, Any]:
    """A state as JSON data, without its settings. Snapshots and journals store the settings separately, and only
    once."""
    data = s._asdict()
    del data["settings"]
    for name in _STATE_ENUMS:
        data[name] = data[name].value
    data["jobs"] = [{name: _plain(value) for name, value in job._asdict().items()} for job in s.jobs]
    data["fault"] = s.fault and {name: _plain(value) for name, value in s.fault._asdict().items()}
    data["due"] = {name: due for name, due in zip(_TIMER_NAMES, s.due, strict=True) if due}
    return data


def state_from_json(data: dict[str, Any], settings: Settings) -> State:
    """The state that `state_to_json` turned into `data`, with these settings. Raises InvalidSnapshot if the data is
    invalid."""
    try:
        values: dict[str, Any] = {name: data[name] for name in State._fields if name not in ("settings", *_NEW_FIELDS)}
        values.update({name: data.get(name, default) for name, default in _NEW_FIELDS.items()})
        for name, kind in _STATE_ENUMS.items():
            values[name] = _enum(kind, values[name], name)
        values["jobs"] = tuple(
            JobRecord(**{**job, "kind": _enum(JobKind, job["kind"], "jobs.kind")}) for job in values["jobs"]
        )
        if values["fault"] is not None:
            part = _enum(FaultSource, values["fault"]["part"], "fault.part")
            error = _enum(ErrorClass, values["fault"]["error"], "fault.error")
            values["fault"] = Fault(part, error, values["fault"]["fatal"])
        values["due"] = tuple(values["due"].get(name, 0) for name in _TIMER_NAMES)
        _check_types(values)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidSnapshot(f"state: {error} is missing or invalid") from None
    return State(settings=settings, **values)


def _check_types(values: dict[str, Any]) -> None:
    """Check that every plain field has its declared type, and that every number is within its bounds."""
    for name, kind in _PLAIN_FIELDS.items():
        if type(values[name]) is not kind or (kind is int and not 0 <= values[name] <= _NUMBER_MAX):
            raise InvalidSnapshot(f"{name}: {values[name]!r} isn't a valid {kind.__name__}")
    answered, asked, said, turn = (values[name] for name in ("answered", "asked", "said", "turn"))
    if not answered <= asked <= said <= turn <= answered + _TURNS_OPEN_MAX:
        raise InvalidSnapshot(f"turn: expected answered <= asked <= said <= turn <= answered + {_TURNS_OPEN_MAX}")
    numbers = [number for job in values["jobs"] for number in (job.call, *job[3:])]
    if any(type(number) is not int or not 0 <= number <= _NUMBER_MAX for number in (*values["due"], *numbers)):
        raise InvalidSnapshot(f"due, jobs: every number must be whole and between 0 and {_NUMBER_MAX}")
    flags = [job.cancellable for job in values["jobs"]] + ([values["fault"].fatal] if values["fault"] else [])
    if any(type(flag) is not bool for flag in flags):
        raise InvalidSnapshot("jobs, fault: every flag must be true or false")


def digest(s: State) -> str:
    """A short hash of a state without its settings. If two digests are equal, the states are equal."""
    return _digest(state_to_json(s))


def _digest(data: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(data).encode()).hexdigest()[:16]


def snapshot(s: State) -> str:
    """A state with its settings, as one line of JSON."""
    return canonical({"schema": SCHEMA, "settings": settings_to_json(s.settings), "state": state_to_json(s)})


def restore(text: str) -> State:
    """The state in a snapshot. Raises InvalidSnapshot if the text isn't a valid snapshot."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InvalidSnapshot(f"not a snapshot: {error}") from None
    except RecursionError:
        raise InvalidSnapshot("not a snapshot: nested too deeply") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise InvalidSnapshot(f"snapshot has schema {found!r}, this version reads {SCHEMA}")
    return state_from_json(data.get("state") or {}, settings_from_json(data.get("settings")))
