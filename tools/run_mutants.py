"""Change the machines in every small way and check that each change is noticed: `make mutants`.

Cheapest first, and each mutant only until something notices it. A mutant of the core or of hearing takes the traces in
which the real machine's row or rule fires, with all laws and promises (`lab.check.core.witnesses`,
`lab.check.hearing.witnesses`). If none complains, the tests run that name its events most often, then all tests of its
machine: these take seconds. Only what is still unnoticed is explored in the scopes in which its row fires, up to the
first violation, and at last the tests run that use its machine in a whole call. A mutant that goes unnoticed must be
listed, with a reason, in tools/accepted_mutants.toml. What was found is stored in build/mutants.json under the name of
each mutant, so a run that was ended (`--minutes`) is continued by the next one, and `--only` judges one machine. A
change of the code of a machine, or of its laws, begins anew with this machine. `--keep` doesn't begin anew: use it
after a change that left rows, laws, promises and tests as they were. Writes docs/mutants.md, which says how many of the
mutants were judged.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import multiprocessing
import os
import pickle
import random
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import track

from duologue.core.leaves import Timer
from duologue.core.machine import MACHINE, ROWS, Machine
from duologue.core.rules import RULES
from duologue.core.settings import PROFILES
from duologue.hearing.machine import HEARING, HEARING_ROWS
from duologue.lab.check.core.check import CoreExplorer, Violation
from duologue.lab.check.core.laws import PROMISE_IS_KEPT
from duologue.lab.check.core.mutants import Mutant, mutants
from duologue.lab.check.core.scopes import QUICK, SMALL
from duologue.lab.check.core.witnesses import Witness, about_row, about_rule, collect_witnesses, first_complaint
from duologue.lab.check.hearing.mutants import hearing_mutants, is_noticed_by_laws
from duologue.lab.check.hearing.scopes import SMALL as HEARING_SCOPES
from duologue.lab.check.hearing.witnesses import (
    HearingWitness,
    collect_hearing_witnesses,
    witnesses_of,
)
from duologue.lab.check.hearing.witnesses import first_complaint as first_complaint_of_hearing
from duologue.lab.check.ownership.mutants import ownership_mutants, what_notices
from duologue.lab.sim.stage import Stage

ROOT = Path(__file__).parent.parent
ACCEPTED = ROOT / "tools" / "accepted_mutants.toml"
REPORT = ROOT / "docs" / "mutants.md"
FOUND = ROOT / "build" / "mutants.json"
WITNESSES = ROOT / "build" / "witnesses.pickle"
HEARING_WITNESSES = ROOT / "build" / "hearing_witnesses.pickle"
# For each machine, the code on which the judgements depend.
CODE = {
    "core": ("core", "lab/check/core", "lab/check/explore.py"),
    "hearing": ("core", "hearing", "turns", "lab/check/hearing", "lab/check/explore.py"),
    "ownership": ("server/ownership", "lab/check/ownership", "lab/check/explore.py"),
}
SHARE_MIN = 0.95
STATES_MAX = 4_000
WITNESS_STATES_MAX = 2_500  # of each exploration of the real machine that collects witnesses
WITNESSES_MAX = 150  # of one mutant
HEARING_WITNESS_STATES_MAX = 400
HEARING_WITNESSES_MAX = 24
# Cheapest first: most mutants are noticed within a second.
_EXPLORATIONS = (
    ("confirm", QUICK[2]),
    ("confirm", QUICK[3]),
    ("confirm", QUICK[4]),
    ("immediate", QUICK[4]),
    ("confirm", QUICK[1]),
    ("immediate", QUICK[1]),
    ("confirm", QUICK[7]),
    ("confirm", QUICK[8]),
    ("confirm", QUICK[6]),
    ("confirm", QUICK[0]),
    ("confirm", QUICK[5]),
    ("words", SMALL[1]),
)
# Tests of a machine itself. Not those that save and load values: they are slow and don't use the rows.
_CORE_TESTS = ("tests/core", "--ignore=tests/core/test_properties.py", "--ignore=tests/core/test_codec.py")
_HEARING_TESTS = ("tests/hearing", "--ignore=tests/hearing/test_codec.py")
# Tests that use a machine in a whole call.
_CORE_CALLS = ("tests/graveyard", "tests/core/test_properties.py")
_HEARING_CALLS = tuple(
    f"tests/runtime/test_{name}.py"
    for name in (
        "hearing", "hearing_orders", "hearing_sound", "early_answers", "words_over_firm_speech", "yes_too_early",
        "approval_too_early", "text_judge", "asking_early", "late_finals", "lost_ends", "lost_questions",
        "send_means_send", "long_talk", "coughs_without_empty_finals", "unreliable_ears",
    )
)  # fmt: skip
_SLOW_TESTS = ("test_properties.py", "test_codec.py")
_TEST_FILES_MAX = 4  # of the tests that name an event of a mutant's row, those that name it most often
NOTICED_BY = ("laws", "promises", "tests")
FIRED: dict[int, set[int]] = {}  # for each exploration, the numbers of the rows and rules that fire in it
SEEN: dict[int, list[Witness]] = {}  # for each exploration, its witnesses
HEARD: list[HearingWitness] = []


# -- What notices a mutant; each runs in its own process


def judge_core(number: int) -> tuple[int, str]:
    """What notices this mutant of the core in an exploration or a whole call: laws, promises, tests, or nothing
    ("")."""
    mutant = ALL["core"][number]
    by = _noticed(_judge_by_exploring, mutant)
    if not by:
        MACHINE.load(mutant.rows, mutant.rules)
        by = _run_tests(_CORE_CALLS)
    return number, by


def judge_core_by_witnesses(number: int) -> tuple[int, str | None]:
    """What notices this mutant of the core on a witness: laws or promises. None: it isn't judged yet."""
    return number, _noticed(_judge_by_witnesses, ALL["core"][number]) or None


