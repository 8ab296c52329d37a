"""Random callers in Spanish: no value is read wrong, and whole calls end with what the caller wanted."""

from __future__ import annotations

import pytest

from duologue.dialogue.language.readings import SlotKind
from duologue.dialogue.spanish.pack import SPANISH
from duologue.flows.load import load_flows
from tests.dialogue.random_callers import SPANISH_CALLER, call, score
from tests.needs import ROOT

REPLIES, CALLS = 150, 40


@pytest.mark.parametrize("kind", SPANISH_CALLER.frames)
def test_nothing_that_a_random_caller_says_is_read_wrong(kind: SlotKind) -> None:
    found = score(SPANISH, SPANISH_CALLER, kind, REPLIES, seed=7)
    assert found.wrong == ()
    assert found.direct + found.asked >= 0.95 * REPLIES, found.unread


def test_a_random_caller_gets_what_it_wanted() -> None:
    domain = load_flows(ROOT / "examples" / "dentist_es.yaml")
    for seed in range(CALLS):
        wanted, run = call(domain, SPANISH_CALLER, seed)
        assert {**dict(run.slots), **wanted} == dict(run.slots), seed
