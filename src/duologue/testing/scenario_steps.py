"""What a scenario file may say: the steps of a call, the lines of a scripted brain, the steps of a tool.

All three are acts: one key names the act and holds its value, the keys beside it are its options. Rule:
reading never stops at a problem; each is noted with its line, and what is right is read on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeAlias

from duologue.brains.scripted import Reply, ScriptedBrain
from duologue.core.leaves import ErrorClass
from duologue.core.views import VIEWS
from duologue.ports.brain import Show
from duologue.ports.scripted_steps import Fail, Hang, Pause
from duologue.ports.tool_call import ToolCall
from duologue.ports.worker import Mode
from duologue.workers.scripted import Partly, Progress, Question, ScriptedWorker, scripted_tool

from .call import Call
from .person import Pace

Note: TypeAlias = Callable[[int, str], None]  # a line, and what is wrong there
MS_MAX = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of a file. What stands under a key has the line of the key."""

    line: int
    text: str = ""  # a scalar as it is written
    value: object = None  # a scalar as YAML understands it; None: there is nothing
    items: tuple[Node, ...] | None = None
    entries: dict[str, Node] | None = None

    @property
    def is_scalar(self) -> bool:
        return self.items is None and self.entries is None

    @property
    def is_missing(self) -> bool:
        return self.is_scalar and self.value is None

    @property
    def shown(self) -> str:
        """How a complaint calls it."""
        if not self.is_scalar:
            return "a list" if self.items is not None else "a mapping"
        return "nothing" if self.is_missing else repr(self.text)

    def plain(self) -> Any:
        """As plain values, whatever it is."""
        if self.items is not None:
            return [item.plain() for item in self.items]
        if self.entries is not None:
            return {key: entry.plain() for key, entry in self.entries.items()}
        return self.value


# -- Kinds of values


class Kind(NamedTuple):
    """What a value must be. `read` gives None for what doesn't fit."""

    what: str
    read: Callable[[Node], Any]
    known: tuple[str, ...] = ()


def _words(node: Node) -> str | None:
    """Spoken text. It is taken as it is written, so that `user: no` says no."""
    return " ".join(node.text.split()) or None if node.is_scalar else None


def _text(node: Node) -> str | None:
    return node.text if node.is_scalar else None


def _ms(node: Node) -> int | None:
    value = node.value
    return value if type(value) is int and 0 <= value <= MS_MAX else None


def _share(node: Node) -> float | None:
    value = node.value
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None  # type: ignore[arg-type,operator]


def _truth(node: Node) -> bool | None:
    return node.value if type(node.value) is bool else None


def _pattern(node: Node) -> re.Pattern[str] | None:
    try:
        return re.compile(node.text) if node.is_scalar else None
    except re.error:
        return None


def _arguments(node: Node) -> dict[str, Any] | None:
    return node.plain() if node.entries is not None else None


def one_of(what: str, known: Iterable[str]) -> Kind:
    """A value that is one of these names."""
    names = tuple(known)
    return Kind(what, lambda node: node.text if node.is_scalar and node.text in names else None, names)


WORDS = Kind("a text", _words)
TEXT = Kind("a text", _text)
MS = Kind(f"whole milliseconds from 0 to {MS_MAX}", _ms)
SHARE = Kind("a number from 0 to 1", _share)
TRUTH = Kind("true or false", _truth)
TRUE = Kind("true", lambda node: node.value if node.value is True else None)
PATTERN = Kind("a regular expression", _pattern)
ARGUMENTS = Kind("a mapping of arguments", _arguments)
STEPS_OF_TOOL = Kind("what the tool does", lambda node: node)
ERROR = one_of("a class of errors", (error.value for error in ErrorClass))
MODE = one_of("a mode", (mode.value for mode in Mode))
PHASE = one_of("a phase", dict.fromkeys(state for view in VIEWS.values() for state in view.states))


