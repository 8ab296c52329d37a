"""Scopes narrow what may happen, and keep everything that a row needs."""

from __future__ import annotations

from duologue.core.leaves import Overlap
from duologue.lab.check.hearing.scopes import QUICK, SCOPES, SMALL
from duologue.turns.endpoint import EasyTurnEndpoint
from duologue.turns.overlap import OVERLAP_RULES


def test_scopes_have_different_names_and_the_quick_ones_are_among_them() -> None:
    assert len(SCOPES) == len(SMALL)
    assert set(QUICK) < set(SMALL)


def test_a_scope_takes_the_settings_of_the_profile_without_check_ins() -> None:
    settings = SMALL[0].settings("words")
    assert settings.overlap is Overlap.WORDS
    assert settings.dead_air_ms == 0
    assert settings.talk_ms_max == 600_000


def test_a_scope_has_the_overlap_rule_of_the_profile_and_may_have_its_own_endpoint_policy() -> None:
    assert SCOPES["words"].policy("immediate").overlap == OVERLAP_RULES["immediate"]
    assert isinstance(SCOPES["easy"].policy("confirm").endpoint, EasyTurnEndpoint)
