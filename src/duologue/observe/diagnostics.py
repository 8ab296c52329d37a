"""A conversation as JSON lines for a log: times, kinds, states and counts.

This module decides what may be written to a log or sent as telemetry. Rule: a field is written only if the table FIELDS
names it, so a new field is never leaked. For a field with spoken words, only the number of characters is written.
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
from duologue.ports.usage_report import UNITS
from duologue.ports.worker import Tool

from . import signals as sg
from .bus import Bus

# -- What an observer needs of a conversation. This layer is below the runtime, so it uses protocols.


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


class _Agent(Protocol):
    @property
    def private(self) -> bool: ...


class WatchedConversation(Protocol):
    """The attributes of a conversation that observers use."""

    @property
    def agent(self) -> _Agent: ...
    @property
    def id(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def engine(self) -> _Engine: ...


# -- Values that may be logged

_SOURCES = ("user", "line", "fault", "end", "program", "button")
_FAULTS = tuple(f"fault: {error.value}" for error in ErrorClass)
_TERM = re.compile(r"[a-z][a-z0-9_]*([+-]\d+\.\d)?")
_CONFIGURED = re.compile(r"[\w.:/@+-]{1,100}")
_FRAME = re.compile(r".+:\d+ [\w.<>]+")
OWN_TOOLS = ("answer_job", "cancel_job")  # the runtime's own tools, offered only while a job runs
# The runtime's own reasons for an end; other reasons may contain words.
REASONS = (
    "hung up",
    "goodbye",
    "ended by the program",
    "cancelled from outside",
    *_FAULTS,
)


def correlation_id(conversation_id: str) -> str:
    """A hash that is the same in all log lines of one conversation. It doesn't reveal the conversation's id."""
    return hashlib.sha256(conversation_id.encode()).hexdigest()[:12]


def tool_names(conversation: WatchedConversation) -> frozenset[str]:
    """The names of the tools that this agent has. If a tool call has any other name, the model invented that name."""
    return frozenset((*OWN_TOOLS, *(tool.name for tool in conversation.engine.tool_calls.tools)))


def first_word(where: str) -> str:
    """The first word of `where`. Only this word is safe to log. The rest may be a name that a model invented."""
    return where.partition(" ")[0]


# -- How a field is written. Each writer returns what goes into the line, or an empty dict.

Written: TypeAlias = dict[str, Any]
Writer: TypeAlias = Callable[[str, Any, Container[str]], Written]


def _number(key: str, value: Any, _tools: Container[str]) -> Written:
    """Write a number, a boolean or None. A value of another type isn't written, because some values come from services
    and may contain anything."""
    if isinstance(value, float) and not math.isfinite(value):
        return {}
    return {key: value} if value is None or isinstance(value, bool | int | float) else {}


def _name(key: str, value: Any, _tools: Container[str]) -> Written:
    """Write a name that is defined in Duologue's own code."""
    return {key: value.value if isinstance(value, Enum) else value}


def _chars(key: str, value: Any, _tools: Container[str]) -> Written:
    """Write how many characters a text has, instead of the text."""
    texts = value if isinstance(value, tuple) else (value,)
    return {f"{key}_chars": sum(len(text) for text in texts if isinstance(text, str))}


def _tool(key: str, value: Any, tools: Container[str]) -> Written:
    return {key: value if isinstance(value, str) and value in tools else None}


def _place(key: str, value: Any, _tools: Container[str]) -> Written:
    return {key: first_word(str(value))}


def _failure(key: str, value: Any, tools: Container[str]) -> Written:
    """Write the class of an exception without its message, because the message may contain anything."""
    kind = str(value).partition(":")[0]
    return {"error": kind} if kind.isidentifier() else _chars(key, value, tools)


def _reason(key: str, value: Any, tools: Container[str]) -> Written:
    return {key: value} if value in REASONS else _chars(key, value, tools)


def _source(key: str, value: Any, tools: Container[str]) -> Written:
    """Write the source of an interruption. A program may pass any text as the source. If Duologue doesn't know the
    source, only the length of the text is written."""
    return {key: value} if value in _SOURCES else _chars(key, value, tools)


def _terms(key: str, value: Any, _tools: Container[str]) -> Written:
    """Write the reasons for a decision about a turn, such as `comma-1.2`. A custom policy may give reasons in another
    form; such reasons aren't written."""
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


