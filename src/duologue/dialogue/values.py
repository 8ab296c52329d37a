"""Validates values one after the other and writes them to slots.

When a value is corrected, the slots that depended on the old value are emptied. Rule: no value is written before it was
validated. If a value is refused, the slot keeps its old value. "Any will do" isn't a value: it is neither validated nor
read back.
"""

from __future__ import annotations

from dataclasses import replace

from .commands import CorrectSlot, SetSlot
from .dependencies import dependants, final_action_using, unconfirm, unconfirm_from, uses
from .draft import DialogueDraft
from .flow import Collect, Confirm, PerformAction, SlotSpec
from .item_lists import FINISHED, NEW, ListDraft, draft_in, items_in, with_draft
from .language.readings import ANY, Json
from .prompts import ask_slot, count_try, is_confirming
from .records import changed
from .refusals import refusal_of
from .repairs import CORRECTION, open_repair
from .requests import validation
from .run_flow import continue_flow, open_flow, write
from .slot_names import label_of
from .stack import PROGRAM, return_to
from .state import Filled, Phase, without
from .unconfirmed_values import ANNOUNCED, PICKED_OUT


def validate_next(d: DialogueDraft) -> None:
    """Validate the values one after the other, until one of them needs a request or a question. When no value is left,
    continue the flow."""
    while d.s.values:
        value = d.s.values[0]
        if not _may_be_filled(d, value):
            d.set(values=d.s.values[1:])
            continue
        spec = d.spec(value.slot)
        d.enter(Phase.VALIDATING_SLOT)
        if spec.items and value.source != FINISHED:
            _take_items(d, spec, value)
            continue
        if not _is_any(d, value.slot, value.value) and (reason := refusal_of(d, spec, value.value)):
            reject(d, reason)
            return
        if (spec.validator or spec.normaliser) and not _is_any(d, value.slot, value.value):
            d.request()
            d.effects.append(validation(d.domain, d.s))
            return
        if accept(d, value.value):
            return
    continue_flow(d)


def _take_items(d: DialogueDraft, spec: SlotSpec, given: SetSlot | CorrectSlot) -> None:
    """Add the items of a list to the items that the flow will complete and validate one by one. A list from your
    program, or a corrected list, replaces the old list, and the user isn't asked for more items."""
    is_whole = given.source == PROGRAM or isinstance(given, CorrectSlot)
    old = ListDraft() if is_whole else draft_in(d.top, spec.name)
    new = items_in(given.value, spec)
    room = max(0, spec.items_max - old.size)
    is_unsure = d.s.is_doubtful or given.source == PICKED_OUT
    draft = replace(
        old,
        waiting=(*old.waiting, *((NEW, item) for item in new[:room])),
        is_done=old.is_done or is_whole,
        unsure_turn=d.s.turn_count if is_unsure else old.unsure_turn,
    )
    d.set(values=d.s.values[1:], misses=0, silences=0, tries=0)
    is_filled = d.top.filled(spec.name) is not None
    d.set_top(lists=with_draft(d.top, spec.name, draft), slots=without(d.top.slots, frozenset((spec.name,))))
    if is_filled:
        revisit_after_change(d, spec.name, is_empty=True)


def _may_be_filled(d: DialogueDraft, value: SetSlot | CorrectSlot) -> bool:
    """Does the value belong to a slot of the open flow, and may this slot be filled now? Always true for a value from
    your program, if a flow is open."""
    if value.source == PROGRAM:
        return bool(d.s.stack)
    if not d.s.stack or value.slot not in (*d.flow.slots, *d.top.needs):
        return False
    return not d.spec(value.slot).ask_before_filling or value.slot in d.top.asked


def _is_any(d: DialogueDraft, slot: str, value: Json) -> bool:
    """Does the value mean "any will do", in an optional slot?"""
    return value == ANY and d.spec(slot).is_optional


