"""The report about dialogues: everything that no domain has done is a violation."""

from __future__ import annotations

import json
from itertools import product

import pytest

from duologue.dialogue.machine import ROWS
from duologue.dialogue.matrix import MATRIX
from duologue.dialogue.state import Phase
from duologue.lab.check.core.check import Violation
from duologue.lab.check.dialogue.check import IMPOSSIBLE, DialogueFindings
from duologue.lab.check.dialogue.domains import SCENES
from duologue.lab.check.dialogue.report import (
    LARGEST,
    LARGEST_FIRST,
    QUICK_STATES_MAX,
    explore_dialogue,
    sum_up_dialogues,
)


def complete() -> list[DialogueFindings]:
    """Explorations of all domains in which everything happened that should happen."""
    moves = set(MATRIX - IMPOSSIBLE.keys())
    return [DialogueFindings(name, 10, 20, rows={row.name for row in ROWS}, moves=set(moves)) for name in SCENES]


def test_explorations_that_did_everything_hold() -> None:
    report = sum_up_dialogues(complete())
    data = json.loads(json.dumps(report.to_json()))
    assert report.violations == ()
    assert (data["domains"], data["states"]) == (len(SCENES), 10 * len(SCENES))
    assert (data["rows_fired"], data["moves_made"]) == (data["rows"], data["moves"])


@pytest.mark.req("D-12")
def test_a_row_and_a_move_that_no_domain_has_are_violations() -> None:
    found = complete()
    move = min(found[0].moves)
    for one in found:
        one.rows.discard(ROWS[0].name)
        one.moves.discard(move)
    assert {seen.law for seen in sum_up_dialogues(found).violations} == {"every row is taken", "every move is made"}


@pytest.mark.req("D-12")
def test_a_move_that_the_matrix_lacks_or_that_is_called_impossible_is_a_violation() -> None:
    lacking = next(move for move in product(Phase, Phase) if move not in MATRIX)
    for move in (lacking, next(iter(IMPOSSIBLE))):
        found = complete()
        found[0].moves.add(move)
        assert [seen.law for seen in sum_up_dialogues(found).violations] == [
            "every move that was made is in the matrix"
        ]


def test_an_exploration_that_was_cut_off_and_a_broken_law_are_violations() -> None:
    found = complete()
    found[0].complete = False
    found[1].violations.append(Violation("a law", "is broken", ("first",)))
    assert {seen.law for seen in sum_up_dialogues(found).violations} == {"every state is explored", "a law"}


def test_one_domain_alone_has_no_duty_to_take_every_row() -> None:
    found = explore_dialogue(("relay", "quick"))
    assert found.states
    assert sum_up_dialogues([found], "quick").violations == ()


def test_a_quick_exploration_stops_early_and_only_a_quick_check_may() -> None:
    found = explore_dialogue(("again", "quick"))
    assert not found.complete
    assert QUICK_STATES_MAX < found.states < 2 * QUICK_STATES_MAX
    assert found.depth > 1
    assert sum_up_dialogues([found], "quick").violations == ()
    assert [seen.law for seen in sum_up_dialogues([found], "small").violations] == ["every state is explored"]


def test_the_largest_domains_are_explored_first() -> None:
    assert sorted(LARGEST_FIRST) == sorted(SCENES)
    assert LARGEST_FIRST[0] in LARGEST
    assert set(LARGEST) < set(SCENES)
