"""What a scenario file may contain: the steps of a call, the lines of a scripted brain, the steps of a tool.

All three are called acts. One key names the act and holds its value, and further keys are its options. Rule: a problem
doesn't stop the reading. It is noted with its line, and the rest of the file is still checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeAlias

from duologue.brains.scripted import ScriptedBrain, ScriptedReply
from duologue.core.leaves import ErrorClass
from duologue.core.views import PHASES
from duologue.ports.brain import Show
from duologue.ports.scripted_steps import Delay, Fail, Hang
from duologue.ports.tool_call import ToolCall
from duologue.ports.worker import Mode
from duologue.workers.scripted import AskPerson, Partly, Progress, ScriptedWorker, scripted_tool

from .call import Call
from .person import SpeakingPace

Note: TypeAlias = Callable[[int, str], None]  # called with a line and what is wrong there
MS_MAX = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class YamlNode:
    """A value in a YAML file with its line. If it is the value of a key, its line is the line of the key."""

    line: int
    text: str = ""  # the text of a scalar, as written
    value: object = None  # the value of a scalar, as YAML reads it; None if it is missing
    items: tuple[YamlNode, ...] | None = None
    entries: dict[str, YamlNode] | None = None

    @property
    def is_scalar(self) -> bool:
        return self.items is None and self.entries is None

    @property
    def is_missing(self) -> bool:
        return self.is_scalar and self.value is None

    @property
    def shown(self) -> str:
        """How an error message names this node."""
        if not self.is_scalar:
            return "a list" if self.items is not None else "a mapping"
        return "nothing" if self.is_missing else repr(self.text)

    def plain(self) -> Any:
        """The node as plain Python values."""
        if self.items is not None:
            return [item.plain() for item in self.items]
        if self.entries is not None:
            return {key: entry.plain() for key, entry in self.entries.items()}
        return self.value


# -- Kinds of values


class ValueKind(NamedTuple):
    """A kind of value. `what` names the kind in error messages. `read` converts a node to a value; it returns None if
    the node isn't of this kind, or raises re.error if it is an invalid regular expression."""

    what: str
    read: Callable[[YamlNode], Any]
    known: tuple[str, ...] = ()


def _words(node: YamlNode) -> str | None:
    """The text of a node exactly as it is written, so in `user: no`, the user says "no". None if the node isn't a text
    or is empty."""
    return " ".join(node.text.split()) or None if node.is_scalar else None


def _text(node: YamlNode) -> str | None:
    return node.text if node.is_scalar else None


def _ms(node: YamlNode) -> int | None:
    value = node.value
    return value if type(value) is int and 0 <= value <= MS_MAX else None


def _share(node: YamlNode) -> float | None:
    value = node.value
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None  # type: ignore[arg-type,operator]


def _truth(node: YamlNode) -> bool | None:
    return node.value if type(node.value) is bool else None


def _pattern(node: YamlNode) -> re.Pattern[str] | None:
    return re.compile(node.text) if node.is_scalar else None


def _arguments(node: YamlNode) -> dict[str, Any] | None:
    return node.plain() if node.entries is not None else None


def one_of(what: str, known: Iterable[str]) -> ValueKind:
    """A kind that allows only these names as values."""
    names = tuple(known)
    return ValueKind(what, lambda node: node.text if node.is_scalar and node.text in names else None, names)


WORDS = ValueKind("text", _words)
TEXT = ValueKind("text", _text)
MS = ValueKind(f"whole milliseconds from 0 to {MS_MAX}", _ms)
SHARE = ValueKind("a number from 0 to 1", _share)
TRUTH = ValueKind("true or false", _truth)
TRUE = ValueKind("true", lambda node: node.value if node.value is True else None)
PATTERN = ValueKind("a regular expression", _pattern)
ARGUMENTS = ValueKind("a mapping of arguments", _arguments)
STEPS_OF_TOOL = ValueKind("what the tool does", lambda node: node)
ERROR = one_of("a class of errors", (error.value for error in ErrorClass))
MODE = one_of("a mode", (mode.value for mode in Mode))
PHASE = one_of("a phase", dict.fromkeys(PHASES))


def hint(name: str, known: Iterable[str]) -> str:
    """The end of an error message about an unknown name: the name that was probably meant, or all known names."""
    by_small = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), by_small, n=1)
    return f"; did you mean {by_small[near[0]]}?" if near else f"; use one of {', '.join(by_small.values())}"


def read_fields(
    entries: Mapping[str, YamlNode], kinds: Mapping[str, ValueKind], owner: str, note: Note
) -> dict[str, Any]:
    """Read the values of these keys and return the valid ones. Unknown keys, and missing or invalid values, are noted
    as problems."""
    found = {}
    for key, given in entries.items():
        kind = kinds.get(key)
        if kind is None:
            others = [each for each in kinds if each != owner]
            note(given.line, f"{owner}: unknown key {key!r}" + (hint(key, others) if others else ""))
        elif given.is_missing:
            note(given.line, f"{key} needs {kind.what}")
        else:
            try:
                value = kind.read(given)
            except re.error as invalid:
                note(given.line, f"{key}: {invalid.pattern!r} is no valid regular expression: {invalid.msg}")
                continue
            if value is None:
                note(given.line, _wrong(key, kind, given))
            else:
                found[key] = value
    return found


