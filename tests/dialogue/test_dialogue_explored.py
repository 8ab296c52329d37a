"""Every state of small dialogues keeps every law; and each law is worth what it notices of a broken machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest

from duologue.dialogue.codec import from_json, to_json
from duologue.dialogue.effects import DialogueEffect, Respond, RunAction, Save
from duologue.dialogue.events import ActionDone, DialogueEvent, NothingSaid, Understood, UserSaid, Validated, WorkFailed
from duologue.dialogue.flow import Domain, Instruction, PerformAction, SlotSpec
from duologue.dialogue.machine import step
from duologue.dialogue.matrix import MATRIX
from duologue.dialogue.requests import request_of
from duologue.dialogue.state import DialogueState, DialogueTrouble, Filled, Phase, TraceEvent, with_top
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.lab.check.dialogue.abstract import ABSTRACTION, fold
from duologue.lab.check.dialogue.alphabet import Alphabet
from duologue.lab.check.dialogue.check import (
    IMPOSSIBLE,
    DialogueExplorer,
    unseen_moves,
    unseen_rows,
)
from duologue.lab.check.dialogue.confirmed_once import LAW
from duologue.lab.check.dialogue.domains import MEANWHILE, PAY, RATED, ROUNDS, SCENES, TABLE, WISHES, domain, flow
from duologue.lab.check.dialogue.laws import LAWS, name_of
from duologue.lab.check.dialogue.state_laws import STATE_LAWS

Result = tuple[DialogueState, tuple[DialogueEffect, ...]]
Break = Callable[[DialogueState, DialogueEvent, DialogueState, tuple[DialogueEffect, ...]], Result]


CHECKPOINTED = ("codes", "order", "relay", "rounds", "rated", "wishes", "loops")
ACTS = Alphabet(domain(flow("acts", PerformAction("ping", "ping"))), meanwhile=(), has_values=False)


@cache
def explored(name: str) -> DialogueExplorer:
    explorer = DialogueExplorer(name, SCENES[name])
    explorer.run()
    return explorer


def _survives(domain: Domain, state: DialogueState) -> bool:
    """Is a state the same after it was kept as text, and whoever works asked for the same?"""
    again = from_json(domain, json.loads(json.dumps(to_json(domain, state))))
    return again == state and request_of(domain, again) == request_of(domain, state)


# -- The real machine


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.req("D-01", "D-06", "D-09", "D-12", "D-13", "D-14")
def test_every_state_keeps_every_law_and_survives_a_checkpoint(name: str) -> None:
    found = explored(name).found
    broken = [f"{one.law}: {one.message}\n    " + "\n    ".join(one.trace) for one in found.violations]
    assert found.complete
    assert not broken, f"{len(broken)} in {found.states} states\n" + "\n".join(broken)
    if name in CHECKPOINTED:
        assert all(_survives(explored(name).domain, state) for state, _ in explored(name).graph.states)


@pytest.mark.req("D-12")
def test_every_row_is_taken() -> None:
    assert unseen_rows([explored(name).found for name in SCENES]) == []


@pytest.mark.req("D-12")
def test_the_moves_that_are_made_are_those_of_the_matrix() -> None:
    found = [explored(name).found for name in SCENES]
    made = {move for one in found for move in one.moves}
    assert made <= MATRIX
    assert not made & set(IMPOSSIBLE)
    idle = [f"{before} -> {after}" for before, after in unseen_moves(found) if (before, after) not in IMPOSSIBLE]
    assert idle == [], "in the matrix, and never made"


def test_the_scenes_use_every_instruction_and_every_option() -> None:
    domains = [scene.domain for scene in SCENES.values()]
    programs = [one.program for domain in domains for one in domain.flows.values()]
    used = {type(at) for program in programs for at in program}
    assert used == set(Instruction.__args__)  # type: ignore[attr-defined]
    specs = [spec for domain in domains for spec in domain.slots.values()]
    of_grammars = {"names", "is_open", "hours", "is_past", "label", "name", "kind", "prompt"}
    for option in {one.name for one in fields(SlotSpec)} - of_grammars:
        assert len({repr(getattr(spec, option)) for spec in specs}) > 1, f"no scene uses {option}"


def test_what_is_left_out_of_states_is_told_and_changes_nothing() -> None:
    assert all(what and how for what, how in ABSTRACTION)
    state, _ = step(TABLE.domain, DialogueState(), UserSaid("so I'd like that", 7, "2025-12-03"))
    assert fold(fold(state)) == fold(state)
    assert fold(state).messages == ()
    assert fold(state).phase is state.phase


# -- Machines that are broken on purpose


def broken(change: Break) -> Callable[[Domain, DialogueState, DialogueEvent], Result]:
    def stepper(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        after, effects = step(domain, state, event)
        return (after, effects) if after is state else change(state, event, after, effects)

    return stepper


def laws_broken(scene: Alphabet, stepper: Callable[[Domain, DialogueState, DialogueEvent], Result]) -> set[str]:
    found = DialogueExplorer("broken", scene, stepper).run(states_max=250)
    return {one.law for one in found.violations}


def phase_by_itself(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return (replace(after, trace=()) if after.phase is not before.phase else after), effects


def asks_twice(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return after, (*effects, effects[-1])


def forgets_slots(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return (with_top(after, slots=()) if isinstance(event, NothingSaid) and after.stack else after), effects


def writes_at_once(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    if after.phase is Phase.VALIDATING_SLOT and after.values:
        value = after.values[0]
        return with_top(after, slots=((value.slot, Filled(value.value)),)), effects
    return after, effects


def another_key(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    if before.phase is Phase.ERROR and isinstance(effects[-1], RunAction) and after.top is not None:
        after = with_top(after, runs=after.top.runs + 1)
        return after, (*effects[:-1], replace(effects[-1], key=f"1:ping:{after.stack[-1].runs}"))
    return after, effects


def yes_to_everything(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    if after.phase is Phase.CONFIRMING:
        return replace(after, trace=(*after.trace, TraceEvent("confirmed", 0, (("step", "sure"),)))), effects
    return after, effects


def tells_instead_of_asking(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return after, tuple(replace(one, asks=False) if isinstance(one, Respond) else one for one in effects)


def remembers_misses(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return (replace(after, misses=1) if after.phase is Phase.CONFIRMING else after), effects


def mute(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return after, tuple(one for one in effects if not isinstance(one, Respond))


def never_saves(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return after, tuple(one for one in effects if not isinstance(one, Save))


def forgets_who_works(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return replace(after, pending=0), effects


def forgets_the_question(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return replace(after, waiting_for=None), effects


def keeps_misses_for_ever(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return (replace(after, misses=1) if after.phase is Phase.IDLE else after), effects


def keeps_candidates(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return (replace(after, among=("06:30", "18:30")) if after.waiting_for == "day" else after), effects


def acts_on_nothing(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return (with_top(after, slots=()) if after.phase is Phase.EXECUTING_ACTION else after), effects


def acts_on_scraps(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    if after.phase is Phase.EXECUTING_ACTION and after.top is not None:
        scraps = ((name, replace(filled, source=PICKED_OUT)) for name, filled in after.top.slots)
        return with_top(after, slots=tuple(scraps)), effects
    return after, effects


def writes_what_json_lacks(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return replace(after, metadata=(("place", (1, 2)),)), effects  # type: ignore[arg-type]


def hoards(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return (replace(after, queue=("and",) * 11) if after.phase is Phase.UNDERSTANDING else after), effects


def never_asks_again(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    if before.top is not None and after.top is not None and before.top.id == after.top.id:
        return with_top(after, confirmed=tuple({*before.top.confirmed, *after.top.confirmed})), effects
    return after, effects


def never_counts(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return replace(after, tries=0), effects


def drops_what_waits(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    return replace(after, queue=()), effects


def opens_twice(
    before: DialogueState, event: DialogueEvent, after: DialogueState, effects: tuple[DialogueEffect, ...]
) -> Result:
    twice = after.top is not None and len(after.stack) == 1 and isinstance(event, Understood)
    return (replace(after, stack=(*after.stack, replace(after.stack[0], id=9))) if twice else after), effects


BROKEN: dict[str, tuple[Alphabet, Break]] = {
    "moves along the matrix": (TABLE, phase_by_itself),
    "one request at a time": (TABLE, asks_twice),
    "no slot is lost": (RATED, forgets_slots),
    "validated before written": (TABLE, writes_at_once),
    "one key per run": (ACTS, another_key),
    "a yes answers the open question": (RATED, yes_to_everything),
    "waiting means that a question was asked": (TABLE, tells_instead_of_asking),
    "a new question starts its counts at zero": (RATED, remembers_misses),
    "every message is answered": (TABLE, mute),
    "saved in time": (TABLE, never_saves),
    "never stuck": (TABLE, forgets_who_works),
    "the question fits the step": (TABLE, forgets_the_question),
    "nothing is left over": (TABLE, keeps_misses_for_ever),
    "candidates belong to the open question": (WISHES, keeps_candidates),
    "an action has what its flow asked for": (PAY, acts_on_nothing),
    "unconfirmed values are announced before use": (PAY, acts_on_scraps),
    "a checkpoint restores the same state": (TABLE, writes_what_json_lacks),
    "everything is bounded": (TABLE, hoards),
    "every failed try is counted": (TABLE, never_counts),
    "no message is lost": (MEANWHILE, drops_what_waits),
    "a flow is started once": (TABLE, opens_twice),
    LAW: (ROUNDS, never_asks_again),
}


@pytest.mark.parametrize("law", BROKEN)
def test_a_law_bites(law: str) -> None:
    scene, change = BROKEN[law]
    assert law in laws_broken(scene, broken(change))


def test_a_value_that_is_dropped_is_noticed() -> None:
    def deaf(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        return step(domain, state, replace(event, commands=()) if isinstance(event, Understood) else event)

    assert "nothing understood is dropped" in laws_broken(TABLE, deaf)


def test_an_action_that_falls_through_is_noticed() -> None:
    def careless(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        is_failure = isinstance(event, WorkFailed) and state.phase is Phase.EXECUTING_ACTION
        return step(domain, state, ActionDone(event.request, (), 0) if is_failure else event)  # type: ignore[union-attr]

    assert "a failed action never falls through" in laws_broken(ACTS, careless)


def test_an_action_that_is_tried_again_unasked_is_noticed() -> None:
    def eager(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        if isinstance(event, Understood) and state.pending == event.request and state.top and state.top.is_acting:
            state = replace(state, phase=Phase.ERROR, trouble=DialogueTrouble("", "", 0, Phase.EXECUTING_ACTION))
            return step(domain, state, UserSaid("retry", 0, "2025-12-03"))
        return step(domain, state, event)

    assert "retried only on request" in laws_broken(ACTS, eager)


def test_whatever_a_step_raises_is_noticed() -> None:
    def brittle(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        assert not isinstance(event, Validated) or event.request != state.pending
        return step(domain, state, event)

    assert "a step never raises" in laws_broken(TABLE, brittle)


def test_a_late_answer_that_counts_is_noticed() -> None:
    def forgetful(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        return step(domain, state, replace(event, request=state.pending) if hasattr(event, "request") else event)

    assert "nothing stale" in laws_broken(MEANWHILE, forgetful)


def test_a_cancel_that_is_not_heard_is_noticed() -> None:
    def stubborn(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        is_cancel = isinstance(event, UserSaid) and event.text == "cancel"
        return step(domain, state, replace(event, text="help") if is_cancel else event)  # type: ignore[call-arg]

    assert "cancel leads to rest" in laws_broken(ACTS, stubborn)


def test_every_law_has_been_seen_to_bite() -> None:
    own = {"nothing understood is dropped", "a failed action never falls through", "retried only on request"}
    known: list[Any] = [*LAWS, *STATE_LAWS]
    assert {name_of(law) for law in known} <= {*BROKEN, *own}
