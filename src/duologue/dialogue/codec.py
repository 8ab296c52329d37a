"""Writes the state of a dialogue as JSON, and reads it back. This JSON is the content of a checkpoint.

The current position in a flow is stored as the name of its step, not as a number, so a checkpoint stays valid when
steps are added to the flow. Rule: a checkpoint is refused with a one-line error if it is damaged, if a newer version
wrote it, or if it names something that no longer exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from .commands import CorrectSlot, SetSlot
from .flow import Domain, PerformAction
from .state import BUSY, DialogueMessage, DialogueState, DialogueTrouble, Filled, Instance, Phase, TraceEvent

VERSION = 6


class BadCheckpoint(ValueError):
    """The checkpoint can't be used. The message says why, in one line."""


_TEXT, _COUNT, _FLAG = (str,), (int,), (bool,)
PLAIN: Mapping[str, tuple[type, ...]] = {
    "waiting_for": (str, type(None)),
    "reading_back": _FLAG,
    "unproposed": _FLAG,
    "misses": _COUNT,
    "silences": _COUNT,
    "tries": _COUNT,
    "pending": _COUNT,
    "requests": _COUNT,
    "instances": _COUNT,
    "acts": _COUNT,
    "heard": _TEXT,
    "is_aside": _FLAG,
    "is_doubtful": _FLAG,
    "turn_count": _COUNT,
    "ended_turn": _COUNT,
    "last_response": _TEXT,
    "last_question": _TEXT,
    "last_nlu_call": (int, type(None)),
}

_NEW_IN_6: dict[str, Any] = {"lists": {}, "repairs": "", "counts": [0, 0, 0]}
# Each function converts a checkpoint from the version in its key to the next version.
MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: lambda old: {**old, "tries": 0},
    2: lambda old: {**old, "is_aside": False},
    3: lambda old: {**old, "is_doubtful": False},
    4: lambda old: {
        **old,
        "ended": None,
        "ended_turn": 0,
        "stack": [{**one, "denied": False, "done": []} for one in old["stack"]],
    },
    5: lambda old: {
        **old,
        "ended": {**old["ended"], **_NEW_IN_6} if old["ended"] is not None else None,
        "stack": [{**one, **_NEW_IN_6} for one in old["stack"]],
    },
}


def to_json(domain: Domain, state: DialogueState) -> dict[str, Any]:
    """The whole state in plain JSON values."""
    data = asdict(state)
    data["version"] = VERSION
    data["values"] = [{"command": type(value).__name__, **asdict(value)} for value in state.values]
    ended = (state.ended,) if state.ended is not None else ()
    written_too = (data["ended"],) if ended else ()
    for written, instance in zip((*data["stack"], *written_too), (*state.stack, *ended), strict=True):
        written["at"] = domain.flows[instance.flow].program[instance.at].step
        written["slots"] = {name: asdict(filled) for name, filled in instance.slots}
        written["lists"] = {name: asdict(filled) for name, filled in instance.lists}
    data["kept"] = {name: asdict(filled) for name, filled in state.kept}
    data["metadata"] = dict(state.metadata)
    return data


def from_json(domain: Domain, data: object) -> DialogueState:
    """The state that `to_json` wrote. Raises BadCheckpoint if the data can't be used."""
    if not isinstance(data, dict) or type(data.get("version")) is not int:
        raise BadCheckpoint("this isn't a dialogue checkpoint: expected an object with a whole number `version`")
    version = data["version"]
    if version > VERSION:
        raise BadCheckpoint(
            f"checkpoint version {version} is newer than this Duologue supports ({VERSION}); update Duologue"
        )
    while version < VERSION:
        if version not in MIGRATIONS:
            raise BadCheckpoint(f"checkpoint version {version} is too old to be read; start a new conversation")
        data = MIGRATIONS[version](data)
        version += 1
    try:
        return _fits(domain, _state(domain, data))
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        if isinstance(problem, BadCheckpoint):
            raise
        raise BadCheckpoint(f"the checkpoint is damaged: {type(problem).__name__} {problem}") from None