def _wrong(key: str, kind: ValueKind, given: YamlNode) -> str:
    if kind.known and given.is_scalar:
        return f"{key}: {given.shown} is not {kind.what}{hint(given.text, kind.known)}"
    return f"{key} must be {kind.what}, not {given.shown}"


# -- Acts


class ActShape(NamedTuple):
    """How an act is written in a file, and the function that performs it. With `may_be_bare`, the act may be written
    without a value."""

    make: Callable[..., Any]
    value: ValueKind | None = None
    options: dict[str, ValueKind] = {}
    may_be_bare: bool = False


class ScenarioAct(NamedTuple):
    """An act from a file, after it was checked."""

    line: int
    name: str
    make: Callable[..., Any]
    value: tuple[Any, ...]  # empty, or a single value
    options: dict[str, Any]

    def do(self, *on: Any) -> Any:
        """Perform the act, or create the object that it describes. Copies of the value and the options are used, so
        that the act can be performed again."""
        return self.make(*on, *deepcopy(self.value), **deepcopy(self.options))


def _make_call(tool: str, **given: Any) -> ToolCall:
    return ToolCall(tool, given.get("with", {}))


def _expect_called(call: Call, tool: str, **given: Any) -> Call:
    return call.expect_called(tool, **given.get("with", {}))


def _make_fail(error: str, **given: Any) -> Fail:
    return Fail(ErrorClass(error), **given)


def _make_hang(_: bool) -> Hang:
    return Hang()


STEPS: dict[str, ActShape] = {
    "user": ActShape(Call.user, WORDS),
    "says": ActShape(Call.says, WORDS),
    "interrupts": ActShape(Call.interrupts, WORDS, {"after_ms": MS}),
    "coughs": ActShape(Call.coughs, MS, {"after_ms": MS}, may_be_bare=True),
    "types": ActShape(Call.types, WORDS),
    "line_drops": ActShape(Call.line_drops, MS),
    "hangs_up": ActShape(Call.hangs_up),
    "waits": ActShape(Call.waits, MS),
    "settles": ActShape(Call.settles),
    "expect_heard": ActShape(Call.expect_heard, WORDS),
    "expect_heard_matching": ActShape(Call.expect_heard, PATTERN),
    "expect_never_heard": ActShape(Call.expect_never_heard, WORDS),
    "expect_cut_off": ActShape(Call.expect_cut_off, WORDS),
    "expect_phase": ActShape(Call.expect_phase, PHASE),
    "expect_asked_once": ActShape(Call.expect_asked_once),
    "expect_called": ActShape(_expect_called, WORDS, {"with": ARGUMENTS}),
    "expect_nothing_lost": ActShape(Call.expect_nothing_lost),
    "expect_ended": ActShape(Call.expect_ended),
}
NEEDS_CALLER = ("user", "says", "interrupts", "coughs", "types", "line_drops", "hangs_up")  # these need a running call

_ANYWHERE: dict[str, ActShape] = {
    "pause_ms": ActShape(Delay, MS, {"jitter_ms": MS}),
    "fail": ActShape(_make_fail, ERROR, {"message": TEXT}),
    "hang": ActShape(_make_hang, TRUE),
}
BRAIN_LINES: dict[str, ActShape] = {
    "say": ActShape(str, WORDS),
    "show": ActShape(Show, WORDS),
    "call": ActShape(_make_call, WORDS, {"with": ARGUMENTS}),
    **_ANYWHERE,
}
TOOL_STEPS: dict[str, ActShape] = {
    "progress": ActShape(Progress, WORDS, {"fraction": SHARE}),
    "partly": ActShape(Partly, TEXT),
    "ask": ActShape(AskPerson, WORDS),
    "result": ActShape(str, TEXT),
    **_ANYWHERE,
}


def read_steps(node: YamlNode, note: Note) -> tuple[ScenarioAct, ...]:
    """Read the steps of the call."""
    if not node.items:
        note(node.line, "call must be a list of at least one step")
        return ()
    return tuple(act for item in node.items if (act := read_act(item, STEPS, "step", note)))


def read_script(
    node: YamlNode, shapes: dict[str, ActShape], plain: str, what: str, note: Note
) -> tuple[ScenarioAct, ...]:
    """Read the acts of a reply or a tool; the file may have a single act or a list of acts. A text that isn't an act
    stands for the act named `plain`: in a reply it is spoken, and in a tool it is the result."""
    found = []
    for item in (node,) if node.items is None else node.items:
        if item.is_scalar and item.text in shapes:
            note(
                item.line,
                f"{item.text!r} is also the name of an act: write {{{item.text}: ...}} or {{{plain}: {item.text}}}",
            )
            continue
        is_text = item.is_scalar and not item.is_missing
        act = read_act(YamlNode(item.line, entries={plain: item}) if is_text else item, shapes, what, note)
        found += [act] if act else []
    return tuple(found)


