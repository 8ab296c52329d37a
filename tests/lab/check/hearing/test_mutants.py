"""Mutants of the hearing machine differ from it in one place."""

from __future__ import annotations

from collections import Counter

from duologue.hearing.machine import HEARING_ROWS
from duologue.lab.check.hearing.check import HearingExplorer
from duologue.lab.check.hearing.mutants import hearing_mutants
from tests.lab.check.hearing.broken_hearing import TINY

ALL = list(hearing_mutants())


def test_every_row_has_mutants_and_every_mutant_differs_in_one_row() -> None:
    assert {mutant.name for mutant in ALL} == {row.name for row in HEARING_ROWS}
    for mutant in ALL:
        kept = sum(row in mutant.rows for row in HEARING_ROWS)
        assert kept == len(HEARING_ROWS) - 1, mutant.name


def test_there_are_mutants_of_every_kind() -> None:
    kinds = Counter(mutant.kind for mutant in ALL)
    assert set(kinds) == {"drop row", "drop guard", "negate guard", "mute action", "tell only", "swap action"}
    assert kinds["drop guard"] == kinds["negate guard"] == sum(row.when is not None for row in HEARING_ROWS)


def test_a_mutant_is_noticed() -> None:
    mute = next(m for m in ALL if m.kind == "mute action" and m.name == "SpeechBegan -> begin_speech")
    assert HearingExplorer("confirm", TINY, mute.rows).run(states_max=500).violations
