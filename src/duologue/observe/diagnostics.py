"""A conversation as JSON lines for a log: times, kinds, states and counts (C-SEC-001, C-GUD-002).

What may leave a conversation is decided here, for telemetry too. Rule: a field is written only if the
table names it, so a new one is never leaked; of words, the table knows nothing but their length.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Container
from enum import Enum
from typing import Any, Protocol, TextIO, TypeAlias

from duologue.core.leaves import ErrorClass
from duologue.core.step_record import StepRecord
from duologue.ports.worker import Tool

from . import signals as sg
from .bus import Bus

# -- What a watcher needs of a conversation. Watching is below the runtime, which fits without knowing.


class _Clock(Protocol):
    def now(self) -> int: ...


class _Calls(Protocol):
    @property
    def tools(self) -> tuple[Tool, ...]: ...


class _Engine(Protocol):
    @property
    def bus(self) -> Bus: ...
    @property
    def driver(self) -> _Clock: ...
    @property
    def tool_calls(self) -> _Calls: ...
    @property
    def watchers(self) -> list[Callable[[StepRecord], object]]: ...


class WatchedConversation(Protocol):
    """A conversation, as far as it is watched from outside."""

    @property
    def id(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def engine(self) -> _Engine: ...


# -- What may be told of it

_SOURCES = ("user", "line", "program")
_FAULTS = tuple(f"fault: {error.value}" for error in ErrorClass)
_TERM = re.compile(r"[a-z][a-z0-9_]*([+-]\d+\.\d)?")
OWN_TOOLS = ("answer_job", "cancel_job")  # the runtime's own: offered only while a job runs
# The runtime's own reasons; others may hold words.
REASONS = (
    "hung up",
    "goodbye",
    "ended by the program",
    "cancelled from outside",
    *_FAULTS,
)  # the runtime's own; others may hold words


def correlation_id(conversation_id: str) -> str:
    """Tells which lines belong together, and nothing about the id itself."""
    return hashlib.sha256(conversation_id.encode()).hexdigest()[:12]


def tool_names(conversation: WatchedConversation) -> frozenset[str]:
    """The names that are the agent's own. Any other name was made up by a model."""
    return frozenset((*OWN_TOOLS, *(tool.name for tool in conversation.engine.tool_calls.tools)))


def first_word(where: str) -> str:
    """The place of a problem: what follows may be a name that a model made up."""
    return where.partition(" ")[0]


# -- How a field is written. Each gives what goes into the line, or nothing.

Written: TypeAlias = dict[str, Any]
Writer: TypeAlias = Callable[[str, Any, Container[str]], Written]


def _number(key: str, value: Any, _tools: Container[str]) -> Written:
    """A number, a yes or no, or nothing. Some come from services, so they are looked at."""
    if isinstance(value, float) and not math.isfinite(value):
        return {}
    return {key: value} if value is None or isinstance(value, bool | int | float) else {}


def _name(key: str, value: Any, _tools: Container[str]) -> Written:
    """A name out of our own code."""
    return {key: value.value if isinstance(value, Enum) else value}


def _chars(key: str, value: Any, _tools: Container[str]) -> Written:
    """Words: how many characters they have."""
    texts = value if isinstance(value, tuple) else (value,)
    return {f"{key}_chars": sum(len(text) for text in texts if isinstance(text, str))}


def _tool(key: str, value: Any, tools: Container[str]) -> Written:
    return {key: value if isinstance(value, str) and value in tools else None}


def _place(key: str, value: Any, _tools: Container[str]) -> Written:
    return {key: first_word(str(value))}


def _failure(key: str, value: Any, tools: Container[str]) -> Written:
    """The class of an exception; its message may hold anything."""
    kind = str(value).partition(":")[0]
    return {"error": kind} if kind.isidentifier() else _chars(key, value, tools)


def _reason(key: str, value: Any, tools: Container[str]) -> Written:
    return {key: value} if value in REASONS else _chars(key, value, tools)


def _source(key: str, value: Any, tools: Container[str]) -> Written:
    """Who interrupted; a program may say anything there."""
    return {key: value} if value in _SOURCES else _chars(key, value, tools)


def _terms(key: str, value: Any, _tools: Container[str]) -> Written:
    """Reasons such as `comma-1.2`; a policy of somebody else's may give others, and those are left out."""
    return {key: [term for term in value if isinstance(term, str) and _TERM.fullmatch(term)]}


