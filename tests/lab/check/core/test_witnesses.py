"""Short traces of the real machine judge most mutants."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from duologue.core.leaves import Link
from duologue.core.machine import MACHINE, ROWS, Machine
from duologue.core.rules import RULES
from duologue.core.settings import PROFILES
from duologue.core.state import initial
from duologue.lab.check.core.abstract import abstract
from duologue.lab.check.core.promises import trigger_of
from duologue.lab.check.core.witnesses import Witness, about_row, about_rule, collect_witnesses, first_complaint
from tests.lab.check.core.broken_machines import LINK

RESUME = next(index for index, row in enumerate(ROWS) if row.name.startswith("link: suspended + ResumeRequested"))


@cache
def witnesses() -> tuple[list[Witness], set[int]]:
    return collect_witnesses("confirm", LINK, 300)


def test_every_row_that_fires_has_a_witness_in_whose_last_step_it_fires() -> None:
    found, fired = witnesses()
    assert RESUME in fired
    assert fired == {number for one in found for number in one.fired}


def test_a_witness_leads_from_the_beginning_to_its_step() -> None:
    found = next(one for one in witnesses()[0] if RESUME in one.fired)
    s = abstract(initial(LINK.narrow(PROFILES["confirm"])))
    for event in found.trace[:-1]:
        s = abstract(MACHINE.step(s, event)[0], LINK.late_turns)
    assert s.link is Link.SUSPENDED is found.leaves[0]
    assert MACHINE.step(s, found.trace[-1])[0].link is Link.UP


def test_the_real_machine_gives_no_cause_for_complaint() -> None:
    few = [(0, one) for one in witnesses()[0][::40]]
    assert first_complaint(Machine(), {0: LINK}, few) is None


def test_a_mutant_is_noticed_in_the_step_of_its_row() -> None:
    rows = (*ROWS[:RESUME], *ROWS[RESUME + 1 :])
    about = [(0, one) for one in about_row(ROWS[RESUME], witnesses()[0]) if RESUME in one.fired]
    found = first_complaint(Machine(rows), {0: LINK}, about)
    assert found is not None
    assert found.law == "promise"
    assert found.trace[-1].startswith("ResumeRequested")


def test_a_mutant_is_noticed_in_what_follows_its_step() -> None:
    """Nothing is wrong with the step itself, because no promise is asked: the state after it has no way out."""
    stuck = replace(ROWS[RESUME], target=Link.HEALING)
    about = [(0, one) for one in about_row(ROWS[RESUME], witnesses()[0]) if RESUME in one.fired]
    assert first_complaint(Machine((*ROWS[:RESUME], stuck, *ROWS[RESUME + 1 :])), {0: LINK}, about) is not None


def test_a_row_is_also_looked_for_where_its_guard_forbids_it() -> None:
    guarded = next(row for row in ROWS if row.name.startswith("link: up/healing + SessionEnded [renewal_is_pending]"))
    number = ROWS.index(guarded)
    found = list(about_row(guarded, witnesses()[0]))
    assert all(trigger_of(one.trace[-1]) in guarded.on for one in found)
    assert any(number not in one.fired for one in found)


def test_a_rule_has_the_witnesses_that_fire_it() -> None:
    clear = -1 - next(index for index, rule in enumerate(RULES) if rule.name == "clear")
    found = list(about_rule(clear, witnesses()[0]))
    assert found
    assert all(clear in one.fired for one in found)
