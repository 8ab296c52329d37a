"""Random dialogues keep the laws."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from duologue.dialogue.events import DialogueEvent, UserMessage
from duologue.dialogue.machine import step
from duologue.dialogue.state import BUSY, DialogueState
from duologue.flows.load import load_flows
from duologue.lab.check.dialogue.abstract import Given
from duologue.lab.check.dialogue.alphabet import Alphabet
from duologue.lab.check.dialogue.check import named
from duologue.lab.check.dialogue.confirmed_once import account
from duologue.lab.check.dialogue.domains import SCENES, TABLE
from duologue.lab.check.dialogue.laws import complaints
from duologue.lab.check.dialogue.observed_step import ObservedStep
from duologue.lab.check.dialogue.state_laws import state_complaints
from duologue.lab.sim.random_dialogues import MUMBLES, random_dialogue
from tests.dialogue.dialogue_flows import (
    FLIGHTS,
    TRANSFER,
)

SEEDS = 30
EXAMPLES = Path(__file__).parents[3] / "examples"
DOMAINS = {"flights": FLIGHTS, "transfer": TRANSFER, **{name: scene.domain for name, scene in SCENES.items()}}


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.req("D-06", "D-12", "D-13", "D-14")
def test_random_dialogues_break_no_law(name: str) -> None:
    broken: dict[tuple[str, str], list[str]] = {}
    for seed in range(SEEDS):
        dialogue = random_dialogue(DOMAINS[name], seed)
        for law, message, _ in dialogue.complaints:
            lines = dialogue.described(law)
            if (law, message) not in broken or len(lines) < len(broken[law, message]):
                broken[law, message] = [f"seed {seed}", *lines]
    shown = [f"{law}: {message}\n    " + "\n    ".join(lines) for (law, message), lines in broken.items()]
    assert not broken, "\n".join(shown)


@pytest.mark.parametrize(
    ("example", "seed"),
    [*(("pizza", seed) for seed in (12, 157, 687, 776)), ("trains", 34), ("trains", 134), ("dentist", 2193)],
)
def test_no_slot_is_lost_in_dialogues_that_once_lost_one(example: str, seed: int) -> None:
    flows = load_flows(EXAMPLES / f"{example}.yaml")
    assert not random_dialogue(flows, seed).complaints


def test_a_seed_determines_the_whole_dialogue() -> None:
    once, again = random_dialogue(TRANSFER, 7), random_dialogue(TRANSFER, 7)
    assert once.events == again.events
    assert once.state == again.state


def test_random_users_complete_flows() -> None:
    """Random users get somewhere: flows are completed and actions run."""
    played = [random_dialogue(TABLE.domain, seed) for seed in range(40)]
    assert sum(one.completed for one in played) > 0
    assert sum(one.actions for one in played) > 0


class Talking(RuleBasedStateMachine):
    """The same events, one rule each, so that what breaks a law is shrunk to what it takes."""

    scene: Alphabet = TABLE

    def __init__(self) -> None:
        super().__init__()
        self.state = DialogueState()
        self.given: Given = frozenset()
        self.events: list[str] = []

    def happen(self, event: DialogueEvent) -> None:
        before = replace(self.state, trace=())
        self.events.append(named(event))
        after, effects = step(self.scene.domain, before, event)
        seen = ObservedStep(self.scene.domain, before, event, after, effects)
        self.given, wrong = account(seen, self.given)
        found = [] if after is before else [*complaints(seen), *state_complaints(self.scene.domain, after)]
        assert not found, (found, self.events)
        assert not wrong, (wrong, self.events)
        self.state = after

    @rule(which=st.integers(0, 40))
    def a_user_says_something(self, which: int) -> None:
        said = list(self.scene.person(self.state))
        if said:
            self.happen(said[which % len(said)])

    @precondition(lambda self: self.state.phase in BUSY)
    @rule(which=st.integers(0, 40))
    def a_request_is_answered(self, which: int) -> None:
        answers = list(self.scene.workers(self.state))
        self.happen(answers[which % len(answers)])

    @rule(which=st.integers(0, 9))
    def an_answer_comes_too_late(self, which: int) -> None:
        late = self.scene.stale()
        self.happen(late[which % len(late)])

    @rule(text=st.sampled_from(MUMBLES))
    def a_user_mumbles(self, text: str) -> None:
        self.happen(UserMessage(text, 0, "2025-12-03"))


@pytest.mark.parametrize("name", ["table", "codes", "pay", "rated"])
def test_no_sequence_of_events_breaks_a_law(name: str) -> None:
    machine = type("Talking", (Talking,), {"scene": SCENES[name]})
    checks = list(HealthCheck)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=15, stateful_step_count=20, deadline=None, derandomize=True, suppress_health_check=checks
        ),
    )
