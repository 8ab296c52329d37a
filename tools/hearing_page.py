"""The hearing machine as tables of docs/machine.md: its rows, its state and its due times.

The meaning of a field is the comment behind it in `hearing/state.py`. Rule: what the page says is read from the code.
"""

from __future__ import annotations

import inspect
import re

from duologue.hearing import state
from duologue.hearing.machine import HEARING_ROWS, HearingRow
from duologue.hearing.state import HeardUtterance, HearingState

_FIELD = re.compile(r"^    (\w+): ([^=#]+?)(?: = [^#]+?)?(?:  # (.*))?$", re.MULTILINE)


def hearing_lines() -> list[str]:
    """The section about the hearing machine."""
    lines = ["## Hearing", ""]
    lines += [
        "The second machine, between what the ears (STT and VAD) report and what the conversation machine is told.",
        "For each input, the first row applies whose condition holds.",
        "",
        f"{len(HEARING_ROWS)} rows. The state is one value with {len(HearingState._fields)} fields.",
        "",
        "| on | if | does |",
        "|---|---|---|",
    ]
    lines += [_row_line(row) for row in HEARING_ROWS]
    for kind in (HearingState, HeardUtterance):
        lines += [
            "",
            f"### `{kind.__name__}`",
            "",
            _first_line(kind),
            "",
            "| field | type | meaning |",
            "|---|---|---|",
        ]
        lines += [_field_line(*found) for found in _fields(kind)]
    due = inspect.getsource(state.due_times)
    lines += ["", "### Due times", "", (state.due_times.__doc__ or "").strip(), ""]
    lines += ["| for | at | does |", "|---|---|---|"]
    lines += [_due_line(why, at) for at, why in re.findall(r'DueTime\((.*?), "(\w+)"\)', due)]
    return lines


def _due_line(why: str, at: str) -> str:
    """One due time: its name, the fields that it is derived from, and the action of its row."""
    row = next(row for row in HEARING_ROWS if row.when is not None and row.when.__name__ == f"due_{why}")
    fields = re.sub(r"\bs\.", "", at)
    return f"| {why} | `{fields}` | {_words(row.do.__name__)} |"


def _row_line(row: HearingRow) -> str:
    kinds = ", ".join(f"`{kind.__name__}`" for kind in row.on)
    guard = _words(row.when.__name__) if row.when else ""
    return f"| {kinds} | {guard} | {_words(row.do.__name__)}{f' ({row.why})' if row.why else ''} |"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _first_line(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split())


def _fields(kind: type) -> list[tuple[str, str, str]]:
    """Name, type and comment of each field."""
    found = _FIELD.findall(inspect.getsource(kind))
    names = [name for name, _, _ in found]
    assert names == list(kind._fields), names  # type: ignore[attr-defined]
    return found


def _field_line(name: str, type_name: str, meaning: str) -> str:
    assert meaning, f"{name} has no comment that says what it means"
    return f"| `{name}` | `{type_name.replace('|', chr(92) + '|')}` | {meaning} |"
