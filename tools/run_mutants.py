"""Change the machine in every small way and check that each change is noticed: `make mutants`.

Each mutant is explored with the laws and promises, up to the first violation; if they notice nothing, the
tests of the core run against it. A mutant that goes unnoticed must be listed, with a reason, in
tools/accepted_mutants.toml. Writes docs/mutants.md.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import sys
import time
import tomllib
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import track

from duologue.core.machine import MACHINE, ROWS
from duologue.core.settings import PROFILES
from duologue.hearing.machine import HEARING
from duologue.lab.check.core.check import CoreExplorer
from duologue.lab.check.core.mutants import Mutant, mutants
from duologue.lab.check.core.scopes import QUICK, SMALL
from duologue.lab.check.hearing.mutants import hearing_mutants, is_noticed_by_laws
from duologue.lab.check.ownership.mutants import ownership_mutants, what_notices
from duologue.lab.sim.stage import Stage

ROOT = Path(__file__).parent.parent
ACCEPTED = ROOT / "tools" / "accepted_mutants.toml"
REPORT = ROOT / "docs" / "mutants.md"
SHARE_MIN = 0.95
# Cheapest first: most mutants are noticed within a second.
_EXPLORATIONS = (
    ("confirm", QUICK[2]),
    ("confirm", QUICK[3]),
    ("confirm", QUICK[4]),
    ("immediate", QUICK[4]),
    ("confirm", QUICK[1]),
    ("immediate", QUICK[1]),
    ("confirm", QUICK[0]),
    ("words", SMALL[1]),
)
_TESTS = ["tests/core", "tests/graveyard", "--ignore=tests/core/test_properties.py"]


def who_notices(number: int) -> tuple[int, str]:
    """What notices this mutant: laws, promises, tests, or nothing (""). Runs in its own process."""
    mutant = ALL[number]
    try:
        MACHINE.load(mutant.rows, mutant.rules)
        for name, scope in _EXPLORATIONS:
            found = CoreExplorer(PROFILES[name], scope, machine=MACHINE, violations_max=1).run(states_max=60_000)
            if found.violations:
                return number, "promises" if found.violations[0].law == "promise" else "laws"
    except Exception:  # noqa: BLE001 (a machine that raises has been noticed)
        return number, "laws"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        failed = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *_TESTS])
    return number, "tests" if failed else ""


def who_notices_hearing(number: int) -> tuple[int, str]:
    """What notices this mutant of the hearing machine: laws, tests, or nothing (""). Runs in its own process."""
    mutant = HEARD[number]
    if is_noticed_by_laws(mutant):
        return number, "laws"
    HEARING.load(mutant.rows)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        failed = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "tests/hearing"])
    return number, "tests" if failed else ""


def is_distinct(mutant: Mutant) -> bool:
    """Does this mutant differ from the machine? Muting an action that emits nothing changes nothing."""
    return not mutant.kind.startswith("mute") or mutant.name in SPEAKING


def speaking() -> set[str]:
    """The names of the rows and rules whose action emits effects, found by reading its code."""
    found = set()
    for row in ROWS:
        if row.do is not None and _can_emit(row.do):
            found.add(row.name)
    found |= {rule.name for rule in MACHINE.rules if _can_emit(rule.do)}
    return found


def _can_emit(action: object, depth: int = 4) -> bool:
    code = getattr(action, "__code__", None)
    if code is None:
        return False
    if "emit" in code.co_names:
        return True
    scope = getattr(action, "__globals__", {})
    return depth > 0 and any(_can_emit(scope.get(name), depth - 1) for name in code.co_names)


SPEAKING = speaking()
ALL = [mutant for mutant in mutants() if is_distinct(mutant)]
HEARD = list(hearing_mutants())


def main() -> int:
    console = Console()
    began = time.monotonic()
    os.chdir(ROOT)
    context = multiprocessing.get_context("fork")
    with context.Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        waiting = pool.imap_unordered(who_notices, range(len(ALL)))
        noticed = dict(track(waiting, total=len(ALL), description="mutants", console=console))
    heard, unheard, heard_share = judge_hearing(console)
    accepted = tomllib.loads(ACCEPTED.read_text())["accepted"] if ACCEPTED.exists() else {}
    survivors = [f"{ALL[number].kind}: {ALL[number].name}" for number in sorted(noticed) if not noticed[number]]
    unexplained = [name for name in survivors if name not in accepted]
    needless = [name for name in accepted if name not in survivors]
    share = 1 - len(survivors) / len(ALL)
    counts = {by: sum(found == by for found in noticed.values()) for by in ("laws", "promises", "tests", "")}
    minutes = (time.monotonic() - began) / 60
    summary = (
        f"{len(ALL)} mutants: {counts['laws']} noticed by laws, {counts['promises']} by promises,"
        f" {counts['tests']} by tests only, {len(survivors)} unnoticed ({share:.1%} noticed)"
    )
    console.print(f"{summary}, in {minutes:.1f} min")
    owned, unowned = judge_ownership()
    console.print(heard)
    for name in unheard:
        console.print(f"[red]unnoticed in hearing:[/] {name}", highlight=False)
    console.print(owned)
    for name in unowned:
        console.print(f"[red]unnoticed in ownership:[/] {name}", highlight=False)
    for name in unexplained:
        console.print(f"[red]unnoticed and not accepted:[/] {name}", highlight=False)
    for name in needless:
        console.print(f"[yellow]accepted, but noticed:[/] {name}", highlight=False)
    write_report(summary, survivors, accepted, f"{heard}.\n\n{owned}")
    enough = min(share, heard_share) >= SHARE_MIN
    return 0 if enough and not unexplained and not needless and not unowned else 1


def judge_hearing(console: Console) -> tuple[str, list[str], float]:
    """How many mutants of the hearing machine are noticed, those that aren't, and the share that is."""
    context = multiprocessing.get_context("fork")
    with context.Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        waiting = pool.imap_unordered(who_notices_hearing, range(len(HEARD)))
        noticed = dict(track(waiting, total=len(HEARD), description="hearing", console=console))
    unnoticed = [f"{HEARD[number].kind}: {HEARD[number].name}" for number in sorted(noticed) if not noticed[number]]
    by_laws = sum(by == "laws" for by in noticed.values())
    share = 1 - len(unnoticed) / len(HEARD)
    counts = f"{by_laws} noticed by laws, {len(HEARD) - by_laws - len(unnoticed)} by tests only"
    listed = f" ({', '.join(f'`{name}`' for name in unnoticed)})" if unnoticed else ""
    return f"Hearing: {len(HEARD)} mutants, {counts}, {len(unnoticed)} unnoticed{listed}", unnoticed, share


def judge_ownership() -> tuple[str, list[str]]:
    """How many mutants of the ownership machine are noticed by promises or laws, and those that aren't."""
    noticed = {f"{one.kind}: {one.row}": what_notices(one) for one in ownership_mutants()}
    unnoticed = [name for name, by in noticed.items() if not by]
    by_promises = sum(by == "promises" for by in noticed.values())
    by_laws = len(noticed) - by_promises - len(unnoticed)
    counts = f"{by_promises} noticed by promises, {by_laws} by laws only, {len(unnoticed)} unnoticed"
    return f"Ownership of stored conversations: {len(noticed)} mutants, {counts}", unnoticed


def write_report(summary: str, survivors: list[str], accepted: dict[str, str], owned: str) -> None:
    about = "Every row, rule, guard and action is broken on purpose; a law, a promise or a test should notice."
    lines = ["# Mutants", "", "<!-- Written by `make mutants`. -->", "", about, "", summary + ".", "", owned + ".", ""]
    if survivors:
        lines += ["| not noticed | why that is accepted |", "|---|---|"]
        lines += [f"| `{name}` | {accepted.get(name, '**unexplained**')} |" for name in survivors]
    REPORT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    assert Stage  # the tests need it importable before the machine is broken
    sys.exit(main())