def _turn(_key: str, value: Any, tools: Container[str]) -> Written:
    return _fields(value, _TURN, tools)


def _context(key: str, value: Any, tools: Container[str]) -> Written:
    line: Written = {}
    for name, write in _CONTEXT.items():
        line |= write(name, value.get(name), tools)
    return {key: line}


def _calls(key: str, value: Any, _tools: Container[str]) -> Written:
    return {key: [call for call in value or () if type(call) is int]}


_TURN: dict[str, Writer] = {
    "turn": _number,
    "role": _name,
    "started_at": _number,
    "transcript": _chars,
    "confidence": _number,
    "reply": _number,
    "interruptions": _number,
    "duration_ms": _number,
}
_CONTEXT: dict[str, Writer] = {
    **dict.fromkeys(("session", "session_started_at", "turn", "reply", "audio_item", "audio_played_ms"), _number),
    "pending_calls": _calls,
    "last_error": _name,
    "retries": _number,
    "queued_turns": _number,
}
_CALL: dict[str, Writer] = {"call": _number, "tool": _tool}

FIELDS: dict[type[sg.Signal], dict[str, Writer]] = {
    sg.StateExited: {"view": _name, "state": _name, "duration_ms": _number},
    sg.Transitioned: {"view": _name, "source": _name, "target": _name, "cause": _name},
    sg.StateEntered: {"view": _name, "state": _name, "context": _context},
    sg.TimedOut: {"timer": _name, "call": _number},
    sg.TurnStarted: {"turn": _turn},
    sg.TurnCompleted: {"turn": _turn},
    sg.TurnInterrupted: {"turn": _turn, "by": _source},
    sg.TurnDropped: {"turn": _turn, "why": _name},
    sg.Decided: {"decision": _name, "reasons": _terms, "confidence": _number},
    sg.Caption: {
        "role": _name,
        "text": _chars,
        "unheard": _chars,
        **dict.fromkeys(("final", "turn", "reply", "voice"), _number),
    },
    sg.WorkStarted: {**_CALL, "mode": _name},
    sg.WorkProgressed: {**_CALL, "text": _chars, "fraction": _number},
    sg.WorkAsked: {**_CALL, "question": _chars},
    sg.WorkEnded: {**_CALL, "outcome": _name, "duration_ms": _number},
    sg.Waiting: {"call": _number, "stage": _number, "detail": _chars},
    sg.WorkSilent: {"call": _number},
    sg.Failed: {"part": _name, "error": _name, "fatal": _number},
    sg.Recovered: {"source": _name, "success": _number},
    sg.Lost: {"first": _number, "last": _number, "texts": _chars},
    sg.Commanded: {"command": _name, "detail": _chars},
    sg.Problem: {"where": _place, "what": _failure},
    sg.Ended: {"reason": _reason},
}


def _fields(value: object, table: dict[str, Writer], tools: Container[str]) -> Written:
    line: Written = {}
    for name, write in table.items():
        line |= write(name, getattr(value, name), tools)
    return line


# -- Writing


class Diagnostics:
    """Writes the signals of one conversation, a line each. Many may write to the same place."""

    def __init__(self, out: TextIO, conversation_id: str, tools: Container[str] = ()) -> None:
        self._out = out
        self._correlation = correlation_id(conversation_id)
        self._tools = tools
        self._off: Callable[[], None] = lambda: None

    def attach(self, bus: Bus) -> Callable[[], None]:
        """Write down whatever this bus carries. Returns what undoes it."""
        self._off = bus.on(sg.Signal, self.note)
        return self._off

    def note(self, signal: sg.Signal) -> None:
        line = {"at_ms": signal.at, "kind": type(signal).__name__, "conversation": self._correlation}
        line |= _fields(signal, FIELDS.get(type(signal), {}), self._tools)
        try:
            self._out.write(json.dumps(line, separators=(",", ":")) + "\n")
            self._out.flush()
        except Exception:
            self._off()  # or the report of this failure would fail too, and so on for ever
            raise


def watch(conversation: WatchedConversation, out: TextIO) -> Callable[[], None]:
    """Write the diagnostics of a conversation. Returns what stops it."""
    return Diagnostics(out, conversation.id, tool_names(conversation)).attach(conversation.engine.bus)
