"""What every test shares: counting which behaviour the tests exercise (C-COV).

Before any test runs, the machine's rows are wrapped so that each notes when it fires, from where and
on what, and each guard notes its verdicts. The explorer's own tests don't count: they would cover
everything by design. Rule: the counts are printed after every whole run, and too little fails it.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as examples

from duologue.core import events as ev
from duologue.core.draft import Draft
from duologue.core.leaves import FROZEN, Link, Reply, Timer, Voice
from duologue.core.machine import MACHINE, ROWS
from duologue.core.rows import Row, trigger_name
from duologue.core.rules import RULES
from duologue.core.state import UNFROZEN
from tests.needs import is_ci, require

if is_ci():
    pytest.importorskip = require

# In CI every run tries the same examples, so that a failure is about the change. Elsewhere each run tries others.
# No example has a time limit, because the machine may be busy.
examples.register_profile("any", derandomize=is_ci(), deadline=None)
examples.load_profile("any")

ROWS_MIN = 0.95
TRANSITIONS_MIN = 0.95
BRANCHES_MIN = 0.90
_ALONE = "tests/browser/"
_NOT_COUNTED = ("tests/lab/check", "tests/lab/bench", "tests/draw")


class Coverage:
    """What fired so far."""

    def __init__(self) -> None:
        self.counts = False
        self.transitions: set[tuple[int, Any, Any]] = set()
        self.branches: set[tuple[int, bool]] = set()

    def note(self, number: int, d: Draft, event: Any, *job: Any) -> None:
        if self.counts:
            row = ROWS[number]
            before = job[0].kind if job else getattr(d.before, _REGIONS[type(row.sources[0]).__name__])
            trigger = getattr(event, "timer", None) or type(event)
            self.transitions.add((number, before, trigger))

    def wrap(self, number: int, row: Row) -> Row:
        """The same row, noticed."""
        do, when = row.do, row.when

        def noted_do(d: Draft, event: Any, *job: Any) -> None:
            self.note(number, d, event, *job)
            if do is not None:
                do(d, event, *job)

        if do is not None:
            functools.update_wrapper(noted_do, do)
        if when is None:
            return replace(row, do=noted_do)

        @functools.wraps(when)
        def noted_when(*args: Any) -> bool:
            verdict = when(*args)
            if self.counts:
                self.branches.add((number, verdict))
            return verdict

        return replace(row, do=noted_do, when=noted_when)


_REGIONS = {"Link": "link", "User": "user", "Voice": "voice", "Reply": "reply"}
COVERAGE = Coverage()


@pytest.fixture(autouse=True)
def _count(request: pytest.FixtureRequest) -> Iterator[None]:
    """Count what this test exercises, unless it explores."""
    path = request.path.relative_to(Path(__file__).parent.parent).as_posix()
    COVERAGE.counts = not path.startswith(_NOT_COUNTED)
    yield
    COVERAGE.counts = False


def pytest_configure() -> None:
    if MACHINE.rows is ROWS:  # a mutant stays as it was loaded
        MACHINE.load(tuple(COVERAGE.wrap(number, row) for number, row in enumerate(ROWS)), RULES)


def all_transitions() -> set[tuple[int, Any, Any]]:
    """Every way for a row to fire: its number, its leaf, its trigger."""
    possible = set()
    for number, row in enumerate(ROWS):
        for source in row.sources:
            possible |= {(number, source, trigger) for trigger in row.on}
    return possible - UNREACHABLE


_NEVER = {
    (Reply.RETRYING, ev.ReplyFailed),  # the failed attempt's id has moved on
    (Voice.HELD, ev.SpeechStarted),  # only `immediate` interrupts on an onset, and it never holds
}


def _unreachable() -> set[tuple[int, Any, Any]]:
    """Combinations that a row's sets of leaves and triggers span and no conversation meets: another
    row comes first, the timer belongs to another leaf, or it is frozen there."""
    owned: dict[Any, set[Any]] = {}
    for limit in MACHINE.owners.limits:
        owned.setdefault(limit.timer, set()).update(limit.leaves)
    found = set()
    for number, row in enumerate(ROWS):
        earlier = ROWS[:number]
        for source in row.sources:
            for trigger in row.on:
                region = type(source)
                leaves = owned.get(trigger, set())
                frozen = source in FROZEN and isinstance(trigger, Timer) and trigger not in UNFROZEN
                elsewhere = bool(leaves) and all(type(leaf) is region for leaf in leaves) and source not in leaves
                hidden = any(
                    source in other.sources and trigger in other.on and other.when is None for other in earlier
                )
                if elsewhere or hidden or frozen or (source, trigger) in _NEVER:
                    found.add((number, source, trigger))
    return found


UNREACHABLE = _unreachable()


def too_little() -> list[str]:
    """Which counts are below their limit: empty if all is well."""
    possible = all_transitions()
    faults = {entry for entry in possible if ROWS[entry[0]].target is Link.FAULTED}
    counts = {
        "rows": (len({number for number, _, _ in COVERAGE.transitions}), ROWS_MIN * len(ROWS)),
        "transitions": (len(COVERAGE.transitions & possible), TRANSITIONS_MIN * len(possible)),
        "guard branches": (len(COVERAGE.branches), BRANCHES_MIN * 2 * sum(row.when is not None for row in ROWS)),
        "paths to faulted": (len(faults & COVERAGE.transitions), len(faults)),
    }
    return [f"{name}: {seen}, at least {needed:.0f} needed" for name, (seen, needed) in counts.items() if seen < needed]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.getoption("collectonly"):
        return
    rows = {number for number, _, _ in COVERAGE.transitions}
    possible = all_transitions()
    transitions = COVERAGE.transitions & possible
    branches = {(number, verdict) for number, row in enumerate(ROWS) if row.when for verdict in (True, False)}
    faults = {entry for entry in possible if ROWS[entry[0]].target is Link.FAULTED}
    write = terminalreporter.write_line
    write("")
    write("coverage of the machine by tests other than the explorer (C-COV)")
    write(f"  rows             {len(rows)} of {len(ROWS)}")
    write(f"  transitions      {len(transitions)} of {len(possible)} (a row, from one leaf, on one trigger)")
    write(f"  guard branches   {len(COVERAGE.branches)} of {len(branches)}")
    write(f"  paths to faulted {len(transitions & faults)} of {len(faults)}")
    if _is_whole_run(config):
        for number, source, trigger in sorted(possible - transitions, key=str):
            write(f"  not seen: {source.value} + {trigger_name(trigger)} in row {ROWS[number].name}")
        for number, verdict in sorted(branches - COVERAGE.branches):
            write(f"  guard never {verdict}: {ROWS[number].name}")
        for line in too_little():
            write(f"FAILED: the tests exercise too little of the machine: {line}", red=True, bold=True)


def _is_whole_run(config: pytest.Config) -> bool:
    if config.getoption("markexpr") not in ("", "not alone"):
        return False
    return not config.args or config.args == config.getini("testpaths") or config.args == [str(config.rootpath)]


# -- Several processes at once


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests stay in memory: no garbage collection has to look at them, now or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test in a browser runs in real time. Other modules say so with the mark `alone`."""
    for item in items:
        path = item.path.relative_to(Path(__file__).parent.parent).as_posix()
        if path.startswith(_ALONE):
            item.add_marker(pytest.mark.alone)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Another process has counted too."""
    known = {_written(entry): entry for entry in all_transitions() | UNREACHABLE}
    told = getattr(node, "workeroutput", {}).get("machine", {"transitions": [], "branches": []})
    COVERAGE.transitions |= {known[text] for text in told["transitions"] if text in known}
    COVERAGE.branches |= {(number, verdict) for number, verdict in told["branches"]}


def _written(entry: tuple[int, Any, Any]) -> str:
    number, leaf, trigger = entry
    return f"{number} {type(leaf).__name__}.{leaf.name} {trigger_name(trigger)}"


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Too little coverage fails a whole run."""
    if hasattr(session.config, "workeroutput"):
        transitions = [_written(entry) for entry in COVERAGE.transitions]
        branches = [list(entry) for entry in COVERAGE.branches]
        session.config.workeroutput["machine"] = {"transitions": transitions, "branches": branches}
        return
    if exitstatus or not _is_whole_run(session.config) or session.config.getoption("collectonly"):
        return
    if too_little():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
