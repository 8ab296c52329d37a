"""Mutants: each differs from the real machine in one place."""

from __future__ import annotations

from duologue.core.machine import ROWS, Machine
from duologue.core.rules import RULES
from duologue.lab.check.core.mutants import mutants
from duologue.lab.check.core.promises import PROMISES
from tests.lab.check.core.promises.walks import applied_and_broken, walk


def test_each_mutant_differs_in_one_row_or_one_rule() -> None:
    for mutant in mutants():
        rows = len(ROWS) - sum(a is b for a in mutant.rows for b in ROWS)
        rules = len(RULES) - sum(a is b for a in mutant.rules for b in RULES)
        assert rows + rules == 1, mutant.name


def test_every_row_and_rule_is_dropped_once() -> None:
    kinds = [mutant.kind for mutant in mutants()]
    assert kinds.count("drop row") == kinds.count("redirect row") == len(ROWS)
    assert kinds.count("drop rule") == kinds.count("mute rule") == len(RULES)


def test_a_redirected_row_leads_to_another_leaf_of_its_region() -> None:
    redirected = [mutant for mutant in mutants() if mutant.kind == "redirect row"]
    for row, mutant in zip(ROWS, redirected, strict=True):
        changed = next(other for other in mutant.rows if all(other is not row for row in ROWS))
        assert changed.target is not row.target
        assert type(changed.target) is type(row.sources[0])


def test_a_muted_action_changes_the_state_but_has_no_effects() -> None:
    mutant = next(one for one in mutants() if one.kind == "mute action" and "[takes_floor] -> stopping" in one.name)
    _, broken = applied_and_broken(walk(Machine(mutant.rows, mutant.rules)), PROMISES)
    assert "an interruption stops playback in the same step" in broken
    assert "an interrupt request also counts while playback is stopping" not in broken
