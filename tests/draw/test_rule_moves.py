"""The moves that the rules make."""

from __future__ import annotations

from duologue.core.machine import MACHINE
from duologue.draw.graph import REGIONS
from duologue.draw.rule_moves import rule_moves


def test_only_rules_of_the_machine_are_named() -> None:
    names = {rule.name for rule in MACHINE.rules}
    for region in REGIONS.values():
        for rule, source, target in rule_moves(region):
            assert rule in names
            assert source is not target
