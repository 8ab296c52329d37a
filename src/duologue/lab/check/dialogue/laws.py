"""The laws that every step of a dialogue must keep. Each law is a function that yields one line per violation.

Laws about states are in `state_laws`, those against silent errors in `silent_error_laws`, and the law about
confirmations is in `confirmed_once`. Rule: for each law a test breaks the machine on purpose and shows that the law
notices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from duologue.dialogue.commands import Affirm, Cancel, ClearSlot, CorrectSlot, Handoff, SetSlot, StartFlow
from duologue.dialogue.effects import HandOver, Save
from duologue.dialogue.events import ActionDone, NothingSaid, Rejected, Understood, UserMessage, Validated, WorkFailed
from duologue.dialogue.flow import AnswerFromFaq, Assign, Collect, Confirm, Domain, PerformAction
from duologue.dialogue.found_choices import choices_in
from duologue.dialogue.item_lists import draft_in, items_in
from duologue.dialogue.language.readings import ANY, Json
from duologue.dialogue.machine import TEXT_MAX
from duologue.dialogue.matrix import MATRIX
from duologue.dialogue.requests import request_of
from duologue.dialogue.state import BUSY, TRACE_MAX, Instance, Phase, Slots, values_of
from duologue.dialogue.templates import chosen
from duologue.dialogue.unconfirmed_values import is_unconfirmed
from duologue.dialogue.value_patterns import is_match

from .observed_step import ObservedStep, at_of, changed_in, dependants, used_by
from .silent_error_laws import SILENT_ERROR_LAWS

Law: TypeAlias = Callable[[ObservedStep], Iterator[str]]
_ASKING = (Phase.WAITING_FOR_SLOT, Phase.CONFIRMING, Phase.ERROR)


def moves_along_the_matrix(seen: ObservedStep) -> Iterator[str]:
    for before, after in seen.moves:
        if (before, after) not in MATRIX:
            yield f"{before} -> {after} is not in the matrix"
    if len(seen.after.trace) >= TRACE_MAX:  # the beginning of the trace was cut off
        return
    ends = [seen.before.phase, *(after for _, after in seen.moves)]
    if [before for before, _ in seen.moves] != ends[:-1] or ends[-1] is not seen.after.phase:
        yield "a phase changed without a move"


def one_request_at_a_time(seen: ObservedStep) -> Iterator[str]:
    """Check that a step makes at most one request, and that the state after the step waits for this request."""
    asked, waits = seen.requests, request_of(seen.domain, seen.after)
    if len(asked) > 1:
        yield f"{len(asked)} requests in one step"
    if asked and asked[-1] != waits:
        yield "a request was made that the state doesn't wait for"
    if waits is not None and not asked and seen.after.pending != seen.before.pending:
        yield "the state waits for a request that was never made"
    if asked and seen.after.phase not in BUSY:
        yield f"a request was made, but the phase is {seen.after.phase}"


def no_slot_is_lost(seen: ObservedStep) -> Iterator[str]:
    """Check that a filled slot is emptied only for one of these reasons: the user wanted this (back, clear, restart or
    no), the flow or an action emptied the slot, the slot depends on another slot that has changed, it held a
    choice that an action no longer offers, or the agent asks which of several new values is meant or says that it takes
    the value again."""
    for before, after in seen.pairs():
        if after is None and seen.domain.list_of_item(before.flow) is not None:
            continue  # its values are on the list of the flow below
        held = values_of(seen.after.kept if after is None else (*after.slots, *after.lists))
        lost = set(values_of(before.slots)) - set(held)
        if after is None and seen.restarts:
            continue
        left = lost - _may_go(seen, before, held, lost)
        if left and seen.goes_back:
            left = min((left - {name} - dependants(seen.domain, {name}) for name in before.asked), key=len)
        if left:
            yield f"{min(left)} was lost" if after else f"{min(left)} was not stored at the end of its flow"


def _may_go(seen: ObservedStep, before: Instance, held: dict[str, Json], lost: set[str]) -> set[str]:
    program = seen.domain.flows[before.flow].program
    emptied = {name for at in program if isinstance(at, Assign) for name, value in at.values if value is None}
    cleared = {command.slot for command in seen.commands if isinstance(command, ClearSlot)}
    at = program[before.at]
    if isinstance(at, Confirm) and at.on_no is not None and at.on_no < before.at:  # a no repeats the questions
        emptied |= {one.slot for one in program[at.on_no : before.at] if isinstance(one, Collect)}
    if before.confirm == seen.domain.patterns.check:  # the user may reject values picked out of a message
        emptied |= {name for name, filled in before.slots if is_unconfirmed(filled)}
    if isinstance(seen.event, ActionDone):
        emptied |= {name for name, value in seen.event.outputs if value is None}
        emptied |= _no_longer_offered(seen, before, held)
    again = str(chosen(seen.domain.patterns.slot_again, 0)).partition("{")[0]
    is_told = any(one.text.startswith(again) for one in seen.said[:-1])
    if (seen.after.among or is_told) and seen.after.waiting_for is not None:
        emptied.add(seen.after.waiting_for)
    changed = {name for name, value in values_of(before.slots).items() if name not in lost and held[name] != value}
    begun = changed | cleared | emptied
    return emptied | cleared | dependants(seen.domain, begun)


def _no_longer_offered(seen: ObservedStep, before: Instance, held: dict[str, Json]) -> set[str]:
    """The slots with a choice that isn't among the choices which an action has just returned."""
    return {
        name
        for name, value in values_of(before.slots).items()
        if (spec := seen.domain.slots.get(name)) is not None
        and spec.choices_from
        and value not in [choice.value for choice in choices_in(held.get(spec.choices_from))]
    }