def judge_core_by_some_tests(number: int) -> tuple[int, str | None]:
    """Do those tests notice this mutant of the core that name its events or timers? None: it isn't judged yet."""
    mutant = ALL["core"][number]
    if mutant.kind.endswith("rule"):
        return number, None
    wanted = [
        trigger.name if isinstance(trigger, Timer) else trigger.__name__ for trigger in ROWS[number_of(mutant)].on
    ]
    files = [path for path in sorted((ROOT / "tests" / "core").glob("test_*.py")) if path.name not in _SLOW_TESTS]
    named = {path: sum(path.read_text().count(f".{name}") for name in wanted) for path in files}
    most = sorted((path for path in files if named[path]), key=lambda path: -named[path])[:_TEST_FILES_MAX]
    MACHINE.load(mutant.rows, mutant.rules)
    return number, (most and _run_tests(tuple(str(path) for path in most))) or None


def judge_core_by_tests(number: int) -> tuple[int, str | None]:
    """Do the tests of the core notice this mutant? None: it isn't judged yet."""
    mutant = ALL["core"][number]
    MACHINE.load(mutant.rows, mutant.rules)
    return number, _run_tests(_CORE_TESTS) or None


def _noticed(judge: Callable[[Mutant], str], mutant: Mutant) -> str:
    try:
        return judge(mutant)
    except Exception:  # noqa: BLE001 (a machine that raises has been noticed)
        return "laws"


def number_of(mutant: Mutant) -> int:
    """The number of the row or rule that this mutant breaks: a row's index, or -1 minus a rule's index."""
    if mutant.kind.endswith("rule"):
        return -1 - next(index for index, rule in enumerate(RULES) if rule.name == mutant.name)
    return next(index for index, row in enumerate(ROWS) if row.name == mutant.name)


def _judge_by_witnesses(mutant: Mutant) -> str:
    scopes = {place: scope for place, (_, scope) in enumerate(_EXPLORATIONS)}
    found = first_complaint(Machine(mutant.rows, mutant.rules), scopes, witnesses_for(mutant))
    return "" if found is None else _noticed_by(found)