def read_act(node: YamlNode, shapes: dict[str, ActShape], what: str, note: Note) -> ScenarioAct | None:
    """Read one act. It is written as its name alone, or as a mapping with its value and options. If there is a problem,
    notes it and returns None."""
    if node.items is not None or node.is_missing or node.entries == {}:
        note(node.line, f"expected a {what}, not {node.shown if node.items is not None else 'nothing'}")
        return None
    entries = node.entries if node.entries is not None else {node.text: YamlNode(node.line)}
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
    return ScenarioAct(node.line, name, shape.make, value, found)


def _name_of(entries: dict[str, YamlNode], shapes: dict[str, ActShape], what: str, note: Note) -> str | None:
    """The key that names the act. If there is no such key, or more than one, notes the problem and returns None."""
    named = [key for key in entries if key in shapes]
    if len(named) == 1:
        return named[0]
    if named:
        note(entries[named[1]].line, f"{named[0]} and {named[1]} are two {what}s: write each as its own list item")
        return None
    options = {option for shape in shapes.values() for option in shape.options}
    name = next((key for key in entries if key not in options), next(iter(entries)))
    note(entries[name].line, f"unknown {what} {name!r}{hint(name, shapes)}")
    return None


# -- Whole scripts


class BrainScript(NamedTuple):
    """A scripted brain. Its replies are used one after another, or chosen by what the user says."""

    replies: tuple[tuple[ScenarioAct, ...], ...] | dict[str, tuple[ScenarioAct, ...]]
    otherwise: tuple[ScenarioAct, ...] | None = None

    def make(self) -> ScriptedBrain:
        script: dict[str, ScriptedReply] | list[ScriptedReply]
        if isinstance(self.replies, dict):
            script = {words: _perform_all(reply) for words, reply in self.replies.items()}
        else:
            script = [_perform_all(reply) for reply in self.replies]
        brain = ScriptedBrain(script)
        if self.otherwise is not None:
            brain.otherwise = _perform_all(self.otherwise)
        return brain


class ToolScript(NamedTuple):
    """A scripted tool: what it does when it is called."""

    name: str
    steps: tuple[ScenarioAct, ...]
    options: dict[str, Any]

    def make(self) -> ScriptedWorker:
        return scripted_tool(self.name, *_perform_all(self.steps), **self.options)


def _perform_all(acts: tuple[ScenarioAct, ...]) -> tuple[Any, ...]:
    return tuple(act.do() for act in acts)


_PACE: dict[str, ValueKind] = {
    field.name: SHARE if field.name == "confidence" else MS for field in fields(SpeakingPace)
}


def read_brain(node: YamlNode, note: Note) -> BrainScript | None:
    if node.items is not None:
        return BrainScript(tuple(_read_reply(reply, note) for reply in node.items))
    if node.entries is None:
        note(node.line, f"brain must be a list of replies, or a mapping from words to replies, not {node.shown}")
        return None
    if node.entries and all(key in BRAIN_LINES for key in node.entries):
        note(node.line, "brain must be a list of replies: begin each with '- '")
        return None
    replies = {words: _read_reply(reply, note) for words, reply in node.entries.items()}
    otherwise = replies.pop("otherwise", None)
    return BrainScript(replies, otherwise)


def _read_reply(node: YamlNode, note: Note) -> tuple[ScenarioAct, ...]:
    return read_script(node, BRAIN_LINES, "say", "line", note)


def read_tools(node: YamlNode, note: Note) -> tuple[ToolScript, ...]:
    if node.entries is None:
        note(node.line, f"tools must be a mapping from names to what each tool does, not {node.shown}")
        return ()
    return tuple(_read_tool(name, does, note) for name, does in node.entries.items())


def _read_tool(name: str, node: YamlNode, note: Note) -> ToolScript:
    """Read a tool. It is written as a list of steps, or as a mapping with its options and with the steps under
    `does`."""
    kinds = {"does": STEPS_OF_TOOL, "mode": MODE, "cancellable": TRUTH}
    options = {}
    if node.entries is not None and set(kinds) & set(node.entries):
        options = read_fields(node.entries, kinds, f"the tool {name}", note)
        node = options.pop("does", YamlNode(node.line, items=()))
    return ToolScript(name, read_script(node, TOOL_STEPS, "result", "step", note), options)


def read_pace(node: YamlNode, note: Note) -> SpeakingPace:
    if node.entries is None:
        note(node.line, f"pace must be a mapping of {', '.join(_PACE)}, not {node.shown}")
        return SpeakingPace()
    return SpeakingPace(**read_fields(node.entries, _PACE, "pace", note))