def validated_before_written(seen: ObservedStep) -> Iterator[str]:
    """Check that a slot with a validator gets a new value only if its validator accepted the value, or if a flow or an
    action set it."""
    before = {one.id: one for one in seen.before.stack}
    for one in seen.after.stack:
        ended = seen.before.ended  # a task that was opened again has the values that it had at its end
        old = values_of(before[one.id].slots) if one.id in before else values_of(ended.slots) if ended else {}
        for name, value in values_of(one.slots).items():
            spec = seen.domain.slots.get(name)
            if spec is None or not spec.validator or (name in old and old[name] == value):
                continue
            if not _is_checked(seen, one, name, value):
                yield f"{name} was written without validation"


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
    if seen.domain.list_of_item(one.flow) is not None and value in _listed_values(seen.domain, seen.before.stack, name):
        return True  # of an item that is changed
    passed_on = any(filled.value == value for other in seen.before.stack for _, filled in other.slots)
    is_other = len(seen.before.stack) + len(seen.after.stack) > 2 or seen.restarts
    return value == ANY or (passed_on and is_other)


def _listed_values(domain: Domain, stack: tuple[Instance, ...], name: str) -> list[Json]:
    """The values of the slot `name` in all items of all lists, unfinished or finished. With two pizzas on a list, the
    values of the slot "size" could be "large" and "small"."""
    items = [item for one in stack for slot, _ in one.lists for item in draft_in(one, slot).items]
    for one in stack:
        for slot, filled in one.slots:
            if slot in domain.slots and domain.slots[slot].items:
                items += items_in(filled.value, domain.slots[slot])
    return [item[name] for item in items if name in item]


def one_key_per_run(seen: ObservedStep) -> Iterator[str]:
    """Check that a retry of an action has the same key as the run that failed, and that different runs never share a
    key."""
    for one in seen.after.stack:
        if one.id > seen.before.instances:
            continue
        if one.id not in [other.id for other in seen.before.stack]:
            yield "the id of an instance was used again"
    for before, after in seen.pairs():
        if after is None or not isinstance(at := at_of(seen.domain, before), PerformAction):
            continue
        same = before.is_acting and after.is_acting and before.at == after.at and after.runs == before.runs
        failed = not before.needs and not before.confirm
        if same and failed and changed_in(before, after) & set(used_by(at, before)):
            yield "the same key was used for other values"
    for run in seen.runs:
        top = seen.after.stack[-1]
        old = next((one for one in seen.before.stack if one.id == top.id), None)
        at = at_of(seen.domain, top)
        same = old is not None and isinstance(at, PerformAction) and not changed_in(old, top) & set(used_by(at, old))
        goes_on = same and old is not None and old.is_acting and old.at == top.at
        if goes_on and old is not None and top.runs != old.runs and seen.before.phase is not Phase.EXECUTING_ACTION:
            yield "a retried run has another key"
        if old is not None and not old.is_acting and top.runs <= old.runs:
            yield "another run has the same key"
        if not run.key.endswith(f":{top.runs}") or not run.key.startswith(f"{top.id}:"):
            yield f"key {run.key} isn't derived from the run"


def a_yes_answers_the_open_question(seen: ObservedStep) -> Iterator[str]:
    """Check that a yes counts only for the question that was open when the user said yes. Also check that the agent
    doesn't repeat the question of an action unchanged after a value that the action uses has changed."""
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
        and top.confirm == after.confirm != seen.domain.patterns.check  # that one names the new values
        and changed_in(top, after) & set(used_by(at, top))
    ):
        yield "an action's question is asked again although its values have changed"


