"""Scopes only leave out: nothing that they leave in behaves differently."""

from __future__ import annotations

import pytest

from duologue.core.settings import PROFILES
from duologue.lab.check.core.scopes import SCOPES, CheckScope

ALL = [(size, scope) for size, scopes in SCOPES.items() for scope in scopes]


@pytest.mark.parametrize(("size", "scope"), ALL, ids=[f"{size}-{scope.name}" for size, scope in ALL])
@pytest.mark.parametrize("name", PROFILES)
def test_a_scope_lowers_limits_and_keeps_the_profile(size: str, scope: CheckScope, name: str) -> None:
    settings, narrowed = PROFILES[name], scope.narrow(PROFILES[name])
    assert (narrowed.name, narrowed.overlap) == (settings.name, settings.overlap)
    assert narrowed.jobs_max <= 2, size
    assert narrowed.faults_max <= settings.faults_max
    assert narrowed.check_ins_max <= settings.check_ins_max
    assert settings.retry_ms[: len(narrowed.retry_ms)] == narrowed.retry_ms


def test_no_event_is_left_out_by_every_scope() -> None:
    for scopes in SCOPES.values():
        assert not frozenset.intersection(*(scope.without for scope in scopes))


def test_the_scopes_of_a_size_have_different_names() -> None:
    for scopes in SCOPES.values():
        assert len({scope.name for scope in scopes}) == len(scopes)


def test_a_quick_scope_leaves_out_at_least_as_much_as_the_small_one() -> None:
    for quick, small in zip(SCOPES["quick"], SCOPES["small"], strict=True):
        assert quick.without >= small.without
