"""Every law notices a machine that is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duologue.dialogue.effects import DialogueEffect, Respond, RunAction, Save
from duologue.dialogue.events import ActionDone, DialogueEvent, NothingSaid, Understood, UserMessage, WorkFailed
from duologue.dialogue.flow import Domain
from duologue.dialogue.machine import step
from duologue.dialogue.state import DialogueState, DialogueTrouble, Filled, Phase, TraceEvent, with_top
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.lab.check.dialogue.alphabet import Alphabet
from duologue.lab.check.dialogue.check import DialogueExplorer
from duologue.lab.check.dialogue.confirmed_once import LAW
from duologue.lab.check.dialogue.domains import DOUBTS, MEANWHILE, PAY, RATED, ROUNDS, TABLE, WISHES
from duologue.lab.check.dialogue.laws import LAWS, name_of
from duologue.lab.check.dialogue.silent_error_laws import SILENT_ERROR_LAWS
from duologue.lab.check.dialogue.state_laws import STATE_LAWS
from tests.lab.check.dialogue.broken_machines import ACTS, Result, breaks

Break = Callable[[DialogueState, DialogueEvent, DialogueState, tuple[DialogueEffect, ...]], Result]


def broken(change: Break) -> Callable[[Domain, DialogueState, DialogueEvent], Result]:
    def stepper(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        after, effects = step(domain, state, event)
        return (after, effects) if after is state else change(state, event, after, effects)

    return stepper


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
def test_a_law_notices_a_broken_machine(law: str) -> None:
    scene, change = BROKEN[law]
    assert breaks(law, scene, broken(change))


def test_a_value_that_is_dropped_is_noticed() -> None:
    def deaf(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        return step(domain, state, replace(event, commands=()) if isinstance(event, Understood) else event)

    assert breaks("nothing understood is dropped", TABLE, deaf)


def test_an_action_that_falls_through_is_noticed() -> None:
    def careless(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        is_failure = isinstance(event, WorkFailed) and state.phase is Phase.EXECUTING_ACTION
        return step(domain, state, ActionDone(event.request, (), 0) if is_failure else event)  # type: ignore[union-attr]

    assert breaks("a failed action never falls through", ACTS, careless)


def test_a_doubtful_message_that_decides_is_noticed() -> None:
    def trusting(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        return step(domain, state, replace(event, confidence=1.0) if isinstance(event, UserMessage) else event)

    found = DialogueExplorer("broken", DOUBTS, trusting).run(states_max=250)
    noticed = {one.message for one in found.violations if one.law == "a doubtful message decides nothing"}
    assert noticed == {
        "a doubtful message confirms something",
        "a doubtful message cancels a task or hands it over",
        "an action runs because of a doubtful message",
    }


def test_an_unrequested_retry_is_noticed() -> None:
    def eager(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
        if isinstance(event, Understood) and state.pending == event.request and state.top and state.top.is_acting:
            state = replace(state, phase=Phase.ERROR, trouble=DialogueTrouble("", "", 0, Phase.EXECUTING_ACTION))
            return step(domain, state, UserMessage("retry", 0, "2025-12-03"))
        return step(domain, state, event)

    assert breaks("retried only on request", ACTS, eager)


def test_every_law_is_tested_with_a_broken_machine() -> None:
    own = {
        "nothing understood is dropped",
        "a failed action never falls through",
        "retried only on request",
        "a doubtful message decides nothing",
    }
    known: list[Any] = [law for law in (*LAWS, *STATE_LAWS) if law not in SILENT_ERROR_LAWS]
    assert {name_of(law) for law in known} <= {*BROKEN, *own}