def _configured(key: str, value: Any, _tools: Container[str]) -> Written:
    """Write a name from the configuration, such as the name of a model. A text that doesn't look like such a name isn't
    written."""
    return {key: value} if isinstance(value, str) and _CONFIGURED.fullmatch(value) else {}


def _frames(key: str, value: Any, _tools: Container[str]) -> Written:
    """Write the frames of a traceback. Each frame is a file, a line and a function."""
    return {key: [frame for frame in value if isinstance(frame, str) and _FRAME.fullmatch(frame)]}


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
    **dict.fromkeys(("audio_started_at", "transcript", "interruptions", "queued_turns"), _number),
}
_CALL: dict[str, Writer] = {"call": _number, "tool": _tool}

FIELDS: dict[type[sg.Signal], dict[str, Writer]] = {
    sg.StateExited: {"view": _name, "state": _name, "duration_ms": _number},
    sg.Transitioned: {"view": _name, "source": _name, "target": _name, "cause": _name},
    sg.StateEntered: {"view": _name, "state": _name, "context": _context},
    sg.TimedOut: {"timer": _name, "call": _number},
    sg.HearingChanged: {"hearing": _name},
    sg.AttentionChanged: {"here": _number},
    sg.ServiceSwitched: {"part": _name, "source": _chars, "target": _chars, "why": _name},
    sg.AgentChanged: {"name": _chars},
    sg.TurnStarted: {"turn": _turn},
    sg.TurnCompleted: {"turn": _turn},
    sg.TurnInterrupted: {"turn": _turn, "by": _source},
    sg.TurnDropped: {"turn": _turn, "why": _name},
    sg.TurnLimited: {"turn": _number},
    sg.TurnAudioCommitted: {"turn": _number, "audio_ms": _number},
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
    sg.CueGiven: {"cue": _name, "text": _chars},
    sg.WorkSilent: {"call": _number},
    sg.Failed: {"part": _name, "error": _name, "fatal": _number},
    sg.Recovered: {"source": _name, "success": _number},
    sg.Noticed: {"code": _name, "level": _name, "fatal": _number},
    sg.Lost: {"first": _number, "last": _number, "texts": _chars},
    sg.Commanded: {"command": _name, "detail": _chars},
    sg.Problem: {"where": _place, "what": _failure},
    sg.Used: {
        **dict.fromkeys(("part", "provider", "model"), _configured),
        **dict.fromkeys(("began_at", *UNITS), _number),
    },
    sg.Raised: {"where": _place, "error": _failure, "frames": _frames},
    sg.Ended: {"reason": _reason},
}


def _fields(value: object, table: dict[str, Writer], tools: Container[str]) -> Written:
    line: Written = {}
    for name, write in table.items():
        line |= write(name, getattr(value, name), tools)
    return line


# -- Writing


class Diagnostics:
    """Writes the signals of one conversation, one line for each signal. Several conversations may share one output. For
    a private conversation, no tracebacks are written."""

    def __init__(self, out: TextIO, conversation_id: str, tools: Container[str] = (), is_private: bool = False) -> None:
        self._out = out
        self._is_private = is_private
        self._correlation = correlation_id(conversation_id)
        self._tools = tools
        self._off: Callable[[], None] = lambda: None

    def attach(self, bus: Bus) -> Callable[[], None]:
        """Write every signal of this bus. Returns a function that stops the writing."""
        self._off = bus.on(sg.Signal, self.note)
        return self._off

    def note(self, signal: sg.Signal) -> None:
        if self._is_private and isinstance(signal, sg.Raised):
            return
        line = {"at_ms": signal.at, "kind": type(signal).__name__, "conversation": self._correlation}
        line |= _fields(signal, FIELDS.get(type(signal), {}), self._tools)
        try:
            self._out.write(json.dumps(line, separators=(",", ":")) + "\n")
            self._out.flush()
        except Exception:
            self._off()  # otherwise the report of this failure would fail too, and so on
            raise


def watch(conversation: WatchedConversation, out: TextIO) -> Callable[[], None]:
    """Write the diagnostics of a conversation. Returns a function that stops the writing."""
    is_private = conversation.agent.private
    return Diagnostics(out, conversation.id, tool_names(conversation), is_private).attach(conversation.engine.bus)