def accept(d: DialogueDraft, value: Json) -> bool:
    """Write the validated value to its slot and return False. If the agent must read the value back first, ask whether
    it is right, write nothing yet and return True."""
    given = d.s.values[0]
    spec = d.spec(given.slot)
    is_heard = given.source != PROGRAM and not _is_any(d, given.slot, value)
    if spec.reads_back and is_heard and not d.s.reading_back:
        d.set(values=(type(given)(given.slot, value, given.raw, given.span, given.source), *d.s.values[1:]))
        d.set(reading_back=True, misses=0, silences=0)
        ask_slot(d, Collect(d.flow.program[d.top.at].step, given.slot))
        return True
    if given.slot == d.s.waiting_for:
        d.set(tries=0)
    before = d.top.filled(given.slot)
    is_same = before is not None and before.value == value
    if before is not None and not is_same and final_action_using(d, given.slot) is not None:
        d.set(values=d.s.values[1:], reading_back=False)
        tell_what_was_done(d, given.slot, Filled(value, given.raw, given.span, ANNOUNCED, turn=d.s.turn_count))
        return False
    if d.top.denied:
        given = _after_denial(d, given)
    source = PICKED_OUT if d.s.is_doubtful and given.source != PROGRAM else given.source
    if source == PICKED_OUT and before is not None:
        source = ANNOUNCED  # the user is told about a change anyway
    if not is_same or source != ANNOUNCED:
        write(d, given.slot, value, source, given.raw, given.span, confirmed=d.s.reading_back)
    if spec.items:
        d.set_top(lists=with_draft(d.top, given.slot, None))
    d.note("slot_set", slot=given.slot)
    d.set(values=d.s.values[1:], among=(), misses=0, silences=0, reading_back=False, unproposed=False)
    if before is not None and not is_same:
        revisit_after_change(d, given.slot)
    if (before is not None and not is_same) or (isinstance(given, CorrectSlot) and before is None):
        said = {"slot": label_of(d.domain, spec.name), "value": d.spoken(value, given.raw)}
        if not open_repair(d, CORRECTION, **said):
            d.say(d.domain.patterns.corrected, slot=said["slot"], value=said["value"])
    return False


def reject(d: DialogueDraft, reason: str) -> None:
    """Refuse the value and say why. The open question stays open."""
    given = d.s.values[0]
    d.note("slot_rejected", slot=given.slot)
    d.set(values=d.s.values[1:], among=(), reading_back=False)
    if d.s.waiting_for is not None or is_confirming(d):  # otherwise no question is open: the user made a correction
        count_try(d)
    d.say(reason or d.domain.patterns.invalid, slot=d.spec(given.slot).display_name, value=d.spoken(given.value))
    validate_next(d)


def _after_denial(d: DialogueDraft, given: SetSlot | CorrectSlot) -> SetSlot | CorrectSlot:
    """Prepare a value that the user has given in reply to "What should I change?", and return it. Afterwards the flow
    asks for the confirmation again. If the action has no confirmation, the returned value is marked as unconfirmed, so
    that the agent reads it back before the action runs."""
    is_action = d.top.confirm == d.domain.patterns.what_to_change
    d.set_top(denied=False, confirm="" if is_action else d.top.confirm)
    return changed(given, {"source": PICKED_OUT}) if is_action else given


# -- Consequences of a change


def tell_what_was_done(d: DialogueDraft, slot: str, new: Filled | None = None) -> None:
    """The user wants to change a value that a final action (an action that can't be undone) has used: say what was
    done, and keep the value. If the action names a flow for changes, open that flow with the new value and the other
    values of this flow. Values that depended on the old value aren't passed on."""
    act, before = final_action_using(d, slot), d.top.filled(slot)
    assert act is not None, d.top
    old = d.spoken(before.value, before.raw) if before is not None else ""
    d.say(d.domain.patterns.already_done, slot=d.spec(slot).display_name, value=old)
    d.note("already_done", step=act.step)
    if not act.on_change:
        return
    wanted = frozenset(d.domain.flows[act.on_change].slots) - dependants(d.domain, slot)
    given = tuple((name, filled) for name, filled in d.top.slots if name in wanted and name != slot)
    if new is not None and slot in wanted:
        given = (*given, (slot, new))
    if not return_to(d, act.on_change, given):
        open_flow(d, act.on_change, given)


def revisit_after_change(d: DialogueDraft, slot: str, *, is_empty: bool = False) -> None:
    """Empty the slots that depend on `slot`. Then return to the first visited step that used `slot` or one of the
    emptied slots. An action that the user had confirmed runs again only after another confirmation."""
    emptied = dependants(d.domain, slot)
    d.set_top(slots=without(d.top.slots, emptied))
    for name in sorted(emptied):
        d.note("slot_emptied", slot=name)
    touched = frozenset((*emptied, slot))
    asked = touched if is_empty else emptied
    confirmed = d.top.confirmed
    d.set(among=(), unproposed=False)
    unconfirm(d, touched, asked)
    program = d.flow.program
    used = [
        place
        for place, at in enumerate(program[: d.top.at + 1])
        if at.step in d.top.visited and uses(at, touched, asked) and (place < d.top.at or isinstance(at, PerformAction))
    ]
    d.set_top(denied=False)
    if not used:
        return
    place = min(used)
    if isinstance(program[place], PerformAction):
        yes = [at for at in range(place) if isinstance(program[at], Confirm) and program[at].step in confirmed]
        place = yes[-1] if yes else place
    unconfirm_from(d, place)
    d.set_top(at=place, needs=(), confirm="", is_acting=False, failed=False)