def witnesses_for(mutant: Mutant) -> list[tuple[int, Witness]]:
    """The traces that may notice this mutant, shortest first. Those in which its row or rule fires come first. Without
    its guard, a row may fire in the others."""
    number = number_of(mutant)
    found = []
    for place, witnesses in SEEN.items():
        about = about_rule(number, witnesses) if number < 0 else about_row(ROWS[number], witnesses)
        found += [(place, one) for one in about]
    found.sort(key=lambda one: (len(one[1].trace), one[0]))
    fires = [one for one in found if number in one[1].fired]
    others = [one for one in found if number not in one[1].fired]
    if mutant.kind == "drop guard":
        fires, others = others, fires
    return fires[:WITNESSES_MAX] + others[: WITNESSES_MAX // 3]


def _judge_by_exploring(mutant: Mutant) -> str:
    number = number_of(mutant)
    machine = Machine(mutant.rows, mutant.rules)
    for place, (name, scope) in enumerate(_EXPLORATIONS):
        if number in FIRED.get(place, (number,)):
            found = CoreExplorer(PROFILES[name], scope, machine=machine, violations_max=1).run(STATES_MAX)
            if found.violations:
                return _noticed_by(found.violations[0])
    return ""


def _noticed_by(violation: Violation) -> str:
    return "promises" if violation.law == PROMISE_IS_KEPT else "laws"


def fired_in(place: int) -> tuple[int, list[Witness], set[int]]:
    """The witnesses of this exploration of the real machine, and the numbers of what fires in it."""
    name, scope = _EXPLORATIONS[place]
    witnesses, fired = collect_witnesses(name, scope, WITNESS_STATES_MAX)
    return place, witnesses, fired


def judge_hearing_by_witnesses(number: int) -> tuple[int, str | None]:
    """Does a law notice this mutant of the hearing machine on a witness? None: it isn't judged yet."""
    mutant = ALL["hearing"][number]
    row = next(row for row in HEARING_ROWS if row.name == mutant.name)
    try:
        found = first_complaint_of_hearing(mutant.rows, witnesses_of(row, HEARD, HEARING_WITNESSES_MAX))
    except Exception:  # noqa: BLE001 (a machine that raises has been noticed)
        return number, "laws"
    return number, None if found is None else "laws"


def judge_hearing_by_tests(number: int) -> tuple[int, str | None]:
    """Do the tests of the hearing machine notice this mutant? None: it isn't judged yet."""
    HEARING.load(ALL["hearing"][number].rows)
    return number, _run_tests(_HEARING_TESTS) or None


def judge_hearing(number: int) -> tuple[int, str]:
    """What notices this mutant of the hearing machine in an exploration or a whole call: laws, tests, or nothing
    ("")."""
    mutant = ALL["hearing"][number]
    if is_noticed_by_laws(mutant):
        return number, "laws"
    HEARING.load(mutant.rows)
    return number, _run_tests(_HEARING_CALLS)


def judge_ownership(number: int) -> tuple[int, str]:
    """What notices this mutant of the ownership machine: promises, laws, or nothing ("")."""
    by = what_notices(ALL["ownership"][number])
    return number, by if by in ("", "promises") else "laws"


def _run_tests(tests: tuple[str, ...]) -> str:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        failed = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests])
    return "tests" if failed else ""


# -- The mutants


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


def title(machine: str, number: int) -> str:
    """How a mutant is called in the report and in accepted_mutants.toml."""
    mutant = ALL[machine][number]
    return f"{mutant.kind}: {mutant.row if machine == 'ownership' else mutant.name}"


SPEAKING = speaking()
ALL: dict[str, list[Any]] = {
    "core": [mutant for mutant in mutants() if is_distinct(mutant)],
    "hearing": list(hearing_mutants()),
    "ownership": list(ownership_mutants()),
}
# Each mutant that one judge leaves open goes to the next.
JUDGES: dict[str, tuple[Callable[[int], tuple[int, str | None]], ...]] = {
    "core": (judge_core_by_witnesses, judge_core_by_some_tests, judge_core_by_tests, judge_core),
    "hearing": (judge_hearing_by_witnesses, judge_hearing_by_tests, judge_hearing),
    "ownership": (judge_ownership,),
}


# -- What was found so far


class Found:
    """What noticed each mutant, stored in a file: for each machine, the digest of its code, and the name of each mutant
    with what noticed it. With `keep`, what other code has found is kept."""

    def __init__(self, path: Path, keep: bool = False) -> None:
        self.path = path
        self.code = {machine: digest_of_code(machine) for machine in ALL}
        self.noticed: dict[str, dict[int, str]] = {machine: {} for machine in ALL}
        known = json.loads(path.read_text()) if path.exists() else {}
        for machine in ALL:
            stored = known.get(machine, {})
            if keep or stored.get("code") == self.code[machine]:
                names = stored.get("noticed", {})
                numbers = enumerate(title(machine, number) for number in range(len(ALL[machine])))
                self.noticed[machine] = {number: names[name] for number, name in numbers if name in names}

    def note(self, machine: str, number: int, by: str) -> None:
        self.noticed[machine][number] = by
        self.save()

    def save(self) -> None:
        stored = {
            machine: {
                "code": self.code[machine],
                "noticed": {title(machine, number): by for number, by in sorted(found.items())},
            }
            for machine, found in self.noticed.items()
        }
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(json.dumps(stored, indent=1))

    def unnoticed(self, machine: str) -> list[int]:
        return [number for number, by in sorted(self.noticed[machine].items()) if not by]

    def share(self, machine: str) -> float:
        """The share of the judged mutants that was noticed."""
        return 1 - len(self.unnoticed(machine)) / max(len(self.noticed[machine]), 1)

    def is_whole(self) -> bool:
        return all(len(self.noticed[machine]) == len(ALL[machine]) for machine in ALL)

    def summary(self, machine: str) -> str:
        noticed = self.noticed[machine].values()
        counts = ", ".join(f"{sum(one == by for one in noticed)} by {by}" for by in NOTICED_BY if by in noticed)
        count = f"{len(noticed)} of {len(ALL[machine])}" if len(noticed) < len(ALL[machine]) else f"{len(noticed)}"
        missed = len(self.unnoticed(machine))
        return f"{machine}: {count} mutants, noticed {counts}; {missed} unnoticed ({self.share(machine):.1%} noticed)"


