"""What must hold of every step of a dialogue: the laws, each a function that says in one line what is wrong.

What must hold of every state is in `dialogue_states`, what an action may do with a yes in `dialogue_once`. Rule: a law
that nobody has seen bite is no law; tests break the machine on purpose for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from duologue.dialogue.commands import Affirm, Cancel, ClearSlot, CorrectSlot, Handoff, SetSlot, StartFlow
from duologue.dialogue.effects import HandOver, Save
from duologue.dialogue.english import ANY, Json
from duologue.dialogue.events import ActionDone, NothingSaid, Rejected, Understood, UserSaid, Validated, WorkFailed
from duologue.dialogue.flow import Assign, Collect, Confirm, PerformAction
from duologue.dialogue.machine import TEXT_MAX
from duologue.dialogue.matrix import MATRIX
from duologue.dialogue.requests import request_of
from duologue.dialogue.state import BUSY, TRACE_MAX, Instance, Phase, values_of
from duologue.dialogue.unconfirmed_values import is_unconfirmed

from .observed_step import ObservedStep, at_of, changed_in, dependants, used_by

Law: TypeAlias = Callable[[ObservedStep], Iterator[str]]
_ASKING = (Phase.WAITING_FOR_SLOT, Phase.CONFIRMING, Phase.ERROR)


def moves_along_the_matrix(seen: ObservedStep) -> Iterator[str]:
    for before, after in seen.moves:
        if (before, after) not in MATRIX:
            yield f"{before} -> {after}"
    if len(seen.after.trace) >= TRACE_MAX:  # its beginning is gone
        return
    ends = [seen.before.phase, *(after for _, after in seen.moves)]
    if [before for before, _ in seen.moves] != ends[:-1] or ends[-1] is not seen.after.phase:
        yield "a phase changed without a move"


def one_request_at_a_time(seen: ObservedStep) -> Iterator[str]:
    """Whoever is asked is asked for what the state waits for, and only then."""
    asked, waits = seen.requests, request_of(seen.domain, seen.after)
    if len(asked) > 1:
        yield f"{len(asked)} requests in one step"
    if asked and asked[-1] != waits:
        yield "a request that the state doesn't wait for"
    if waits is not None and not asked and seen.after.pending != seen.before.pending:
        yield "the state waits for a request that was never made"
    if asked and seen.after.phase not in BUSY:
        yield f"a request, and it rests in {seen.after.phase}"


def no_slot_is_lost(seen: ObservedStep) -> Iterator[str]:
    """Filled slots go with a correction of what they depend on, go back, clear, set and the end of a flow."""
    for before, after in seen.pairs():
        held = values_of(seen.after.kept if after is None else after.slots)
        lost = set(values_of(before.slots)) - set(held)
        if after is None and seen.restarts:
            continue
        left = lost - _may_go(seen, before, held, lost)
        if left and seen.goes_back:
            left = min((left - {name} - dependants(seen.domain, {name}) for name in before.asked), key=len)
        if left:
            yield f"{min(left)} was lost" if after else f"{min(left)} was not kept at the end of its flow"


def _may_go(seen: ObservedStep, before: Instance, held: dict[str, Json], lost: set[str]) -> set[str]:
    program = seen.domain.flows[before.flow].program
    emptied = {name for at in program if isinstance(at, Assign) for name, value in at.values if value is None}
    cleared = {command.slot for command in seen.commands if isinstance(command, ClearSlot)}
    at = program[before.at]
    if isinstance(at, Confirm) and at.on_no is not None and at.on_no < before.at:  # a no opens the questions again
        emptied |= {one.slot for one in program[at.on_no : before.at] if isinstance(one, Collect)}
    if before.confirm == seen.domain.patterns.check:  # a no to what was picked out of a message
        emptied |= {name for name, filled in before.slots if is_unconfirmed(filled)}
    if isinstance(seen.event, ActionDone):
        emptied |= {name for name, value in seen.event.outputs if value is None}
    changed = {name for name, value in values_of(before.slots).items() if name not in lost and held[name] != value}
    begun = changed | cleared | emptied
    return emptied | cleared | dependants(seen.domain, begun)


def validated_before_written(seen: ObservedStep) -> Iterator[str]:
    """A slot with a validator gets a new value only from its verdict, from a flow or from an action (D-06)."""
    before = {one.id: one for one in seen.before.stack}
    for one in seen.after.stack:
        old = values_of(before[one.id].slots) if one.id in before else {}
        for name, value in values_of(one.slots).items():
            spec = seen.domain.slots.get(name)
            if spec is None or not spec.validator or (name in old and old[name] == value):
                continue
            if not _is_checked(seen, one, name, value):
                yield f"{name} was written unchecked"


def _is_checked(seen: ObservedStep, one: Instance, name: str, value: Json) -> bool:
    event, given = seen.event, seen.before.values[:1]
    if given and given[0].slot == name:
        if isinstance(event, Validated) and event.value == value:
            return True
        if seen.before.reading_back and given[0].value == value:
            return True
    if isinstance(event, ActionDone) and value in [output for _, output in event.outputs]:
        return True
    program = seen.domain.flows[one.flow].program
    if any((name, value) in at.values for at in program if isinstance(at, Assign)):
        return True
    passed_on = any(filled.value == value for other in seen.before.stack for _, filled in other.slots)
    is_other = len(seen.before.stack) + len(seen.after.stack) > 2 or seen.restarts
    return value == ANY or (passed_on and is_other)


def one_key_for_one_run(seen: ObservedStep) -> Iterator[str]:
    """A run keeps its key however often it is tried; another run never has it."""
    for one in seen.after.stack:
        if one.id > seen.before.instances:
            continue
        if one.id not in [other.id for other in seen.before.stack]:
            yield "the number of a flow came back"
    for before, after in seen.pairs():
        if after is None or not isinstance(at := at_of(seen.domain, before), PerformAction):
            continue
        same = before.is_acting and after.is_acting and before.at == after.at and after.runs == before.runs
        failed = not before.needs and not before.confirm
        if same and failed and changed_in(before, after) & set(used_by(at, before)):
            yield "the same key for other values"
    for run in seen.runs:
        top = seen.after.stack[-1]
        old = next((one for one in seen.before.stack if one.id == top.id), None)
        at = at_of(seen.domain, top)
        same = old is not None and isinstance(at, PerformAction) and not changed_in(old, top) & set(used_by(at, old))
        goes_on = same and old is not None and old.is_acting and old.at == top.at
        if goes_on and old is not None and top.runs != old.runs and seen.before.phase is not Phase.EXECUTING_ACTION:
            yield "a run that is tried again has another key"
        if old is not None and not old.is_acting and top.runs <= old.runs:
            yield "another run has the same key"
        if not run.key.endswith(f":{top.runs}") or not run.key.startswith(f"{top.id}:"):
            yield f"key {run.key} is not made of the run"


def yes_to_what_was_asked(seen: ObservedStep) -> Iterator[str]:
    """A yes counts for the question that was open when it was said."""
    top = seen.before.top
    for step in seen.confirmed:
        was_open = (
            top is not None
            and at_of(seen.domain, top).step == step
            and seen.before.waiting_for is None
            and seen.before.phase in (Phase.CONFIRMING, Phase.UNDERSTANDING)
        )
        if not was_open:
            yield f"{step} was confirmed before it was asked"
    after = seen.after.top
    if top is None or after is None or top.id != after.id or top.at != after.at or not after.confirm:
        return
    at = at_of(seen.domain, after)
    if (
        isinstance(at, PerformAction)
        and top.confirm == after.confirm
        and changed_in(top, after) & set(used_by(at, top))
    ):
        yield "an action's question is asked again though its values have changed"


def always_a_question(seen: ObservedStep) -> Iterator[str]:
    """Whoever is waited for has been asked, once, and last."""
    asking = [one for one in seen.said if one.asks]
    if seen.after.phase in _ASKING and seen.after is not seen.before:
        if not asking:
            yield f"it rests in {seen.after.phase} and asks nothing"
        elif not seen.said[-1].asks:
            yield "something is said after the question"
    if len(asking) > 1 and not seen.before.queue:
        yield f"{len(asking)} questions at once"


def each_question_counts_anew(seen: ObservedStep) -> Iterator[str]:
    """Whoever was not understood once is not told so at the next question."""
    before, after = seen.before.top, seen.after.top
    if after is None or seen.after.phase not in _ASKING:
        return
    same = before is not None and (before.id, before.at) == (after.id, after.at)
    if (seen.after.misses or seen.after.silences or seen.after.tries) and not same:
        yield "a miss of one question counts for the next"


def what_was_in_vain_counts(seen: ObservedStep) -> Iterator[str]:
    """As long as a question stays open, its tries only grow, and they grow with whatever was no answer. Since they are
    bounded, no question is asked for ever. What was said before it was asked is no answer of either kind, and there are
    only as many of those as wait."""
    before, after = seen.before, seen.after
    if before.top is None or after.top is None or after.phase not in (Phase.WAITING_FOR_SLOT, Phase.CONFIRMING):
        return
    was, now = ((one.top.id, one.top.at, one.waiting_for) for one in (before, after) if one.top is not None)
    if was != now or seen.confirmed or seen.restarts:
        return
    is_empty = isinstance(seen.event, UserSaid) and not seen.event.text.strip()
    is_unclear = isinstance(seen.event, Understood) and not seen.commands and not before.is_aside
    is_vain = before.phase is not Phase.ERROR and (
        isinstance(seen.event, NothingSaid | Rejected) or is_empty or is_unclear
    )
    if is_vain and after.tries <= before.tries:
        yield f"{type(seen.event).__name__} at a question that stays open counts for nothing"
    if after.tries < before.tries and after.slots == before.slots:
        yield "the tries of a question that stays open are forgotten"


def nothing_that_was_said_is_lost(seen: ObservedStep) -> Iterator[str]:
    """A message that comes while somebody works waits, or its refusal is told."""
    if not isinstance(seen.event, UserSaid) or seen.before.phase not in BUSY:
        return
    waits = seen.after.queue == (*seen.before.queue, seen.event.text[:TEXT_MAX])
    if not waits and (seen.after.queue != seen.before.queue or not seen.said):
        yield "a message was lost"


def every_message_is_answered(seen: ObservedStep) -> Iterator[str]:
    """A message leads to words or to a request, unless a flow ends that has no words for it."""
    if len(seen.after.stack) < len(seen.before.stack):
        return
    speaks = bool(seen.said) or any(isinstance(effect, HandOver) for effect in seen.effects)
    if isinstance(seen.event, UserSaid) and seen.before.phase not in BUSY and not speaks and not seen.requests:
        yield "a message got no answer"
    if isinstance(seen.event, Understood) and not seen.before.stack and not speaks and not seen.requests:
        yield "what was understood got no answer"


def nothing_understood_is_dropped(seen: ObservedStep) -> Iterator[str]:
    """Values for open questions are checked, written, or told to be wrong."""
    top = seen.before.top
    given = [command for command in seen.commands if isinstance(command, SetSlot | CorrectSlot)]
    ends = any(isinstance(command, Cancel | Handoff | StartFlow) for command in seen.commands)
    if top is None or ends or seen.goes_back or not given:
        return
    held = {(value.slot, repr(value.value)) for value in seen.after.values}
    for slots in (seen.after.kept, *(one.slots for one in seen.after.stack)):
        held |= {(name, repr(filled.value)) for name, filled in slots}
    if len(seen.after.queue) < len(seen.before.queue):  # another message was taken too, and may have changed it again
        changed = {name for name, _ in held}
        given = [command for command in given if command.slot not in changed]
    for command in given:
        wanted = command.slot in (*seen.domain.flows[top.flow].slots, *top.needs)
        early = wanted and seen.domain.slots[command.slot].ask_before_filling and command.slot not in top.asked
        if wanted and not early and (command.slot, repr(command.value)) not in held:
            yield f"{command.slot} was understood and dropped"


def a_failed_action_never_falls_through(seen: ObservedStep) -> Iterator[str]:
    top = seen.before.top
    if not isinstance(seen.event, WorkFailed) or seen.before.phase is not Phase.EXECUTING_ACTION or top is None:
        return
    at = at_of(seen.domain, top)
    if not isinstance(at, PerformAction) or at.on_failure is not None or seen.before.queue:
        return
    if seen.after.phase is not Phase.ERROR or seen.after.top is None or seen.after.top.at != top.at:
        yield f"{at.action} failed and the dialogue went on to {seen.after.phase}"


def tried_again_only_when_asked(seen: ObservedStep) -> Iterator[str]:
    """After a failure an action runs again by a retry, not by whatever is said next."""
    top, after = seen.before.top, seen.after.top
    if top is None or not top.is_acting or top.needs or top.confirm or not seen.runs:
        return
    if after is None or (after.id, after.at, after.runs) != (top.id, top.at, top.runs):
        return
    is_asked = any(isinstance(command, Affirm) for command in seen.commands)
    if isinstance(seen.event, Understood) and not is_asked:
        yield "a failed action runs again and nobody asked for it"
    if isinstance(seen.event, WorkFailed):
        yield "a failed action runs again by what was said before it failed"


def what_was_picked_out_is_heard_first(seen: ObservedStep) -> Iterator[str]:
    """An action uses what was picked out of a message only after the person could object."""
    top = seen.after.top
    for name, filled in top.slots if top is not None and seen.runs else ():
        if is_unconfirmed(filled):
            yield f"an action uses {name}, which nobody could object to"


def saved_in_time(seen: ObservedStep) -> Iterator[str]:
    """After each transition and response, and before an action (D-13)."""
    saves = [effect for effect in seen.effects if isinstance(effect, Save)]
    reasons = {reason for save in saves for reason in save.reasons}
    if saves and not isinstance(seen.effects[0], Save):
        yield "something is done before it is saved"
    for needed, is_due in (("transition", seen.moves), ("before_action", seen.runs), ("response", seen.said)):
        if is_due and needed not in reasons:
            yield f"not saved: {needed}"


LAWS: tuple[Law, ...] = (
    moves_along_the_matrix,
    one_request_at_a_time,
    no_slot_is_lost,
    validated_before_written,
    one_key_for_one_run,
    yes_to_what_was_asked,
    always_a_question,
    each_question_counts_anew,
    what_was_in_vain_counts,
    nothing_that_was_said_is_lost,
    every_message_is_answered,
    nothing_understood_is_dropped,
    a_failed_action_never_falls_through,
    tried_again_only_when_asked,
    what_was_picked_out_is_heard_first,
    saved_in_time,
)


def name_of(law: Callable[..., object]) -> str:
    """A law as a sentence."""
    return law.__name__.replace("_", " ")


def complaints(seen: ObservedStep) -> Iterator[tuple[str, str]]:
    """Which laws a step breaks, and how."""
    for law in LAWS:
        for message in law(seen):
            yield name_of(law), message