def _state(domain: Domain, data: dict[str, Any]) -> DialogueState:
    trouble = data["trouble"]
    plain = {name: _checked(data, name, kinds) for name, kinds in PLAIN.items()}
    if any(type(text) is not str for text in data["queue"]) or type(data["queue"]) not in (list, tuple):
        raise BadCheckpoint("the checkpoint is damaged: `queue` isn't a list of texts")
    return DialogueState(
        phase=Phase(data["phase"]),
        stack=tuple(_instance(domain, item) for item in data["stack"]),
        kept=_slots(data["kept"]),
        ended=_instance(domain, data["ended"]) if data["ended"] is not None else None,
        among=tuple(data["among"]),
        values=tuple(_value(item) for item in data["values"]),
        queue=tuple(data["queue"]),
        messages=tuple(DialogueMessage(**item) for item in data["messages"]),
        trouble=None if trouble is None else replace(DialogueTrouble(**trouble), recovery=Phase(trouble["recovery"])),
        trace=tuple(
            TraceEvent(item["event"], item["timestamp"], tuple((key, value) for key, value in item["data"]))
            for item in data["trace"]
        ),
        metadata=tuple(data["metadata"].items()),
        **plain,
    )


def _checked(data: dict[str, Any], name: str, kinds: tuple[type, ...]) -> Any:
    if type(data[name]) not in kinds:
        raise BadCheckpoint(f"the checkpoint is damaged: `{name}` has the wrong type")
    return data[name]


def _fits(domain: Domain, state: DialogueState) -> DialogueState:
    """Return the state if every name in it still exists in the flows; otherwise raise BadCheckpoint."""
    ended = (state.ended,) if state.ended is not None else ()
    deep = [name for one in (*state.stack, *ended) for name in (*one.needs, *one.asked)]
    for slot in (state.waiting_for, *(value.slot for value in state.values), *deep):
        if slot is not None and slot not in domain.slots:
            raise BadCheckpoint(
                f"the checkpoint uses slot {slot!r}, which no longer exists; add it again or start a new conversation"
            )
    if state.phase not in BUSY:
        return state
    if not state.pending:
        raise BadCheckpoint("the checkpoint is damaged: it waits for a request, but the request's number is missing")
    top = state.top
    acts = top is not None and isinstance(domain.flows[top.flow].program[top.at], PerformAction)
    if state.phase is Phase.EXECUTING_ACTION and not acts:
        raise BadCheckpoint("the checkpoint waits for an action that no longer exists; start a new conversation")
    if state.phase is Phase.VALIDATING_SLOT and not (state.values and state.stack):
        raise BadCheckpoint("the checkpoint is damaged: a value is being validated, but the value is missing")
    return state


def _instance(domain: Domain, data: dict[str, Any]) -> Instance:
    flow = domain.flows.get(data["flow"])
    if flow is None:
        raise BadCheckpoint(
            f"the checkpoint uses flow {data['flow']!r}, which no longer exists; "
            "add it again or start a new conversation"
        )
    place = next((at for at, step in enumerate(flow.program) if step.step == data["at"]), None)
    if place is None:
        raise BadCheckpoint(
            f"the checkpoint is at step {data['at']!r}, which flow {flow.name!r} no longer has; "
            "add it again or start a new conversation"
        )
    return Instance(
        id=data["id"],
        flow=data["flow"],
        at=place,
        slots=_slots(data["slots"]),
        visited=tuple(data["visited"]),
        asked=tuple(data["asked"]),
        confirmed=tuple(data["confirmed"]),
        runs=data["runs"],
        is_acting=data["is_acting"],
        needs=tuple(data["needs"]),
        confirm=data["confirm"],
        failed=data["failed"],
        called=data["called"],
        denied=data["denied"],
        done=tuple(data["done"]),
        lists=_slots(data["lists"]),
        repairs=data["repairs"],
        counts=_counts(data["counts"]),
    )


def _counts(data: Any) -> tuple[int, int, int]:
    misses, silences, tries = data
    return int(misses), int(silences), int(tries)


def _slots(data: dict[str, Any]) -> tuple[tuple[str, Filled], ...]:
    return tuple((name, Filled(**{**item, "span": tuple(item["span"])})) for name, item in data.items())


def _value(data: dict[str, Any]) -> SetSlot | CorrectSlot:
    kinds: dict[str, type[SetSlot | CorrectSlot]] = {"SetSlot": SetSlot, "CorrectSlot": CorrectSlot}
    fields = {name: value for name, value in data.items() if name != "command"}
    return kinds[data["command"]](**{**fields, "span": tuple(fields["span"])})
