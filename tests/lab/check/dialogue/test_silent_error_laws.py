"""Every law against silent error notices a machine that is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from duologue.dialogue.effects import Respond
from duologue.dialogue.events import DialogueEvent, UserMessage
from duologue.dialogue.flow import Domain
from duologue.dialogue.machine import step
from duologue.dialogue.state import DialogueState, Filled, Phase, TraceEvent, with_top
from duologue.lab.check.dialogue.alphabet import Alphabet
from duologue.lab.check.dialogue.domains import FINAL, LISTS, RATED, TWINS
from duologue.lab.check.dialogue.laws import name_of
from duologue.lab.check.dialogue.silent_error_laws import SILENT_ERROR_LAWS
from tests.lab.check.dialogue.broken_machines import Result, breaks


def fills_two(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
    """Writes what was said into a second slot as well."""
    after, effects = step(domain, state, event)
    top = after.top
    if isinstance(event, UserMessage) and top is not None and top.flow == "cup" and len(top.slots) == 1:
        ((_, filled),) = top.slots
        after = with_top(after, slots=(*top.slots, ("lid", filled)))
    return after, effects


def acts_after_a_no(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
    """Takes every no to a confirmation for a yes."""
    if state.phase is Phase.CONFIRMING and isinstance(event, UserMessage) and event.text == "no":
        event = replace(event, text="yes")
        after, effects = step(domain, state, event)
        return after, effects
    return step(domain, state, event)


def acts_on_a_question(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
    """Hears only the yes of "okay and that is free of charge right"."""
    if state.phase is Phase.CONFIRMING and isinstance(event, UserMessage) and event.text.startswith("okay and"):
        event = replace(event, text="yes")
    return step(domain, state, event)


def confirms_what_was_denied(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
    after, effects = step(domain, state, event)
    if state.top is not None and state.top.denied and isinstance(event, UserMessage):
        after = replace(after, trace=(*after.trace, TraceEvent("confirmed", 0, (("step", "sure"),))))
    return after, effects


def changes_what_was_done(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
    after, effects = step(domain, state, event)
    if state.top is not None and state.top.done and after.top is not None and after.top.id == state.top.id:
        after = with_top(after, slots=(("size", Filled("other")),))
    return after, effects


def prefers_saturday(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
    after, effects = step(domain, state, event)
    if isinstance(event, UserMessage) and "weekend" in event.text and after.top is not None and after.among:
        day = Filled(after.among[0], "this weekend", (0, 12), turn=after.turn_count)
        after = with_top(after, slots=(("coming", day),))
    return after, effects


def drops_the_wish(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
    """Hears only the range of a reply such as "this weekend, ideally Sunday", and takes its first day."""
    after, effects = step(domain, state, event)
    if isinstance(event, UserMessage) and "weekend, ideally" in event.text and after.top is not None:
        day = Filled("2025-12-06", "this weekend", (0, 12), turn=after.turn_count)
        after = with_top(after, slots=(("coming", day),))
    return after, effects


def takes_silently(domain: Domain, state: DialogueState, event: DialogueEvent) -> Result:
    """Puts items on a list without saying so."""
    after, effects = step(domain, state, event)
    return after, tuple(one for one in effects if not (isinstance(one, Respond) and one.text.endswith("noted.")))


BROKEN: dict[str, tuple[Alphabet, Callable[[Domain, DialogueState, DialogueEvent], Result]]] = {
    "one span one slot": (TWINS, fills_two),
    "a no never runs an action": (RATED, acts_after_a_no),
    "a question never runs an action": (RATED, acts_on_a_question),
    "a denied question is never confirmed": (FINAL, confirms_what_was_denied),
    "a final action runs once": (FINAL, changes_what_was_done),
    "a preference never chooses from a span": (TWINS, prefers_saturday),
    "a wish in a range is never dropped": (TWINS, drops_the_wish),
    "every item is read back": (LISTS, takes_silently),
}


@pytest.mark.req("D-07", "D-09", "D-14")
@pytest.mark.parametrize("law", BROKEN)
def test_a_law_notices_a_broken_machine(law: str) -> None:
    scene, stepper = BROKEN[law]
    assert breaks(law, scene, stepper)


def test_every_law_against_silent_error_is_tested() -> None:
    assert {name_of(law) for law in SILENT_ERROR_LAWS} == set(BROKEN)
