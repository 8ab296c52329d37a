"""The abstraction drops only what changes nothing."""

from __future__ import annotations

from duologue.dialogue.events import UserMessage
from duologue.dialogue.machine import step
from duologue.dialogue.state import DialogueState
from duologue.lab.check.dialogue.abstract import ABSTRACTION, fold
from duologue.lab.check.dialogue.domains import TABLE


def test_what_is_dropped_from_states_is_listed_and_changes_nothing() -> None:
    assert all(what and how for what, how in ABSTRACTION)
    state, _ = step(TABLE.domain, DialogueState(), UserMessage("so I'd like that", 7, "2025-12-03"))
    assert fold(fold(state)) == fold(state)
    assert fold(state).messages == ()
    assert fold(state).phase is state.phase
