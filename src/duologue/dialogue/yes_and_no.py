"""Applies a yes, a no, a cancellation or a withdrawn value to the open question.

Rule: a no or a withdrawn value never starts an action. It doesn't reverse a final action either (an action that can't
be undone).
"""

from __future__ import annotations

from .commands import CorrectSlot, SetSlot
from .dependencies import final_action_using
from .draft import Commitment, DialogueDraft
from .flow import Collect, Confirm, PerformAction
from .not_understood import miss
from .prompts import count_try, is_confirming, proposed
from .run_flow import end_flow
from .state import Phase, without
from .templates import gaps_of
from .unconfirmed_values import confirm, is_checking, is_unconfirmed
from .values import accept, revisit_after_change, tell_what_was_done


def say_yes(d: DialogueDraft, values: list[SetSlot | CorrectSlot]) -> bool:
    """Apply a yes to the open question and return False. If the question proposed a value, add that value to `values`.
    If the question can't be answered with yes and `values` is empty, count the message as not understood and return
    True."""
    at = d.flow.program[d.top.at]
    d.set(misses=0, silences=0)
    if is_confirming(d) or d.s.reading_back:
        d.commitments.append(Commitment.YES)
    if d.s.reading_back and d.s.values:
        heard = d.s.values[0]
        said = [one.value for one in values if one.slot == heard.slot]
        values[:] = [one for one in values if (one.slot, one.value) != (heard.slot, heard.value)]
        if any(value != heard.value for value in said):
            return False  # "yes, A B 13" gives another code, which is read back next
        d.enter(Phase.VALIDATING_SLOT)
        accept(d, heard.value)
    elif is_confirming(d) and d.top.denied:  # "what should I change?" can't be answered with yes: ask again
        d.set_top(denied=d.top.confirm == d.domain.patterns.what_to_change)
        count_try(d)
    elif is_confirming(d) and is_checking(d):
        confirm(d, d.top.confirm)
        d.set_top(confirm="")
        d.set(tries=0)
    elif is_confirming(d):
        confirm(d, at.text if isinstance(at, Confirm) else d.top.confirm)
        d.set_top(confirmed=(*d.top.confirmed, at.step))
        d.set(tries=0)
        d.note("confirmed", step=at.step)
    elif isinstance(at, Collect) and (value := proposed(d, at)) is not None:
        values.insert(0, SetSlot(at.slot, value, source="proposal"))  # type: ignore[arg-type]
    elif not values:
        miss(d)
        return True
    return False


def say_no(d: DialogueDraft) -> bool:
    """Apply a no to the open question and return False. If the question can't be answered with no, count the message as
    not understood and return True."""
    at = d.flow.program[d.top.at]
    d.set(misses=0, silences=0)
    if is_confirming(d):
        d.commitments.append(Commitment.NO)
    if d.s.reading_back:
        d.set(reading_back=False, values=())
        count_try(d)
    elif d.s.among:
        d.set(among=())
        count_try(d)
    elif is_confirming(d) and isinstance(at, Confirm) and at.on_no is not None:
        d.set(tries=0)
        if at.on_no <= d.top.at:  # a jump back to earlier questions: ask them again
            asked = {one.slot for one in d.flow.program[at.on_no : d.top.at] if isinstance(one, Collect)}
            d.set_top(slots=without(d.top.slots, frozenset(asked)))
        d.set_top(at=at.on_no)
    elif is_confirming(d) and is_checking(d):
        _drop_unconfirmed(d)
    elif is_confirming(d) and not d.top.denied and names_collected_slots(d) and not _was_offered(d):
        d.set_top(denied=True)
    elif is_confirming(d) and d.top.repairs:
        end_flow(d, is_left=True)
    elif is_confirming(d):
        cancel(d)
    elif isinstance(at, Collect) and proposed(d, at) is not None:
        d.set(unproposed=True)
    else:
        miss(d)
        return True
    return False


def _was_offered(d: DialogueDraft) -> bool:
    """Did the agent itself offer this flow, because the user wanted to change a value that a final action (one that
    can't be undone) had used? A no then means that the user doesn't want this flow."""
    if len(d.s.stack) < 2:
        return False
    below = d.s.stack[-2]
    acts = [at for at in d.domain.flows[below.flow].program if isinstance(at, PerformAction) and at.step in below.done]
    return any(at.on_change == d.top.flow for at in acts)


def _drop_unconfirmed(d: DialogueDraft) -> None:
    """Empty the slots with values from a message that was only partly understood, because the user said no to these
    values. The flow then asks for these slots."""
    wrong = [name for name, filled in d.top.slots if is_unconfirmed(filled)]
    d.set_top(confirm="")
    d.set(tries=0)
    for name in wrong:
        clear(d, name)


def clear(d: DialogueDraft, slot: str) -> None:
    """Empty a slot and return to the step that asks for it. If a final action (one that can't be undone) has used the
    slot, only say so. If no step asks for the slot and an action comes next, ask what to change, because a removed
    value must not make an action run."""
    if final_action_using(d, slot) is not None:
        tell_what_was_done(d, slot)
        return
    d.set_top(slots=without(d.top.slots, frozenset((slot,))))
    revisit_after_change(d, slot, is_empty=True)
    at = d.flow.program[d.top.at]
    if isinstance(at, PerformAction) and at.step not in d.top.done and not d.top.failed:
        d.set_top(confirm=d.domain.patterns.what_to_change, denied=True, is_acting=False, needs=())


def names_collected_slots(d: DialogueDraft) -> bool:
    """Does the open confirmation name a slot that the flow asks for, so that there is something to change?"""
    at = d.flow.program[d.top.at]
    text = at.text if isinstance(at, Confirm) else d.top.confirm
    return any(name in d.flow.slots and d.top.filled(name) is not None for name in gaps_of(text))


def cancel(d: DialogueDraft) -> None:
    """End the open flow and store its slots, so that their values can still be used. If no flow is open, say so."""
    if not d.s.stack:
        d.say(d.domain.patterns.nothing_to_cancel)
        return
    d.commitments.append(Commitment.CANCEL)
    end_flow(d, d.domain.patterns.cancelled, is_cancelled=True)
