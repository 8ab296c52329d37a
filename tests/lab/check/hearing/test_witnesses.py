"""Witnesses of hearing: traces of the real machine that notice a mutant in the steps around its row."""

from __future__ import annotations

import pytest

from duologue.hearing.machine import HEARING_ROWS
from duologue.lab.check.hearing.laws import NO_WORD_NOWHERE
from duologue.lab.check.hearing.witnesses import (
    HearingWitness,
    collect_hearing_witnesses,
    first_complaint,
    witnesses_of,
)
from tests.lab.check.hearing.broken_hearing import changed


@pytest.fixture(scope="module")
def witnesses() -> list[HearingWitness]:
    return collect_hearing_witnesses("typed", 120)


def row(match: str) -> int:
    return next(index for index, one in enumerate(HEARING_ROWS) if match in one.name)


def test_a_witness_ends_with_the_step_in_which_its_rows_fire(witnesses: list[HearingWitness]) -> None:
    typed = [one for one in witnesses if row("-> take_typed") in one.fired]
    assert typed
    assert {type(one.trace[-1].stimulus).__name__ for one in typed} == {"Typed"}


def test_witnesses_in_which_the_row_fires_come_first_and_shortest_first(witnesses: list[HearingWitness]) -> None:
    number = row("-> hear_text")
    found = witnesses_of(HEARING_ROWS[number], witnesses, 6)
    fires = [number in one.fired for one in found]
    assert fires == sorted(fires, reverse=True)
    assert fires.count(True) == 6
    lengths = [len(one.trace) for one in found if number in one.fired]
    assert lengths == sorted(lengths)


def test_the_real_machine_is_not_complained_about(witnesses: list[HearingWitness]) -> None:
    assert first_complaint(HEARING_ROWS, witnesses[:20]) is None


def test_a_mutant_is_noticed_on_a_witness(witnesses: list[HearingWitness]) -> None:
    dropped = changed("-> hear_text", lambda _: None)
    found = first_complaint(dropped, witnesses_of(HEARING_ROWS[row("-> hear_text")], witnesses, 6))
    assert found is not None
    assert found.law == NO_WORD_NOWHERE
