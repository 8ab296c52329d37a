"""Every state of the smallest domains keeps every law, and the explorer notices a broken machine. `duologue check`
explores the larger domains too."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from duologue.dialogue.codec import from_json, to_json
from duologue.dialogue.events import DialogueEvent, UserMessage, Validated
from duologue.dialogue.flow import Domain
from duologue.dialogue.machine import step
from duologue.dialogue.requests import request_of
from duologue.dialogue.state import DialogueState
from duologue.lab.check.dialogue.check import DialogueExplorer
from duologue.lab.check.dialogue.domains import MEANWHILE, SCENES, TABLE
from tests.lab.check.dialogue.broken_machines import ACTS, Result, breaks

# A part of each of the others is explored by `duologue check --quick`, which runs beside the tests.
SMALLEST = ("relay", "again", *(pytest.param(name, marks=pytest.mark.sweep) for name in ("rounds", "wishes", "faq")))
CHECKPOINTED = ("relay", "rounds", "wishes")


@cache
def explored(name: str) -> DialogueExplorer:
    explorer = DialogueExplorer(name, SCENES[name])
    explorer.run()
    return explorer


def _survives(domain: Domain, state: DialogueState) -> bool:
    """Is a state restored from JSON the same, with the same request?"""
    again = from_json(domain, json.loads(json.dumps(to_json(domain, state))))
    return again == state and request_of(domain, again) == request_of(domain, state)


@pytest.mark.parametrize("name", SMALLEST)
@pytest.mark.req("D-01", "D-06", "D-09", "D-12", "D-13", "D-14")
def test_every_state_keeps_every_law_and_survives_a_checkpoint(name: str) -> None:
    found = explored(name).found
    broken = [f"{one.law}: {one.message}\n    " + "\n    ".join(one.trace) for one in found.violations]
    assert found.complete
    assert not broken, f"{len(broken)} in {found.states} states\n" + "\n".join(broken)
    if name in CHECKPOINTED:
        assert all(_survives(explored(name).domain, state) for state, _ in explored(name).graph.states)


def test_an_exception_in_a_step_is_noticed() -> None:
    def brittle(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        assert not isinstance(event, Validated) or event.request != state.pending
        return step(domain, state, event)

    assert breaks("a step never raises", TABLE, brittle)


def test_a_late_answer_that_counts_is_noticed() -> None:
    def forgetful(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        return step(domain, state, replace(event, request=state.pending) if hasattr(event, "request") else event)

    assert breaks("nothing stale", MEANWHILE, forgetful)


def test_an_ignored_cancel_is_noticed() -> None:
    def stubborn(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        is_cancel = isinstance(event, UserMessage) and event.text == "cancel"
        return step(domain, state, replace(event, text="help") if is_cancel else event)  # type: ignore[call-arg]

    assert breaks("cancel leads to rest", ACTS, stubborn)