def hint(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, or all that there are."""
    by_small = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), by_small, n=1)
    return f"; did you mean {by_small[near[0]]}?" if near else f"; there are {', '.join(by_small.values())}"


def read_fields(entries: Mapping[str, Node], kinds: Mapping[str, Kind], owner: str, note: Note) -> dict[str, Any]:
    """The values that are right; what is unknown, missing or wrong is noted."""
    found = {}
    for key, given in entries.items():
        kind = kinds.get(key)
        if kind is None:
            others = [each for each in kinds if each != owner]
            note(given.line, f"{owner} has no {key!r}" + (hint(key, others) if others else ""))
        elif given.is_missing:
            note(given.line, f"{key} needs {kind.what}")
        elif (value := kind.read(given)) is None:
            note(given.line, _wrong(key, kind, given))
        else:
            found[key] = value
    return found


def _wrong(key: str, kind: Kind, given: Node) -> str:
    if kind.known and given.is_scalar:
        return f"{key}: {given.shown} is not {kind.what}{hint(given.text, kind.known)}"
    return f"{key} must be {kind.what}, not {given.shown}"


# -- Acts


class Shape(NamedTuple):
    """How an act is written, and what it makes. `may_be_bare`: its value may be left out."""

    make: Callable[..., Any]
    value: Kind | None = None
    options: dict[str, Kind] = {}
    may_be_bare: bool = False


class Act(NamedTuple):
    """One act of a file, checked."""

    line: int
    name: str
    make: Callable[..., Any]
    value: tuple[Any, ...]  # one, or none
    options: dict[str, Any]

    def do(self, *on: Any) -> Any:
        """Do it, or make it; each time from fresh values."""
        return self.make(*on, *deepcopy(self.value), **deepcopy(self.options))


def _make_call(tool: str, **given: Any) -> ToolCall:
    return ToolCall(tool, given.get("with", {}))


def _expect_called(call: Call, tool: str, **given: Any) -> Call:
    return call.expect_called(tool, **given.get("with", {}))


def _make_fail(error: str, **given: Any) -> Fail:
    return Fail(ErrorClass(error), **given)


def _make_hang(_: bool) -> Hang:
    return Hang()


STEPS: dict[str, Shape] = {
    "user": Shape(Call.user, WORDS),
    "says": Shape(Call.says, WORDS),
    "interrupts": Shape(Call.interrupts, WORDS, {"after_ms": MS}),
    "coughs": Shape(Call.coughs, MS, {"after_ms": MS}, may_be_bare=True),
    "types": Shape(Call.types, WORDS),
    "line_drops": Shape(Call.line_drops, MS),
    "hangs_up": Shape(Call.hangs_up),
    "waits": Shape(Call.waits, MS),
    "settles": Shape(Call.settles),
    "expect_heard": Shape(Call.expect_heard, WORDS),
    "expect_heard_matching": Shape(Call.expect_heard, PATTERN),
    "expect_never_heard": Shape(Call.expect_never_heard, WORDS),
    "expect_cut_off": Shape(Call.expect_cut_off, WORDS),
    "expect_phase": Shape(Call.expect_phase, PHASE),
    "expect_asked_once": Shape(Call.expect_asked_once),
    "expect_called": Shape(_expect_called, WORDS, {"with": ARGUMENTS}),
    "expect_nothing_lost": Shape(Call.expect_nothing_lost),
    "expect_ended": Shape(Call.expect_ended),
}
NEEDS_CALLER = ("user", "says", "interrupts", "coughs", "types", "line_drops", "hangs_up")  # the call must be on

_ANYWHERE: dict[str, Shape] = {
    "pause_ms": Shape(Pause, MS, {"jitter_ms": MS}),
    "fail": Shape(_make_fail, ERROR, {"message": TEXT}),
    "hang": Shape(_make_hang, TRUE),
}
BRAIN_LINES: dict[str, Shape] = {
    "say": Shape(str, WORDS),
    "show": Shape(Show, WORDS),
    "call": Shape(_make_call, WORDS, {"with": ARGUMENTS}),
    **_ANYWHERE,
}
TOOL_STEPS: dict[str, Shape] = {
    "progress": Shape(Progress, WORDS, {"fraction": SHARE}),
    "partly": Shape(Partly, TEXT),
    "ask": Shape(Question, WORDS),
    "result": Shape(str, TEXT),
    **_ANYWHERE,
}


def read_steps(node: Node, note: Note) -> tuple[Act, ...]:
    """What happens in the call."""
    if not node.items:
        note(node.line, "call must be a list of at least one step")
        return ()
    return tuple(act for item in node.items if (act := read_act(item, STEPS, "step", note)))


def read_script(node: Node, shapes: dict[str, Shape], plain: str, what: str, note: Note) -> tuple[Act, ...]:
    """One reply or one tool: an act or a list of them. A text alone is what is said, or the result."""
    found = []
    for item in (node,) if node.items is None else node.items:
        if item.is_scalar and item.text in shapes:
            note(item.line, f"{item.text!r} alone would be a text to {plain}: write {{{item.text}: ...}}")
            continue
        is_text = item.is_scalar and not item.is_missing
        act = read_act(Node(item.line, entries={plain: item}) if is_text else item, shapes, what, note)
        found += [act] if act else []
    return tuple(found)


def read_act(node: Node, shapes: dict[str, Shape], what: str, note: Note) -> Act | None:
    """One act; bare, or with its value and options."""
    if node.items is not None or node.is_missing or node.entries == {}:
        note(node.line, f"a {what} must be here, not {node.shown if node.items is not None else 'nothing'}")
        return None
    entries = node.entries if node.entries is not None else {node.text: Node(node.line)}
    name = _name_of(entries, shapes, what, note)
    if name is None:
        return None
    shape, given = shapes[name], entries[name]
    if given.is_missing and (shape.value is None or shape.may_be_bare):
        entries = {key: entry for key, entry in entries.items() if key != name}
    elif shape.value is None:
        note(given.line, f"{name} takes no value")
        return None
    kinds = {**({name: shape.value} if shape.value else {}), **shape.options}
    found = read_fields(entries, kinds, name, note)
    if len(found) < len(entries):
        return None
    value = (found.pop(name),) if name in found else ()
    return Act(node.line, name, shape.make, value, found)


def _name_of(entries: dict[str, Node], shapes: dict[str, Shape], what: str, note: Note) -> str | None:
    """Which of the keys names the act?"""
    named = [key for key in entries if key in shapes]
    if len(named) == 1:
        return named[0]
    if named:
        note(entries[named[1]].line, f"{named[0]} and {named[1]} are two {what}s: each needs an item of its own")
        return None
    options = {option for shape in shapes.values() for option in shape.options}
    name = next((key for key in entries if key not in options), next(iter(entries)))
    note(entries[name].line, f"unknown {what} {name!r}{hint(name, shapes)}")
    return None


# -- Whole scripts


class BrainScript(NamedTuple):
    """Replies in order, or by what the person says."""

    replies: tuple[tuple[Act, ...], ...] | dict[str, tuple[Act, ...]]
    otherwise: tuple[Act, ...] | None = None

    def make(self) -> ScriptedBrain:
        script: dict[str, Reply] | list[Reply]
        if isinstance(self.replies, dict):
            script = {words: _made(reply) for words, reply in self.replies.items()}
        else:
            script = [_made(reply) for reply in self.replies]
        brain = ScriptedBrain(script)
        if self.otherwise is not None:
            brain.otherwise = _made(self.otherwise)
        return brain


class ToolScript(NamedTuple):
    """What a scripted tool does when it is called."""

    name: str
    steps: tuple[Act, ...]
    options: dict[str, Any]

    def make(self) -> ScriptedWorker:
        return scripted_tool(self.name, *_made(self.steps), **self.options)


def _made(acts: tuple[Act, ...]) -> tuple[Any, ...]:
    return tuple(act.do() for act in acts)


_PACE: dict[str, Kind] = {field.name: SHARE if field.name == "confidence" else MS for field in fields(Pace)}


def read_brain(node: Node, note: Note) -> BrainScript | None:
    if node.items is not None:
        return BrainScript(tuple(_read_reply(reply, note) for reply in node.items))
    if node.entries is None:
        note(node.line, f"brain must be a list of replies, or words and the reply to them, not {node.shown}")
        return None
    if node.entries and all(key in BRAIN_LINES for key in node.entries):
        note(node.line, "brain must be a list of replies: begin each with '- '")
        return None
    replies = {words: _read_reply(reply, note) for words, reply in node.entries.items()}
    otherwise = replies.pop("otherwise", None)
    return BrainScript(replies, otherwise)


def _read_reply(node: Node, note: Note) -> tuple[Act, ...]:
    return read_script(node, BRAIN_LINES, "say", "line", note)


def read_tools(node: Node, note: Note) -> tuple[ToolScript, ...]:
    if node.entries is None:
        note(node.line, f"tools must be names and what each does, not {node.shown}")
        return ()
    return tuple(_read_tool(name, does, note) for name, does in node.entries.items())


def _read_tool(name: str, node: Node, note: Note) -> ToolScript:
    """Its steps, or a mapping of them and of what kind of tool it is."""
    kinds = {"does": STEPS_OF_TOOL, "mode": MODE, "cancellable": TRUTH}
    options = {}
    if node.entries is not None and set(kinds) & set(node.entries):
        options = read_fields(node.entries, kinds, f"the tool {name}", note)
        node = options.pop("does", Node(node.line, items=()))
    return ToolScript(name, read_script(node, TOOL_STEPS, "result", "step", note), options)


def read_pace(node: Node, note: Note) -> Pace:
    if node.entries is None:
        note(node.line, f"pace must be a mapping of {', '.join(_PACE)}, not {node.shown}")
        return Pace()
    return Pace(**read_fields(node.entries, _PACE, "pace", note))
