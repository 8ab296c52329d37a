"""Write the generated part of docs/: `make docs`. A test fails when it is out of date.

Rule: what the code and the tests already say is never typed in again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from duologue.core.deadlines import JOINT_LIMITS, LIMITS
from duologue.core.leaves import JobKind, Leaf, Link, Reply, User, Voice
from duologue.core.machine import ROWS
from duologue.core.rows import Row, trigger_name
from duologue.core.rules import RULES
from duologue.core.settings import PROFILES
from duologue.core.views import PHASES, VIEWS, View
from duologue.draw import render
from duologue.lab.check.core.promises import PROMISES

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from commands_page import commands_page  # noqa: E402 (tools are scripts, not a package)
from errors_page import errors_page  # noqa: E402
from hearing_page import hearing_lines  # noqa: E402
from llms_index import llms_index  # noqa: E402
from options_page import options_page  # noqa: E402
from phrases_page import phrases_page  # noqa: E402
from providers_page import providers_page  # noqa: E402
from requirements_page import requirements_page  # noqa: E402

DOCS = ROOT / "docs"
REGIONS: dict[str, type[Leaf]] = {"link": Link, "user": User, "voice": Voice, "reply": Reply, "jobs": JobKind}
PICTURES = ("machine", *REGIONS, *VIEWS)
NOTICE = "<!-- Written by `make docs`; edit the code, not this file. -->"


def pages() -> Iterator[tuple[Path, Callable[[], str]]]:
    """Every generated file, and the function that returns its text."""
    yield DOCS / "machine.md", machine_page
    yield DOCS / "views.md", views_page
    yield DOCS / "promises.md", promises_page
    yield DOCS / "requirements.md", partial(requirements_page, NOTICE)
    yield DOCS / "options.md", partial(options_page, NOTICE)
    yield DOCS / "phrases.md", partial(phrases_page, NOTICE)
    yield DOCS / "providers.md", providers_page
    yield DOCS / "commands.md", partial(commands_page, NOTICE)
    yield DOCS / "troubleshooting.md", partial(errors_page, NOTICE)
    for name in PICTURES:
        yield DOCS / "diagrams" / f"{name}.svg", partial(render, name, "svg")
        yield DOCS / "diagrams" / f"{name}.mmd", partial(render, name, "mermaid")
    yield DOCS / "llms.txt", partial(llms_index, ROOT)  # last: it quotes the pages


# -- The machine


def machine_page() -> str:
    lines = ["# Every row", "", NOTICE, "", "![The five regions](diagrams/machine.svg)", ""]
    lines += [
        "All behaviour of the machine. [Design](design.md) explains the words; `duologue rows WORD` searches.",
        "",
    ]
    lines += [f"{len(ROWS)} rows, {len(RULES)} rules, {len(LIMITS) + len(JOINT_LIMITS) + 3} deadlines.", ""]
    for name, region in REGIONS.items():
        lines += [f"## {name}: {(region.__doc__ or '').split(chr(10))[0]}", ""]
        lines += [f"![{name}](diagrams/{name}.svg)", "", "| from | on | if | to | does |", "|---|---|---|---|---|"]
        lines += [_row_line(row) for row in ROWS if isinstance(row.sources[0], region)]
        lines.append("")
    lines += ["## Rules", "", "Applied in this order after the rows of every step.", ""]
    lines += [f"{number}. **{rule.name}**: {rule.why}." for number, rule in enumerate(RULES, start=1)]
    return "\n".join([*lines, "", *_deadline_lines(), "", *hearing_lines(), ""])


def _row_line(row: Row) -> str:
    sources = ", ".join(leaf.value for leaf in row.sources)
    triggers = ", ".join(f"`{trigger_name(trigger)}`" for trigger in row.on)
    guard = _words(row.when.__name__) if row.when else ""
    target = row.target.value if row.target else "same"
    action = _words(row.do.__name__) if row.do else ""
    return f"| {sources} | {triggers} | {guard} | {target} | {action}{f' ({row.why})' if row.why else ''} |"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _deadline_lines() -> list[str]:
    lines = [
        "## Deadlines",
        "",
        "A timer starts when one of the leaves is entered and stops when all of them are left.",
        "A hard deadline ends the leaf.",
        "",
    ]
    lines += ["| timer | leaves | hard |", "|---|---|---|"]
    for limit in LIMITS:
        leaves = ", ".join(leaf.value for leaf in limit.leaves)
        lines.append(f"| {limit.timer.value} | {leaves} | {'yes' if limit.hard else 'no'} |")
    lines.append("| beat | something is owed, and the floor is open | no |")
    lines.append("| patience | something is owed, and only a noise delays the request | no |")
    lines.append("| dead_air | it is the person's turn, and they have said no word | no |")
    lines.append("| job, heartbeat, feedback | each job, in its record | job only |")
    return lines


# -- Views and promises


def views_page() -> str:
    lines = ["# Views", "", NOTICE, ""]
    lines += [
        "A view names the machine's state in one vocabulary. Views are derived from the state and never stored.",
        "",
    ]
    lines += [
        "## phase",
        "",
        "The vocabulary of the API (`conversation.phase`), the test kit, the panel and the metrics.",
        "",
    ]
    lines += ["| phase | meaning |", "|---|---|", *(f"| `{name}` | {meaning} |" for name, meaning in PHASES.items())]
    lines += [
        "",
        "`duologue timeline`, `duologue replay` and `duologue demo` name states by these phases, and with",
        "`--view NAME` by another view.",
        "",
        "The other views are those of the specifications that Duologue fulfils. `duologue check` requires that every",
    ]
    lines += ["step of the machine either leaves a view where it is or makes a move of its table.", ""]
    for view in VIEWS.values():
        lines += _view_lines(view)
    return "\n".join(lines)


def _view_lines(view: View) -> list[str]:
    lines = [f"## {view.name}", "", f"![{view.name}](diagrams/{view.name}.svg)", ""]
    lines += [f"- {source} → {', '.join(targets)}" for source, targets in view.table.items()]
    lines += ["", "Moves that were added to the specification, with the reason:", ""]
    lines += [f"- {source} → {target}: {why}." for source, target, why in view.amendments]
    if view.impossible:
        lines += ["", "Moves of the specification that are impossible here, with the reason:", ""]
        lines += [f"- {source} → {target}: {why}." for source, target, why in view.impossible]
    return [*lines, ""]


def promises_page() -> str:
    lines = [
        "# Promises",
        "",
        NOTICE,
        "",
        "What must happen, checked by `duologue check` on every step of every reachable state.",
        "",
    ]
    lines += ["| promise | on |", "|---|---|"]
    for promise in PROMISES:
        lines.append(f"| {promise.name} | {', '.join(f'`{trigger_name(trigger)}`' for trigger in promise.on)} |")
    return "\n".join([*lines, ""])


def main() -> int:
    for path, write in pages():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(write(), encoding="utf-8")
    assert set(PROFILES) == {"immediate", "confirm", "words"}, "README and docs name the profiles"
    return 0


if __name__ == "__main__":
    sys.exit(main())