def waiting_means_that_a_question_was_asked(seen: ObservedStep) -> Iterator[str]:
    """Check two things. If a step changes the state, and the dialogue then waits for the user, the last thing that the
    step has said must be a question. No step may ask two questions, unless messages were in the queue before it."""
    asking = [one for one in seen.said if one.asks]
    if seen.after.phase in _ASKING and seen.after is not seen.before:
        if not asking:
            yield f"the phase is {seen.after.phase}, but nothing was asked"
        elif not seen.said[-1].asks:
            yield "something is said after the question"
    if len(asking) > 1 and not seen.before.queue:
        yield f"{len(asking)} questions at once"


def a_new_question_starts_its_counts_at_zero(seen: ObservedStep) -> Iterator[str]:
    """Check that misses, silences and tries are counted from zero again when a new question is asked."""
    before, after = seen.before.top, seen.after.top
    if after is None or seen.after.phase not in _ASKING:
        return
    same = before is not None and (before.id, before.at) == (after.id, after.at)
    is_repaired = before is not None and bool(before.repairs)  # the question that it interrupted keeps its counts
    if (seen.after.misses or seen.after.silences or seen.after.tries) and not same and not is_repaired:
        yield "a miss of one question counts for the next"


def every_failed_try_is_counted(seen: ObservedStep) -> Iterator[str]:
    """Check that, while a question stays open, the count of failed tries never shrinks and grows with every reply that
    isn't an answer. Because tries are limited, no question is then asked for ever. Messages that were in the queue
    before the question was asked needn't be counted, because the queue limits their number."""
    before, after = seen.before, seen.after
    if before.top is None or after.top is None or after.phase not in (Phase.WAITING_FOR_SLOT, Phase.CONFIRMING):
        return
    was, now = ((one.top.id, one.top.at, one.waiting_for) for one in (before, after) if one.top is not None)
    if was != now or seen.confirmed or seen.restarts:
        return
    is_empty = isinstance(seen.event, UserMessage) and not seen.event.text.strip()
    is_unclear = isinstance(seen.event, Understood) and not seen.commands and not before.is_aside
    is_vain = before.phase is not Phase.ERROR and (
        isinstance(seen.event, NothingSaid | Rejected) or is_empty or is_unclear
    )
    if is_vain and after.tries <= before.tries:
        yield f"{type(seen.event).__name__} at a question that stays open was not counted"
    is_same_list = before.top.lists == after.top.lists
    if after.tries < before.tries and after.slots == before.slots and is_same_list and not before.queue:
        yield "the tries of a question that stays open were reset"


def no_message_is_lost(seen: ObservedStep) -> Iterator[str]:
    """Check that a message that comes while a request is running is queued, or that the user is told that it was
    refused."""
    if not isinstance(seen.event, UserMessage) or seen.before.phase not in BUSY:
        return
    waits = seen.after.queue == (*seen.before.queue, seen.event.text[:TEXT_MAX])
    if not waits and (seen.after.queue != seen.before.queue or not seen.said):
        yield "a message was lost"


def every_message_is_answered(seen: ObservedStep) -> Iterator[str]:
    """Check that a message leads to a response, a request or a handover to a person. Exception: a message that ends a
    flow, because a flow may have no closing text."""
    if len(seen.after.stack) < len(seen.before.stack):
        return
    speaks = bool(seen.said) or any(isinstance(effect, HandOver) for effect in seen.effects)
    if isinstance(seen.event, UserMessage) and seen.before.phase not in BUSY and not speaks and not seen.requests:
        yield "a message got no answer"
    if isinstance(seen.event, Understood) and not seen.before.stack and not speaks and not seen.requests:
        yield "an understood message got no answer"


def nothing_understood_is_dropped(seen: ObservedStep) -> Iterator[str]:
    """Check that a value that NLU returns for a slot of the open flow is stored or waits for validation. A value isn't
    checked if its slot must be asked for before it is filled, or if the message also cancels, goes back, starts a flow
    or asks for a person."""
    top = seen.before.top
    given = [command for command in seen.commands if isinstance(command, SetSlot | CorrectSlot)]
    ends = any(isinstance(command, Cancel | Handoff | StartFlow) for command in seen.commands)
    if top is None or ends or seen.goes_back or not given or isinstance(at_of(seen.domain, top), AnswerFromFaq):
        return
    held = {(value.slot, repr(value.value)) for value in seen.after.values}
    for slots in (seen.after.kept, *(one.slots for one in seen.after.stack)):
        held |= {(name, repr(filled.value)) for name, filled in slots}
    if len(seen.after.queue) < len(seen.before.queue):  # a queued message, processed too, may have changed a value
        changed = {name for name, _ in held}
        given = [command for command in given if command.slot not in changed]
    for command in given:
        if command.slot in seen.domain.slots and seen.domain.slots[command.slot].items:
            continue  # its items are completed and checked one by one
        if command.value in _listed_values(seen.domain, seen.after.stack, command.slot):
            continue
        spec = seen.domain.slots.get(command.slot)
        if spec is not None and spec.pattern and not is_match(spec.pattern, str(command.value)) and seen.said:
            continue  # refused, and the user was told
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


