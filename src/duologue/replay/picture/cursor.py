"""The data for the cursor of the page. For each instant of the conversation, it says what happened, which rows fired,
and which state followed.

The page's script gets compact tables of names and numbers, so that the file of a long conversation stays small. Rule:
rows have the same text as in the output of `duologue rows`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from duologue.core.machine import MACHINE
from duologue.core.state import State
from duologue.core.views import EVERY_VIEW, PHASE
from duologue.observe.view_history import cause_of

from ..journal import StepRecord
from ..step_words import describe
from ..timeline import REGIONS
from .looks import look_of


def shown_views(view: str) -> tuple[str, ...]:
    """The names of the views that a page shows: the phases, and `view` if it is another one."""
    return (PHASE.name,) if view == PHASE.name else (PHASE.name, view)


def lanes_of(views: Sequence[str]) -> tuple[str, ...]:
    """The names of the lanes that show a state: one for each of these views, and one for each region."""
    return (*views, *REGIONS)


class Fired(NamedTuple):
    """A row or a rule of the conversation machine, and how often it fired in this conversation."""

    number: int  # as in a StepRecord: the index of a row, or -1 minus the index of a rule
    text: str
    does: str
    why: str
    times: int

    @property
    def anchor(self) -> str:
        return anchor_of(self.number)


def anchor_of(number: int) -> str:
    """The HTML id of a row or rule on the page. Rules have negative numbers."""
    return f"row{number}" if number >= 0 else f"rule{-1 - number}"


def row_text(number: int) -> tuple[str, str, str]:
    """The name, the action and the reason of a row or rule."""
    if number < 0:
        rule = MACHINE.rules[-1 - number]
        return f"rule: {rule.name}", rule.do.__name__, rule.why
    row = MACHINE.rows[number]
    return row.name, row.do.__name__ if row.do else "", row.why


def all_fired(records: Sequence[StepRecord]) -> list[Fired]:
    """Every row and rule that fired, rows first."""
    times = Counter(number for record in records for number in record.fired)
    order = sorted(times, key=lambda number: (number < 0, abs(number)))
    return [Fired(number, *row_text(number), times[number]) for number in order]


def leaves_of(s: State, views: Sequence[str]) -> tuple[str, ...]:
    """The text that each of `lanes_of(views)` shows while the conversation machine is in this state."""
    jobs = " + ".join(f"{job.call} {job.kind.value}" for job in s.jobs) or "none"
    seen = (EVERY_VIEW[name].see(s) for name in views)
    return (*seen, s.link.value, s.user.value, s.voice.value, s.reply.value, jobs)


def looks_of(s: State, views: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """For each lane: its name, the text that it shows while the conversation machine is in this state, and its CSS
    classes."""
    kinds = s.jobs[0].kind.value if s.jobs else "none"
    for lane, shown in zip(lanes_of(views), leaves_of(s, views), strict=True):
        yield lane, shown.replace("_", " "), look_of(lane, kinds if lane == "jobs" else shown)


def cursor_data(records: Sequence[StepRecord], length_ms: int, views: Sequence[str]) -> dict[str, Any]:
    """All data that the script of the page needs."""
    began = records[0].event.at
    chips: dict[tuple[str, str], int] = {}
    states: dict[tuple[int, ...], int] = {}
    instants = []
    for at, group in groupby(records, lambda record: record.event.at):
        steps = list(group)
        after = steps[-1].after
        shown = tuple(chips.setdefault((text, look), len(chips)) for _, text, look in looks_of(after, views))
        state = states.setdefault(shown, len(states))
        instants.append([at - began, state, after.heard_ms, [_step(record) for record in steps]])
    return {
        "length": length_ms,
        "chips": list(chips),
        "states": list(states),
        "rows": {str(fired.number): [fired.text, fired.does, fired.why] for fired in all_fired(records)},
        "instants": instants,
    }


def _step(record: StepRecord) -> list[Any]:
    line = describe(record)
    return [cause_of(record.event), list(record.fired), ", ".join(line.done) if line else ""]
