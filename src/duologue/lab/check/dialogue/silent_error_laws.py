"""The laws against silent errors: a step must not take a wrong value, or do what the user has refused, without saying
so.

Rule: a law here compares what was said with what was filled or done. It doesn't ask how the message was understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from duologue.dialogue.commands import ClearSlot, Deny
from duologue.dialogue.events import UserMessage
from duologue.dialogue.flow import Confirm, Jump, PerformAction
from duologue.dialogue.item_lists import draft_in, item_said, items_in
from duologue.dialogue.language.readings import Confirmation, ConfirmationAnswer, SlotKind
from duologue.dialogue.state import BUSY, Phase, Slots
from duologue.dialogue.unconfirmed_values import PICKED_OUT, is_unconfirmed

from .messages import messages_of
from .observed_step import ObservedStep, at_of, changed_in, used_by


def one_span_one_slot(seen: ObservedStep) -> Iterator[str]:
    """Check that the same words of a message never fill two slots. Exception: a point in time such as "in an hour" may
    fill a slot for a date and a slot for a time."""
    if not isinstance(seen.event, UserMessage) or seen.before.queue or seen.before.phase in BUSY:
        return
    before = {value.slot for value in seen.before.values}
    new = [(value.slot, value.span) for value in seen.after.values if value.slot not in before]
    old = dict(seen.before.top.slots) if seen.before.top is not None else {}
    for name, filled in _slots_of(seen):
        if filled.span != (0, 0) and filled.turn == seen.after.turn_count and old.get(name) != filled:
            new.append((name, filled.span))
    for (one, mine), (other, its) in combinations(dict.fromkeys(new), 2):
        kinds = {seen.domain.slots[name].kind for name in (one, other) if name in seen.domain.slots}
        if one != other and mine[0] < its[1] and its[0] < mine[1] and kinds != {SlotKind.DATE, SlotKind.TIME}:
            yield f"the same words fill {one} and {other}"


def a_no_never_runs_an_action(seen: ObservedStep) -> Iterator[str]:
    """Check that no action runs because the user said no to a confirmation, or took a value back while a confirmation
    was open. Exception: the steps in an `on_no` block may run an action."""
    top = seen.before.top
    if top is None or not seen.runs or seen.before.queue:
        return
    at = at_of(seen.domain, top)
    if isinstance(at, Confirm) and at.on_no is not None:
        return
    was_confirming = seen.before.waiting_for is None and (isinstance(at, Confirm) or bool(top.confirm))
    is_no = False
    if isinstance(seen.event, UserMessage) and seen.before.phase is Phase.CONFIRMING:
        read = seen.domain.pack.replies.read_confirmation
        reading = read(seen.before.last_question, seen.event.text, seen.event.today, ())
        is_no = isinstance(reading, Confirmation) and reading.answer is ConfirmationAnswer.NO
    denies = bool(seen.commands) and all(isinstance(command, Deny | ClearSlot) for command in seen.commands)
    if was_confirming and (is_no or denies):
        yield "an action runs after a no"


def a_question_never_runs_an_action(seen: ObservedStep) -> Iterator[str]:
    """Check that no action runs because the user said something and asked whether it is so, even after a yes."""
    if not isinstance(seen.event, UserMessage) or seen.before.phase is not Phase.CONFIRMING or seen.before.queue:
        return
    is_question = seen.event.text in messages_of(seen.domain.language).tagged
    if is_question and (seen.runs or seen.confirmed):
        yield "an action runs, or a step is confirmed, after a question"


def a_denied_question_is_never_confirmed(seen: ObservedStep) -> Iterator[str]:
    """Check that a yes confirms nothing in two situations. In the first, the user has said no, and the agent asks what
    to change. In the second, the agent checks values before an action, but there is no value to check."""
    top, check = seen.before.top, seen.domain.patterns.check
    if top is None or seen.before.queue:
        return
    is_empty = top.confirm == check and not any(is_unconfirmed(filled) for _, filled in top.slots)
    if (top.denied and seen.confirmed) or (is_empty and seen.before.phase is Phase.CONFIRMING and seen.runs):
        yield "a question was confirmed that asks for no yes"


def a_final_action_runs_once(seen: ObservedStep) -> Iterator[str]:
    """Check that a final action (one that can't be undone) doesn't run again in the same task after it has succeeded,
    and that its values don't change afterwards. In another round of a loop, both are allowed."""
    for before, after in seen.pairs():
        if after is None or not before.done:
            continue
        program = seen.domain.flows[before.flow].program
        loops = any(isinstance(at, Jump) and at.to <= place for place, at in enumerate(program))
        acts = [at for at in program if isinstance(at, PerformAction) and at.step in before.done]
        again = seen.runs and after is seen.after.top and at_of(seen.domain, after) in acts
        if again and not loops:
            yield "a final action runs a second time"
        for at in acts:
            if not loops and changed_in(before, after) & set(used_by(at, before)):
                yield f"a value that {at.action} has used was changed afterwards"


def a_preference_never_chooses_from_a_span(seen: ObservedStep) -> Iterator[str]:
    """Check that a reply that names several days, such as a weekend, doesn't fill a slot with one of these days."""
    if not isinstance(seen.event, UserMessage) or seen.before.phase is not Phase.WAITING_FOR_SLOT:
        return
    if "weekend" not in seen.event.text or seen.before.among or _wish_in(seen) is not None:
        return
    days = [name for name, filled in _slots_of(seen) if filled.turn == seen.after.turn_count and filled.span != (0, 0)]
    if any(seen.domain.slots[name].kind is SlotKind.DATE for name in days if name in seen.domain.slots):
        yield "a span of days became a day"


def a_wish_in_a_range_is_never_dropped(seen: ObservedStep) -> Iterator[str]:
    """Check that a reply such as "this weekend, ideally Sunday" gives the slot the wished value (Sunday) and no other
    value, and that the agent says which value it took."""
    wish, slot = _wish_in(seen), seen.before.waiting_for
    if wish is None or slot is None:
        return
    for value in seen.after.values:
        if value.slot == slot and value.value != wish:
            yield "the user wished for a value in a range, and another value was taken"
        if value.slot == slot and value.source != PICKED_OUT:
            yield "a wish in a range is taken without a word"
    for name, filled in _slots_of(seen):
        if name == slot and filled.turn == seen.after.turn_count and not str(filled.value).startswith(wish):
            yield "the user wished for a value in a range, and another value was taken"


def _wish_in(seen: ObservedStep) -> str | None:
    """The value that the user wishes for in a reply such as "this weekend, ideally Sunday"; None if the message isn't
    such a reply."""
    slot, spec = seen.before.waiting_for, None
    if slot is not None and isinstance(seen.event, UserMessage) and seen.before.phase is Phase.WAITING_FOR_SLOT:
        spec = seen.domain.slots[slot]
    tried = messages_of(seen.domain.language).wished.get(spec.kind) if spec is not None else None
    is_wish = tried is not None and isinstance(seen.event, UserMessage) and seen.event.text == tried[0]
    return tried[1] if tried is not None and is_wish else None


def every_item_is_read_back(seen: ObservedStep) -> Iterator[str]:
    """Check that the user has heard all items of a list when the agent asks for more."""
    slot, top = seen.after.waiting_for, seen.after.top
    if slot is None or top is None or seen.after.phase is not Phase.WAITING_FOR_SLOT or seen.after is seen.before:
        return
    spec = seen.domain.slots[slot]
    if not spec.items or seen.after.reading_back:
        return
    before = next((one for one in seen.before.stack if one.id == top.id), None)
    old = draft_in(before, slot).items if before is not None else ()
    said = " ".join(one.text for one in seen.said)
    filled = before.filled(slot) if before is not None else None
    heard = [*old, *(items_in(filled.value, spec) if filled is not None else ())]
    for item in draft_in(top, slot).items:
        if item not in heard and item_said(seen.domain, spec, item) not in said:
            yield "an item was put on a list without a word"


def _slots_of(seen: ObservedStep) -> Slots:
    return seen.after.top.slots if seen.after.top is not None else ()


SILENT_ERROR_LAWS: tuple[Callable[[ObservedStep], Iterator[str]], ...] = (
    one_span_one_slot,
    a_no_never_runs_an_action,
    a_question_never_runs_an_action,
    a_denied_question_is_never_confirmed,
    a_final_action_runs_once,
    a_preference_never_chooses_from_a_span,
    a_wish_in_a_range_is_never_dropped,
    every_item_is_read_back,
)
