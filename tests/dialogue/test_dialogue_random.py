"""Random dialogues break no law: many by seed, and hypothesis' machine to shrink those that do. And bad input."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from duologue.dialogue.commands import SetSlot, StartFlow
from duologue.dialogue.conditions import parse
from duologue.dialogue.effects import Respond
from duologue.dialogue.events import DialogueEvent, UserSaid
from duologue.dialogue.flow import CallFlow, Collect, Jump, JumpUnless, PerformAction, SayText
from duologue.dialogue.machine import TEXT_MAX, step
from duologue.dialogue.state import BUSY, DialogueState
from duologue.lab.check.dialogue.abstract import Given
from duologue.lab.check.dialogue.alphabet import Alphabet
from duologue.lab.check.dialogue.check import named
from duologue.lab.check.dialogue.confirmed_once import account
from duologue.lab.check.dialogue.domains import SCENES, TABLE, domain, flow
from duologue.lab.check.dialogue.laws import complaints
from duologue.lab.check.dialogue.observed_step import ObservedStep
from duologue.lab.check.dialogue.state_laws import state_complaints
from duologue.lab.sim.random_dialogues import MUMBLES, random_dialogue
from tests.dialogue.dialogue_flows import (
    FLIGHTS,
    OTHER,
    SIZE,
    TRANSFER,
    Talker,
    at_amount,
    at_confirmation,
    choice,
    talk,
)

SEEDS = 30
DOMAINS = {"flights": FLIGHTS, "transfer": TRANSFER, **{name: scene.domain for name, scene in SCENES.items()}}


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.req("D-06", "D-12", "D-13", "D-14")
def test_random_dialogues_break_no_law(name: str) -> None:
    broken: dict[tuple[str, str], list[str]] = {}
    for seed in range(SEEDS):
        dialogue = random_dialogue(DOMAINS[name], seed)
        for law, message, _ in dialogue.complaints:
            told = dialogue.told(law)
            if (law, message) not in broken or len(told) < len(broken[law, message]):
                broken[law, message] = [f"seed {seed}", *told]
    shown = [f"{law}: {message}\n    " + "\n    ".join(told) for (law, message), told in broken.items()]
    assert not broken, "\n".join(shown)


def test_a_dialogue_is_wholly_told_by_its_seed() -> None:
    once, again = random_dialogue(TRANSFER, 7), random_dialogue(TRANSFER, 7)
    assert once.events == again.events
    assert once.state == again.state


def test_people_finish_what_they_came_for() -> None:
    """Random is no excuse for never getting anywhere: flows end, actions run."""
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
        self.told: list[str] = []

    def _happen(self, event: DialogueEvent) -> None:
        before = replace(self.state, trace=())
        self.told.append(named(event))
        after, effects = step(self.scene.domain, before, event)
        seen = ObservedStep(self.scene.domain, before, event, after, effects)
        self.given, wrong = account(seen, self.given)
        found = [] if after is before else [*complaints(seen), *state_complaints(self.scene.domain, after)]
        assert not found, (found, self.told)
        assert not wrong, (wrong, self.told)
        self.state = after

    @rule(which=st.integers(0, 40))
    def somebody_says_something(self, which: int) -> None:
        said = list(self.scene.person(self.state))
        if said:
            self._happen(said[which % len(said)])

    @precondition(lambda self: self.state.phase in BUSY)
    @rule(which=st.integers(0, 40))
    def somebody_worked(self, which: int) -> None:
        answers = list(self.scene.workers(self.state))
        self._happen(answers[which % len(answers)])

    @rule(which=st.integers(0, 9))
    def something_comes_too_late(self, which: int) -> None:
        late = self.scene.stale()
        self._happen(late[which % len(late)])

    @rule(text=st.sampled_from(MUMBLES))
    def somebody_mumbles(self, text: str) -> None:
        self._happen(UserSaid(text, 0, "2025-12-03"))


@pytest.mark.parametrize("name", ["table", "codes", "pay", "rated"])
def test_whatever_happens_no_law_is_broken(name: str) -> None:
    machine = type("Talking", (Talking,), {"scene": SCENES[name]})
    checks = list(HealthCheck)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=15, stateful_step_count=20, deadline=None, derandomize=True, suppress_health_check=checks
        ),
    )


# -- Bad input


BAD = ("", "   \n\t", "x" * 100_000, "fifty " * 20_000, "\x00\xff\x1b[2J\x07", "東京へ fünf مرحبا пять 🎉", "\ud800")


@pytest.mark.parametrize("text", BAD, ids=["empty", "blank", "huge", "many", "binary", "mixed", "surrogate"])
@pytest.mark.parametrize("begin", [lambda: Talker(TRANSFER), at_amount, at_confirmation], ids=["rest", "slot", "yes"])
def test_bad_messages_harm_nothing(text: str, begin: type[Talker]) -> None:
    talker = begin()
    before = talker.slots
    talker.says(text)
    assert talker.slots == before
    assert talker.said or talker.asked_nlu
    assert all(len(one.content) <= TEXT_MAX for one in talker.state.messages)
    assert len(talker.state.heard) <= TEXT_MAX


def test_more_messages_than_can_wait_are_bounded() -> None:
    talker = at_amount().says("fifty").says(*(f"and {count}" for count in range(30)))
    assert len(talker.state.queue) == TRANSFER.queue_max


@pytest.mark.parametrize(
    "program",
    [
        (Jump("round", 0),),
        (JumpUnless("while", parse("size is None"), 2), Jump("round", 0)),
        (SayText("on", "And on."), Jump("round", 0)),
    ],
)
def test_a_flow_that_goes_round_without_asking_is_bounded_and_reported(program: tuple[Jump, ...]) -> None:
    talker = talk(*program)
    assert (talker.phase, talker.state.trouble and talker.state.trouble.type) == ("error", "FlowLoops")
    assert talker.says("cancel").phase == "idle"


def test_a_flow_that_goes_round_does_not_talk_for_ever() -> None:
    # Once: everything that a loop says until it is stopped is said: 250 times the same words.
    talker = talk(SayText("on", "And on."), Jump("round", 0))
    assert sum(isinstance(effect, Respond) for effect in talker.effects) < 20


def test_flows_that_call_each_other_without_end_are_reported() -> None:
    talker = Talker(domain(flow("task", CallFlow("again", "task")))).starts("task")
    assert talker.state.trouble is not None
    assert talker.state.trouble.type == "FlowsTooDeep"
    assert talker.says("cancel").phase == "idle"


def test_a_flow_that_goes_round_through_an_action_is_reported() -> None:
    # Once: every run is a wait, so nothing counts: it acts for ever and never asks.
    talker = talk(PerformAction("poll", "poll"), Jump("round", 0))
    for _ in range(1_000):
        if talker.phase == "error":
            break
        talker.done()
    assert talker.phase == "error"


def test_an_action_that_asks_for_what_it_has_is_reported() -> None:
    talker = talk(Collect("size", "size"), PerformAction("go", "go"), slots=(SIZE,)).says("small").done(needs=("size",))
    assert talker.state.trouble is not None
    assert talker.state.trouble.type == "ActionGoesRound"


def test_a_hidden_flow_is_not_started_by_asking() -> None:
    # Once: NLU may start it: only the names that exist are looked at, not those that are offered.
    about = domain(
        flow("shown", Collect("size", "size")), flow("inner", SayText("w", "In."), hidden=True), slots=(SIZE,)
    )
    assert "In." not in Talker(about).says("start that inner thing").means(StartFlow("inner")).said


def test_names_that_nobody_has_are_not_understood() -> None:
    talker = at_amount().says(OTHER).means(StartFlow("nowhere"), SetSlot("nothing", 1))
    assert (talker.phase, talker.state.misses) == ("waiting_for_slot", 1)


def test_a_value_for_another_task_is_a_miss() -> None:
    # Once: it counts as understood, so the ladder never ends; nothing is said about it.
    spec = choice("other", "a", "b")
    about = domain(flow("task", Collect("size", "size")), flow("other", Collect("other", "other")), slots=(SIZE, spec))
    assert Talker(about).starts("task").says(OTHER).means(SetSlot("other", "a")).state.misses == 1