def retried_only_on_request(seen: ObservedStep) -> Iterator[str]:
    """Check that an action that failed runs again only if the user asks for a retry."""
    top, after = seen.before.top, seen.after.top
    if top is None or not top.is_acting or top.needs or top.confirm or not seen.runs:
        return
    if after is None or (after.id, after.at, after.runs) != (top.id, top.at, top.runs):
        return
    is_asked = any(isinstance(command, Affirm) for command in seen.commands)
    if isinstance(seen.event, Understood) and not is_asked:
        yield "a failed action runs again without a retry"
    if isinstance(seen.event, WorkFailed):
        yield "a failed action runs again because of a message from before it failed"


def unconfirmed_values_are_announced_before_use(seen: ObservedStep) -> Iterator[str]:
    """Check that, before an action uses a value that was picked out of a longer message, the agent has announced the
    value and the user could object to it."""
    top = seen.after.top
    used = [name for run in seen.runs for name, _ in run.slots] if top is not None else []
    for name in used:
        filled = top.filled(name) if top is not None else None
        if filled is not None and is_unconfirmed(filled):
            yield f"an action uses {name} before the user could object to it"


def a_doubtful_message_decides_nothing(seen: ObservedStep) -> Iterator[str]:
    """Check that a message heard with low confidence doesn't confirm, cancel, restart or hand over anything, and
    doesn't run an action. The agent may give up after too many such messages. Steps that also process a message from
    the queue aren't checked."""
    is_unclear = isinstance(seen.event, UserMessage) and seen.event.confidence < seen.domain.confidence_min
    if seen.before.queue or not (is_unclear or seen.before.is_doubtful):
        return
    noted = {line.event for line in seen.after.trace}
    if seen.runs:
        yield "an action runs because of a doubtful message"
    if "confirmed" in noted or (seen.before.reading_back and any(filled.confirmed for _, filled in _slots_of(seen))):
        yield "a doubtful message confirms something"
    if "gave_up" in noted:
        return
    if "flow_cancelled" in noted or any(isinstance(effect, HandOver) for effect in seen.effects):
        yield "a doubtful message cancels a task or hands it over"


def _slots_of(seen: ObservedStep) -> Slots:
    return seen.after.top.slots if seen.after.top is not None else ()


def saved_in_time(seen: ObservedStep) -> Iterator[str]:
    """Check that the state is saved after each transition and each response, and before each action."""
    saves = [effect for effect in seen.effects if isinstance(effect, Save)]
    reasons = {reason for save in saves for reason in save.reasons}
    if saves and not isinstance(seen.effects[0], Save):
        yield "something was done before it was saved"
    for needed, is_due in (("transition", seen.moves), ("before_action", seen.runs), ("response", seen.said)):
        if is_due and needed not in reasons:
            yield f"the state was not saved with the reason {needed}"


LAWS: tuple[Law, ...] = (
    moves_along_the_matrix,
    one_request_at_a_time,
    no_slot_is_lost,
    validated_before_written,
    one_key_per_run,
    a_yes_answers_the_open_question,
    waiting_means_that_a_question_was_asked,
    a_new_question_starts_its_counts_at_zero,
    every_failed_try_is_counted,
    no_message_is_lost,
    every_message_is_answered,
    nothing_understood_is_dropped,
    a_failed_action_never_falls_through,
    retried_only_on_request,
    unconfirmed_values_are_announced_before_use,
    a_doubtful_message_decides_nothing,
    *SILENT_ERROR_LAWS,
    saved_in_time,
)


def name_of(law: Callable[..., object]) -> str:
    """The name of a law in words."""
    return law.__name__.replace("_", " ")


def complaints(seen: ObservedStep) -> Iterator[tuple[str, str]]:
    """Check one step against all laws. For each violation, yields the name of the law and what is wrong."""
    for law in LAWS:
        for message in law(seen):
            yield name_of(law), message