def digest_of_code(machine: str) -> str:
    digest = hashlib.sha256()
    for name in CODE[machine]:
        place = ROOT / "src" / "duologue" / name
        for path in sorted(place.rglob("*.py")) if place.is_dir() else (place,):
            digest.update(path.read_bytes())
    return digest.hexdigest()


# -- The run


def judge(
    machine: str, found: Found, wanted: list[int], end_at: float, processes: int | None, console: Console
) -> None:
    """Judge these mutants in so many processes, until the time is over."""
    context = multiprocessing.get_context("fork")
    for judge_one in JUDGES[machine]:
        wanted = [number for number in wanted if number not in found.noticed[machine]]
        with context.Pool(processes or os.cpu_count(), maxtasksperchild=1) as pool:
            waiting = pool.imap_unordered(judge_one, wanted)
            for number, by in track(waiting, total=len(wanted), description=machine, console=console):
                if by is not None:
                    found.note(machine, number, by)
                if by == "":
                    console.print(f"[yellow]unnoticed:[/] {title(machine, number)}", highlight=False)
                if time.monotonic() > end_at:
                    console.print(f"{machine}: time is over")
                    pool.terminate()
                    return


def learn_what_fires(code: str, processes: int | None) -> None:
    """Explore the real machine a little, once, to know which traces and explorations may notice a mutant of the core.
    A row that fires in none of these explorations is looked for in all of them."""
    known = pickle.loads(WITNESSES.read_bytes()) if WITNESSES.exists() else {}
    if known.get("code") != code:
        known = {"code": code, "found": {}}
    missing = [place for place in range(len(_EXPLORATIONS)) if place not in known["found"]]
    with multiprocessing.get_context("fork").Pool(processes or os.cpu_count(), maxtasksperchild=1) as pool:
        for place, witnesses, fired in pool.imap_unordered(fired_in, missing):
            known["found"][place] = witnesses, fired
            WITNESSES.parent.mkdir(exist_ok=True)
            WITNESSES.write_bytes(pickle.dumps(known))
    fires = {number for _, fired in known["found"].values() for number in fired}
    for place, (witnesses, fired) in sorted(known["found"].items()):
        SEEN[place] = witnesses
        FIRED[place] = fired | (set(range(-len(RULES), len(ROWS))) - fires)


def collect_heard(name: str) -> list[HearingWitness]:
    """The witnesses of one scope of hearing."""
    return collect_hearing_witnesses(name, HEARING_WITNESS_STATES_MAX)


def learn_what_is_heard(code: str, processes: int | None) -> None:
    """Explore the real hearing machine a little, once, to know which traces may notice a mutant of it."""
    known = pickle.loads(HEARING_WITNESSES.read_bytes()) if HEARING_WITNESSES.exists() else {}
    if known.get("code") != code:
        names = [scope.name for scope in HEARING_SCOPES]
        with multiprocessing.get_context("fork").Pool(processes or os.cpu_count(), maxtasksperchild=1) as pool:
            known = {"code": code, "found": [one for found in pool.imap(collect_heard, names) for one in found]}
        HEARING_WITNESSES.parent.mkdir(exist_ok=True)
        HEARING_WITNESSES.write_bytes(pickle.dumps(known))
    HEARD.extend(known["found"])


def choose(machine: str, found: Found, given: argparse.Namespace) -> list[int]:
    """The numbers of the mutants to judge now, in random order. A run that is ended loses those that take longest."""
    numbers = list(range(len(ALL[machine])))
    random.Random(given.seed).shuffle(numbers)
    if given.sample:
        numbers = numbers[: given.sample]
    known = found.noticed[machine]
    if given.again:
        for number in found.unnoticed(machine):
            del known[number]
    return [number for number in numbers if number not in known]


