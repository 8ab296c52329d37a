"""Suites of evaluations: files in YAML that say who calls, what they want, and what must be true afterwards.

`load_suite` reads and checks a file; docs/evals.md documents it. Rule: an invalid file is never run, and the error
lists all problems of the file with their lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from duologue.core.errors import DuologueError

from ..scenario import ScenarioProblem
from ..scenario_steps import ARGUMENTS, PATTERN, SHARE, TEXT, TRUTH, WORDS, Note, ValueKind, YamlNode, hint, read_fields
from ..yaml_files import read_yaml

RUNS_MAX = 1_000
TURNS_MAX = 100


class ExpectedCall(NamedTuple):
    """A tool that must have been called, with at least these arguments."""

    tool: str
    arguments: dict[str, Any]


class AgentPromise(NamedTuple):
    """If the agent says something that matches `said`, it must also call `then_called`."""

    said: re.Pattern[str]
    then_called: str


@dataclass(frozen=True, slots=True)
class HardAssertions:
    """What must be true after a call. The judge's opinion doesn't change this."""

    called: tuple[ExpectedCall, ...] = ()
    not_called: tuple[str, ...] = ()
    heard: tuple[re.Pattern[str], ...] = ()
    never_said: tuple[re.Pattern[str], ...] = ()
    data: Mapping[str, str] | None = None  # fields of the call's data, and slots of a form
    promises: tuple[AgentPromise, ...] = ()
    ended: bool | None = None
    nothing_lost: bool = True


@dataclass(frozen=True, slots=True)
class EvalCase:
    """One case: a kind of caller, and what must be true after the calls of this caller."""

    name: str
    line: int
    goal: str
    mood: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    interrupts: float = 0.0  # the share of answers that the caller interrupts
    runs: int = 1
    turns_max: int = 20
    pass_share: float = 1.0  # the share of runs that must pass
    expect: HardAssertions = HardAssertions()
    rubric: tuple[str, ...] = ()  # what a judge must confirm


@dataclass(frozen=True, slots=True)
class EvalSuite:
    """The cases of a file, after it was read and checked."""

    name: str
    file: Path
    cases: tuple[EvalCase, ...]


class InvalidSuite(DuologueError, ValueError):
    """A file that can't be run. `problems` lists everything that is wrong with it."""

    def __init__(self, problems: tuple[ScenarioProblem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


def load_suite(path: Path | str) -> EvalSuite:
    """Read a suite and check it. Raises InvalidSuite, which lists every problem."""
    file = Path(path)
    problems: list[ScenarioProblem] = []

    def note(line: int, text: str) -> None:
        problems.append(ScenarioProblem(file, line, text))

    root = read_yaml(file, note, "suite", "name, cases", "`cases`")
    suite = _read_suite(root, file, note) if root is not None else None
    if problems or suite is None:
        raise InvalidSuite(tuple(sorted(problems, key=lambda problem: problem.line)))
    return suite


# -- Kinds of values


def _texts(node: YamlNode) -> tuple[str, ...] | None:
    """The value as a tuple of texts; the file may have one text or a list of texts."""
    items = (node,) if node.items is None else node.items
    return tuple(item.text for item in items) if items and all(item.is_scalar and item.text for item in items) else None


def _patterns(node: YamlNode) -> tuple[re.Pattern[str], ...] | None:
    texts = _texts(node)
    return tuple(re.compile(text, re.IGNORECASE) for text in texts) if texts else None


def _pairs(node: YamlNode) -> tuple[tuple[str, str], ...] | None:
    if not node.entries or not all(entry.is_scalar and entry.text for entry in node.entries.values()):
        return None
    return tuple((key, entry.text) for key, entry in node.entries.items())


def _count(most: int) -> ValueKind:
    def read(node: YamlNode) -> int | None:
        return node.value if type(node.value) is int and 1 <= node.value <= most else None

    return ValueKind(f"a whole number from 1 to {most}", read)


TEXTS = ValueKind("a text or a list of texts", _texts)
PATTERNS = ValueKind("a regular expression or a list of them", _patterns)
PAIRS = ValueKind("a mapping from names to texts", _pairs)
_SHARED: dict[str, ValueKind] = {
    "runs": _count(RUNS_MAX),
    "turns_max": _count(TURNS_MAX),
    "pass_share": SHARE,
    "rubric": TEXTS,
}
_CASE: dict[str, ValueKind] = {
    "name": WORDS,
    "goal": WORDS,
    "mood": WORDS,
    "facts": PAIRS,
    "interrupts": SHARE,
    **_SHARED,
}
_EXPECT: dict[str, ValueKind] = {
    "not_called": TEXTS,
    "heard": PATTERNS,
    "never_said": PATTERNS,
    "data": PAIRS,
    "ended": TRUTH,
    "nothing_lost": TRUTH,
}


# -- Reading


def _read_suite(root: YamlNode, file: Path, note: Note) -> EvalSuite:
    entries = dict(root.entries or {})
    cases = entries.pop("cases", None)
    _refuse_unknown(entries, {"name": WORDS, **_SHARED, "cases": WORDS}, "a suite", note)
    known = {key: node for key, node in entries.items() if key in {"name", *_SHARED}}
    shared = read_fields(known, {"name": WORDS, **_SHARED}, "a suite", note)
    name = shared.pop("name", file.stem)
    if cases is None or not cases.items:
        note(cases.line if cases is not None else root.line, "a suite needs `cases`: a list of at least one case")
        return EvalSuite(name, file, ())
    read = [_read_case(item, shared, number, note) for number, item in enumerate(cases.items, 1)]
    found = tuple(case for case in read if case is not None)
    for at, case in enumerate(found):
        if case.name in [other.name for other in found[:at]]:
            note(case.line, f"two cases have the name {case.name!r}")
    return EvalSuite(name, file, found)


def _read_case(node: YamlNode, shared: Mapping[str, Any], number: int, note: Note) -> EvalCase | None:
    if node.entries is None:
        note(node.line, f"a case is a mapping of goal, expect and so on, not {node.shown}")
        return None
    entries = dict(node.entries)
    expect = entries.pop("expect", None)
    _refuse_unknown(entries, {**_CASE, "expect": WORDS}, "a case", note)
    given = read_fields({key: entry for key, entry in entries.items() if key in _CASE}, _CASE, "a case", note)
    if "goal" not in entries:
        note(node.line, "a case needs `goal`: what the caller wants")
    rubric = (*shared.get("rubric", ()), *given.pop("rubric", ()))
    asserted = _read_expect(expect, note) if expect is not None else HardAssertions()
    common = {key: value for key, value in shared.items() if key != "rubric"}
    return EvalCase(
        given.pop("name", f"case {number}"),
        node.line,
        given.pop("goal", ""),
        **{**common, **given},
        expect=asserted,
        rubric=rubric,
    )


def _read_expect(node: YamlNode, note: Note) -> HardAssertions:
    if node.entries is None:
        note(node.line, f"expect must be a mapping, not {node.shown}")
        return HardAssertions()
    entries = dict(node.entries)
    lists: dict[str, Callable[[YamlNode, Note], Any]] = {"called": _read_called, "promises": _read_promise}
    read: dict[str, Any] = {
        key: _each(key, entries.pop(key), one, note) for key, one in lists.items() if key in entries
    }
    _refuse_unknown(entries, {**_EXPECT, **dict.fromkeys(lists, WORDS)}, "expect", note)
    known = {key: entry for key, entry in entries.items() if key in _EXPECT}
    given = read_fields(known, _EXPECT, "expect", note)
    if "data" in given:
        given["data"] = dict(given["data"])
    return HardAssertions(**given, **read)


def _each(key: str, node: YamlNode, read: Callable[[YamlNode, Note], Any], note: Note) -> tuple[Any, ...]:
    if not node.items:
        note(node.line, f"{key} must be a list")
        return ()
    return tuple(found for item in node.items if (found := read(item, note)) is not None)


def _read_called(node: YamlNode, note: Note) -> ExpectedCall | None:
    if node.is_scalar and node.text:
        return ExpectedCall(node.text, {})
    given = read_fields(node.entries or {}, {"tool": TEXT, "with": ARGUMENTS}, "called", note)
    if "tool" not in given:
        note(node.line, "called needs `tool`: the tool's name")
        return None
    return ExpectedCall(given["tool"], given.get("with", {}))


def _read_promise(node: YamlNode, note: Note) -> AgentPromise | None:
    given = read_fields(node.entries or {}, {"said": PATTERN, "then_called": TEXT}, "promises", note)
    if len(given) < 2:
        note(node.line, "a promise needs `said`, a regular expression, and `then_called`, a tool's name")
        return None
    return AgentPromise(re.compile(given["said"].pattern, re.IGNORECASE), given["then_called"])


def _refuse_unknown(entries: Mapping[str, YamlNode], known: Mapping[str, ValueKind], owner: str, note: Note) -> None:
    for key, entry in entries.items():
        if key not in known:
            note(entry.line, f"{owner}: unknown key {key!r}{hint(key, known)}")