def verdict(found: Found, console: Console) -> bool:
    """Print what was found. Are enough mutants noticed, and are all others accepted?"""
    accepted = tomllib.loads(ACCEPTED.read_text())["accepted"]
    unnoticed = {title(machine, number) for machine in ALL for number in found.unnoticed(machine)}
    judged = {title(machine, number) for machine in ALL for number in found.noticed[machine]}
    unexplained = sorted(unnoticed - set(accepted))
    needless = sorted((judged & set(accepted)) - unnoticed)
    for machine in ALL:
        console.print(found.summary(machine), highlight=False)
    for name in unexplained:
        console.print(f"[red]unnoticed and not accepted:[/] {name}", highlight=False)
    for name in needless:
        console.print(f"[yellow]accepted, but noticed:[/] {name}", highlight=False)
    enough = all(found.share(machine) >= SHARE_MIN for machine in ALL)
    return enough and not unexplained and not needless


def write_report(found: Found) -> None:
    """Write docs/mutants.md. If a machine has no judged mutants, its row stays as an earlier run has written it."""
    earlier = REPORT.read_text().splitlines() if REPORT.exists() else []
    accepted = tomllib.loads(ACCEPTED.read_text())["accepted"]
    about = "Every row, rule, guard and action is broken on purpose; a law, a promise or a test should notice."
    lines = ["# Mutants", "", "<!-- Written by `make mutants`. -->", "", about, ""]
    lines += ["| machine | mutants | judged | noticed by laws | by promises | by tests only | unnoticed | noticed |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for machine in ALL:
        noticed = list(found.noticed[machine].values())
        kept = [line for line in earlier if line.startswith((f"| {machine} |", f"| {machine} (earlier run) |"))]
        if kept and not noticed:
            lines += [kept[0].replace(f"| {machine} |", f"| {machine} (earlier run) |")]
            continue
        counts = [str(noticed.count(by)) for by in (*NOTICED_BY, "")]
        share = f"{found.share(machine):.1%}" if noticed else "not run"
        lines += [f"| {machine} | {len(ALL[machine])} | {len(noticed)} | {' | '.join(counts)} | {share} |"]
    if not found.is_whole():
        lines += ["", "Where not all were judged, the share is too good: mutants that are hard to notice come last."]
    survivors = [title(machine, number) for machine in ALL for number in found.unnoticed(machine)]
    names = {
        title(machine, number) for machine in ALL if not found.noticed[machine] for number in range(len(ALL[machine]))
    }
    survivors += sorted(name for name in names if any(line.startswith(f"| `{name}` |") for line in earlier))
    if survivors:
        lines += ["", "| not noticed | why that is accepted |", "|---|---|"]
        lines += [f"| `{name}` | {accepted.get(name, '**unexplained**')} |" for name in survivors]
    REPORT.write_text("\n".join(lines) + "\n")


def main() -> int:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--only", choices=tuple(ALL), help="judge the mutants of this machine only")
    ask.add_argument("--minutes", type=float, default=600.0, help="stop after this time; the next run continues")
    ask.add_argument("--processes", type=int, help="judge in so many processes; by default, one for each core")
    ask.add_argument("--sample", type=int, default=0, help="judge only so many of each machine, drawn at random")
    ask.add_argument("--seed", type=int, default=0, help="which ones `--sample` draws")
    ask.add_argument("--keep", action="store_true", help="keep what was found before the code changed")
    ask.add_argument("--again", action="store_true", help="judge those again that were not noticed")
    given = ask.parse_args()
    console = Console()
    os.chdir(ROOT)
    found = Found(FOUND, given.keep)
    end_at = time.monotonic() + given.minutes * 60
    for machine in (given.only,) if given.only else tuple(ALL):
        wanted = choose(machine, found, given)
        if wanted and machine == "core":
            learn_what_fires(found.code["core"], given.processes)
        if wanted and machine == "hearing":
            learn_what_is_heard(found.code["hearing"], given.processes)
        if wanted and time.monotonic() < end_at:
            judge(machine, found, wanted, end_at, given.processes, console)
    holds = verdict(found, console)
    write_report(found)
    return 0 if holds else 1


if __name__ == "__main__":
    assert Stage  # the tests need it importable before the machine is broken
    sys.exit(main())
