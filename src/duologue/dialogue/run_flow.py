"""Runs a flow step by step until it has to wait for the user or for a request.

Rule: a run takes a limited number of steps. It ends with a question, with a request, in an error, or when no flow is
open. A flow that loops without asking anything ends in an error that names the step.
"""

from __future__ import annotations

from dataclasses import replace

from .commands import SetSlot
from .dependencies import dependants, repeatable_from, unconfirm, unconfirm_from
from .draft import Commitment, DialogueDraft
from .effects import HandOver
from .events import UNKNOWN_OUTCOME
from .faq_words import answer_by_words
from .flow import (
    AnswerFromFaq,
    Assign,
    CallFlow,
    Collect,
    Confirm,
    End,
    HandOff,
    Jump,
    JumpUnless,
    LinkFlow,
    PerformAction,
    SayText,
    SlotSpec,
)
from .found_choices import with_found_choices, without_lost_choices
from .item_lists import (
    FINISHED,
    NEW,
    ListDraft,
    count_slot,
    draft_in,
    list_said,
    merged,
    same_item,
    with_draft,
    without_place,
)
from .language.readings import ANY
from .prompts import ask_confirmation, ask_slot, has_failed_too_often
from .refusals import refusal_of
from .requests import action, understanding, validation
from .stack import begin, keep_slots, return_to
from .state import DialogueTrouble, Filled, Instance, Phase, Slots, put, values_of, without
from .templates import fill, gaps_of
from .unconfirmed_values import PICKED_OUT, check, is_checking, wants_check

ACTS_MAX = 100  # actions per user message
STEPS_MAX = 500  # steps in a row without a question or request
LONG = 50  # so many steps in a row may be a loop
DEPTH_MAX = 20  # open flows on the stack
LAST_STEP = "end"  # the name of the instruction after the last step of a flow


def continue_flow(d: DialogueDraft) -> None:
    """Run the open flow from its current step until it has to wait. If it loops without ever waiting, enter the error
    phase."""
    left, mark, mark_left = STEPS_MAX, None, 0
    while left:
        if not d.s.stack:
            d.enter(Phase.IDLE)
            return
        if not _take_step(d):
            return
        left -= 1
        if mark is None:
            mark, mark_left = (d.s, left) if left == STEPS_MAX - LONG else (None, 0)
        elif d.s == mark:  # from here on, everything repeats: end where the last step would end
            left %= mark_left - left
    step = d.flow.program[d.top.at].step
    d.drop_responses()
    fail(d, "FlowLoops", f"flow {d.top.flow} loops at step {step} without asking anything")


def _take_step(d: DialogueDraft) -> bool:
    """Take one step of the open flow. Returns False if the flow now has to wait."""
    at = d.flow.program[d.top.at]
    if at.step not in d.top.visited:
        d.set_top(visited=(*d.top.visited, at.step))
    d.save_because("step")
    if d.s.reading_back and d.s.values:
        return _ask(d, Collect(at.step, d.s.values[0].slot))
    if d.s.values and not d.s.reading_back and _is_of_list(d):
        return _check_item_value(d)
    missing = next((slot for slot in d.top.needs if d.top.filled(slot) is None), None)
    if missing is not None:
        return _ask(d, Collect(at.step, missing))
    match at:
        case Collect():
            if d.top.filled(at.slot) is not None:
                return _advance(d)
            return _collect_items(d, at) if d.spec(at.slot).items else _ask(d, at)
        case SayText():
            d.say(at.text, barge_in=at.barge_in, rephrase=at.rephrase)
            return _advance(d)
        case Assign():
            for name, value in at.values:
                _assign(d, name, value)
            return _advance(d)
        case Jump():
            if at.to <= d.top.at:
                unconfirm_from(d, at.to)
                repeatable_from(d, at.to)
            d.set_top(at=at.to)
            return True
        case JumpUnless():
            d.set_top(at=d.top.at + 1 if at.condition.holds(_values(d)) else at.to)
            return True
        case PerformAction():
            return _take_action(d, at)
        case Confirm():
            if at.step in d.top.confirmed:
                return _advance(d)
            return _ask(d, at)
        case CallFlow():
            return _call(d, at)
        case LinkFlow():
            return _link(d, at)
        case HandOff():
            d.commitments.append(Commitment.HANDOFF)
            hand_over(d, fill(at.reason, _values(d), d.today, d.domain.pack.spoken))
            return True
        case AnswerFromFaq():
            return _look_up(d, at)
        case End():
            return end_flow(d, is_left=at.step != LAST_STEP)


def _take_action(d: DialogueDraft, at: PerformAction) -> bool:
    """Run the action of a step, or first ask for a confirmation. If the action failed before, stay in the error phase.
    A final action (one that can't be undone) isn't run a second time. Returns True if the next step can follow at once,
    and False if the flow has to wait."""
    if d.top.failed:
        stay_in_error(d)
    elif at.step in d.top.done:
        return _advance(d)  # the flow passes here again after a change; what was done isn't done twice
    elif wants_check(d, at) and not d.top.is_acting:
        check(d)
        return _ask(d, None)
    elif is_checking(d) and not wants_check(d, at) and not d.top.denied:
        d.set_top(confirm="")  # the user has said the values again, so there is nothing left to ask about
        run_action(d, at)
    elif d.top.confirm and at.step not in d.top.confirmed:
        return _ask(d, None)
    else:
        run_action(d, at)
    return False


def _ask(d: DialogueDraft, at: Collect | Confirm | None) -> bool:
    """Ask a question and return False, because the flow has to wait for the answer. If the question failed too often,
    or has no choices to offer, give up the flow and return True, so that the flow below it on the stack continues."""
    if has_failed_too_often(d, at.slot if isinstance(at, Collect) else None):
        give_up(d)
        return True
    if isinstance(at, Collect):
        if not _finds_choices(d, at):
            give_up(d, d.domain.patterns.nothing_found)
            return True
        ask_slot(d, at)
    else:
        ask_confirmation(d, at)
    return False


# -- The FAQ


def _look_up(d: DialogueDraft, at: AnswerFromFaq) -> bool:
    """Answer the text in a slot from the FAQ. If the search by words finds no answer, request a search by NLU."""
    filled = d.top.filled(at.slot)
    if filled is None or filled.value == ANY:
        return _advance(d)
    text = str(filled.value)
    entry = answer_by_words(d.domain.faq, text, d.domain.faq_min, d.domain.language)
    if entry is not None:
        finish_look_up(d, at, entry)
        return True
    d.enter(Phase.UNDERSTANDING)
    d.set(heard=text, is_aside=False, waiting_for=None, last_nlu_call=d.at)
    d.request()
    d.effects.append(understanding(d.domain, d.s))
    return False


def looks_up(d: DialogueDraft, slot: str) -> bool:
    """Does the open flow look up the text of this slot in the FAQ?"""
    return any(isinstance(at, AnswerFromFaq) and at.slot == slot for at in d.flow.program)


def finish_look_up(d: DialogueDraft, at: AnswerFromFaq, entry: int | None) -> None:
    """Say the answer that was found, or that the FAQ has no answer, and move to the next step."""
    if entry is not None:
        d.say(d.domain.faq[entry].answer)
        d.note("faq_answered", entry=str(entry))
    elif at.on_none is None:
        d.say(d.domain.patterns.no_answer)
    _advance(d)
    if entry is None and at.on_none is not None:
        d.set_top(at=at.on_none)


# -- Lists


def _collect_items(d: DialogueDraft, at: Collect) -> bool:
    """Continue a list: complete the next item, finish the list, or ask for more."""
    spec, draft = d.spec(at.slot), draft_in(d.top, at.slot)
    if draft.waiting:
        return _open_item(d, spec, draft)
    if len(draft.items) >= spec.items_max and not draft.is_done:
        d.say(d.domain.patterns.list_full)
        draft = replace(draft, is_done=True)
    if draft.is_done and len(draft.items) >= spec.items_min:
        return _finish_list(d, spec, draft)
    _tell_items(d, spec, draft)
    if draft.is_done:
        d.say(d.domain.patterns.list_short)
    d.set_top(lists=with_draft(d.top, at.slot, replace(draft, is_done=False, told=len(draft.items))))
    return _ask(d, at)


def _tell_items(d: DialogueDraft, spec: SlotSpec, draft: ListDraft) -> None:
    """Say which items were added or changed since the last question."""
    if new := draft.items[draft.told :]:
        d.say(d.domain.patterns.added, value=list_said(d.domain, spec, new, d.today))


def _open_item(d: DialogueDraft, spec: SlotSpec, draft: ListDraft) -> bool:
    """Open the flow that asks for the missing values of an item. Values that need no validation are filled in at once;
    the others are validated first."""
    (place, said), *waiting = draft.waiting
    lists = with_draft(d.top, spec.name, replace(draft, waiting=tuple(waiting), open=place))
    d.set_top(lists=lists)
    sources = {d.spec(name).choices_from for name in spec.items}
    given: Slots = tuple((name, filled) for name, filled in d.top.slots if name in sources)
    old = draft.items[place] if place >= 0 else {}
    checked = [name for name in said if _needs_check(d.spec(name)) and old.get(name) != said[name]]
    turn = d.s.turn_count
    given += tuple((name, Filled(value, turn=turn)) for name, value in said.items() if name not in checked)
    if not open_flow(d, spec.item_flow, given, called=True):
        return False
    d.set(values=tuple(SetSlot(name, said[name]) for name in checked))
    return True


def _needs_check(spec: SlotSpec) -> bool:
    return bool(spec.validator or spec.normaliser or spec.pattern or spec.reads_back or spec.is_future)


def _is_of_list(d: DialogueDraft) -> bool:
    """Is the value that waits for validation part of an item of a list, or a whole list?"""
    return d.s.values[0].source == FINISHED or d.domain.list_of_item(d.top.flow) is not None


def _check_item_value(d: DialogueDraft) -> bool:
    """Request the validation of a value in an item of a list, or of a whole list. If the value can be refused without
    calling a validator, it is refused immediately, and the flow asks for a new value."""
    given = d.s.values[0]
    if reason := refusal_of(d, d.spec(given.slot), given.value):
        d.set(values=d.s.values[1:])
        d.note("slot_rejected", slot=given.slot)
        d.say(reason, slot=d.spec(given.slot).display_name, value=d.spoken(given.value))
        return True
    d.enter(Phase.VALIDATING_SLOT)
    d.request()
    d.effects.append(validation(d.domain, d.s))
    return False


def _finish_list(d: DialogueDraft, spec: SlotSpec, draft: ListDraft) -> bool:
    """The user wants nothing more: fill the slot with the list. The agent reads the items back, unless a later
    confirmation will read them back."""
    names = [gaps_of(one.text) for one in d.flow.program[d.top.at :] if isinstance(one, Confirm)]
    if draft.is_late or not any(spec.name in gaps for gaps in names):
        _tell_items(d, spec, draft)
    items = [dict(item) for item in draft.items]
    if spec.validator or spec.normaliser:
        d.set_top(lists=with_draft(d.top, spec.name, replace(draft, is_done=False, told=len(items))))
        d.set(values=(SetSlot(spec.name, items, source=FINISHED),))
        return _check_item_value(d)
    is_unsure = draft.unsure_turn == d.s.turn_count
    d.set_top(lists=with_draft(d.top, spec.name, None))
    write(d, spec.name, items, source=PICKED_OUT if is_unsure else FINISHED)
    d.set(tries=0)
    d.note("slot_set", slot=spec.name)
    return True


def _store_item(d: DialogueDraft, ended: Instance, spec: SlotSpec) -> None:
    """The flow for an item has ended: put the item on the list."""
    draft = draft_in(d.top, spec.name)
    item = {name: filled.value for name, filled in ended.slots if name in spec.items}
    item = {name: item[name] for name in spec.items if name in item}
    if draft.open is None or draft.open < 0:
        items, told = (*draft.items, item), draft.told
        if draft.open == NEW and (again := same_item(draft.items, item, count_slot(d.domain, spec))) is not None:
            items = (*without_place(draft.items, again), item)
            told -= again < told
    else:  # a changed item is read back again, so it moves to the end
        items = (*draft.items[: draft.open], *draft.items[draft.open + 1 :], item)
        told = draft.told - (draft.open < draft.told)
    whole = merged(items, count_slot(d.domain, spec))
    if len(whole) < len(items):  # it was merged with an item that was already read back
        same = next(place for place, one in enumerate(whole) if one not in items)
        whole = (*whole[:same], *whole[same + 1 :], whole[same])
        told = min(told - (same < told), len(whole) - 1)
    d.set_top(lists=with_draft(d.top, spec.name, replace(draft, items=whole, open=None, told=told)))
    d.note("item_stored", slot=spec.name)


def _finds_choices(d: DialogueDraft, at: Collect) -> bool:
    """Are there choices for this slot? True if the slot doesn't take its choices from the result of an action. If an
    action should have found some but found none, the trace names the slot and the step, because the flow should have
    checked the result before asking."""
    source = d.spec(at.slot).choices_from
    if not source:
        return True
    d.domain = with_found_choices(d.domain, d.s)
    if d.spec(at.slot).choices:
        return True
    d.note("no_choices", slot=at.slot, step=at.step, choices_from=source)
    return False


def _assign(d: DialogueDraft, name: str, value: object) -> None:
    """Write the value that a step assigns to a slot. If this changes the slot's value, empty the slots that depended on
    the old one."""
    before = d.top.filled(name)
    write(d, name, value, source="flow")
    if before is not None and before.value != value:
        emptied = dependants(d.domain, name)
        d.set_top(slots=without(d.top.slots, emptied))
        unconfirm(d, frozenset((*emptied, name)), emptied)


def _values(d: DialogueDraft) -> dict[str, object]:
    return dict(values_of(d.top.slots))


def _advance(d: DialogueDraft) -> bool:
    d.set_top(at=d.top.at + 1, needs=(), confirm="", is_acting=False, failed=False, denied=False)
    d.set(misses=0, silences=0)
    return True


def write(
    d: DialogueDraft,
    name: str,
    value: object,
    source: str,
    raw: str = "",
    span: tuple[int, int] = (0, 0),
    *,
    confirmed: bool = False,
) -> None:
    """Fill a slot of the open flow. The value None empties the slot."""
    if value is None:
        d.set_top(slots=without(d.top.slots, frozenset((name,))))
        return
    filled = Filled(value, raw, span, source, confirmed, d.s.turn_count)  # type: ignore[arg-type]
    d.set_top(slots=put(d.top.slots, name, filled))


# -- Acting


def run_action(d: DialogueDraft, at: PerformAction) -> None:
    """Request the action of a step. A retry uses the same key as the first attempt. If the flow comes to this step
    again later, the action gets a new key."""
    if d.s.acts >= ACTS_MAX:
        d.drop_responses()
        why = f"flow {d.top.flow} runs {ACTS_MAX} actions up to step {at.step} without asking the user anything"
        fail(d, "FlowLoops", why)
        return
    d.enter(Phase.EXECUTING_ACTION)
    d.commitments.append(Commitment.ACTION)
    d.set(acts=d.s.acts + 1)
    if not d.top.is_acting:
        d.set_top(runs=d.top.runs + 1, is_acting=True)
        d.say(at.waiting)
    d.save_because("before_action")
    d.set(waiting_for=None)
    d.request()
    d.effects.append(action(d.domain, d.s))


# -- Calling and linking flows


def open_flow(d: DialogueDraft, name: str, slots: Slots = (), *, called: bool = False) -> bool:
    """Push a flow onto the stack and return True. If too many flows are already open, enter the error phase and return
    False."""
    if len(d.s.stack) >= DEPTH_MAX:
        fail(d, "FlowsTooDeep", f"{DEPTH_MAX} flows are open at once; check for flows that call each other in a circle")
        return False
    begin(d, name, slots, called=called)
    return True


def _call(d: DialogueDraft, at: CallFlow) -> bool:
    given = tuple((theirs, filled) for ours, theirs in at.gives if (filled := d.top.filled(ours)) is not None)
    return open_flow(d, at.flow, given, called=True)


def _link(d: DialogueDraft, at: LinkFlow) -> bool:
    """Leave the open flow and switch to another one. If the other flow is already open, return to it. Returns False if
    too many flows are open."""
    wanted = d.domain.flows[at.flow].slots
    left, passed = d.top, {name: filled for name, filled in d.top.slots if name in wanted}
    passed |= {theirs: filled for ours, theirs in at.gives if (filled := d.top.filled(ours)) is not None}
    given = tuple(passed.items())
    keep_slots(d, left)
    d.set(stack=d.s.stack[:-1])
    if not left.called and return_to(d, at.flow, given):
        return True
    return open_flow(d, at.flow, given, called=left.called)


def finish_action(d: DialogueDraft, outputs: tuple[tuple[str, object], ...], at: PerformAction) -> None:
    """Store the results of an action and move to the next step."""
    names = dict(at.outputs)
    given = {names.get(name, name): value for name, value in outputs if not names or name in names}
    for name, value in given.items():
        write(d, name, value, source="action")
    d.set(stack=(*d.s.stack[:-1], without_lost_choices(d.domain, d.top, frozenset(given))))
    if at.is_final:
        d.set_top(done=(*d.top.done, at.step))
        d.has_just_acted = True
    _advance(d)


def end_flow(d: DialogueDraft, said: str = "", is_cancelled: bool = False, *, is_left: bool = False) -> bool:
    """End the open flow, and return to the flow below it on the stack. Its slots are stored, so that their values can
    still be used. Cancelling a called flow also cancels the flow that called it. `is_left` is True if a repair flow
    ends early, so that what the user wanted (such as a cancellation) doesn't take place. Always returns True."""
    ended, flow = d.top, d.flow
    is_item = ended.called and d.domain.list_of_item(ended.flow) is not None
    words = said or ("" if is_cancelled else flow.completed or d.domain.patterns.completed)
    d.say("" if is_item else words)
    if len(d.s.stack) == 1 and not d.says_something:
        d.say(d.domain.patterns.ended)
    d.enter(Phase.COMPLETED)
    if not is_item:
        keep_slots(d, ended)
    d.set(stack=d.s.stack[:-1], waiting_for=None, pending=0, misses=0, silences=0)
    d.set(among=(), values=(), reading_back=False)
    d.note("flow_cancelled" if is_cancelled else "flow_completed", flow=ended.flow)
    if ended.repairs:
        return _after_repair(d, ended, said, is_cancelled=is_cancelled, is_left=is_left)
    if not d.s.stack:
        may_correct = d.domain.correctable_turns > 0 and (not is_cancelled or bool(ended.done))
        d.set(tries=0, ended=ended if may_correct else None, ended_turn=d.s.turn_count)
        return True
    below = d.flow.program[d.top.at]
    if ended.called and (spec := d.domain.list_of_item(ended.flow)) is not None:
        if is_cancelled:
            return end_flow(d, said, is_cancelled=True)
        _store_item(d, ended, spec)
    elif ended.called and isinstance(below, CallFlow):
        for theirs, ours in below.takes:
            if (filled := ended.filled(theirs)) is not None:
                d.set_top(slots=put(d.top.slots, ours, filled))
        if is_cancelled:
            return end_flow(d, is_cancelled=True)
        _advance(d)
    elif isinstance(below, Collect | Confirm) or (isinstance(below, PerformAction) and below.step not in d.top.done):
        d.say(d.domain.patterns.back_to)  # there is a question to return to
    return True


def _after_repair(d: DialogueDraft, ended: Instance, said: str, *, is_cancelled: bool, is_left: bool) -> bool:
    """A repair flow has ended: carry out the cancellation or handover that the user wanted, or return to the open
    question. The failed attempts at that question stay counted. Always returns True."""
    if is_cancelled and d.s.stack:
        return end_flow(d, "" if said else d.domain.patterns.cancelled, is_cancelled=True)
    if is_cancelled or is_left or ended.repairs not in ("cancel", "handoff"):
        _restore_question(d, ended)
    elif ended.repairs == "handoff":
        hand_over(d)
    elif d.s.stack:
        return end_flow(d, d.domain.patterns.cancelled, is_cancelled=True)
    return True


def _restore_question(d: DialogueDraft, ended: Instance) -> None:
    """Restore the counts of failed attempts for the question that a repair interrupted. The agent then asks this
    question without another apology."""
    if not d.s.stack:
        d.set(tries=0)
        return
    at = d.flow.program[d.top.at]
    missing = next((slot for slot in d.top.needs if d.top.filled(slot) is None), None)
    slot = missing or (at.slot if isinstance(at, Collect) else None)
    misses, silences, tries = ended.counts
    d.question = (d.top.id, d.top.at, slot)
    d.set(misses=misses, silences=silences, tries=tries, waiting_for=slot)
    d.is_repaired = True


def end_all_flows(d: DialogueDraft) -> None:
    """End every open flow without saying anything. Their slots are stored, so that the values can still be used."""
    if not d.s.stack:
        return
    d.enter(Phase.COMPLETED)
    keep_slots(d, *d.s.stack)
    for instance in d.s.stack:
        d.note("flow_cancelled", flow=instance.flow)
    d.set(stack=(), waiting_for=None, pending=0, misses=0, silences=0, tries=0)
    d.set(among=(), values=(), reading_back=False, trouble=None)


def give_up(d: DialogueDraft, said: str = "") -> None:
    """The open question failed too often or can't be asked: end the flow, or hand over to a human if the domain says
    so."""
    d.note("gave_up", slot=d.s.waiting_for or "")
    if d.domain.gives_up_by == "handoff":
        hand_over(d)
    else:
        end_flow(d, said or d.domain.patterns.gave_up, is_cancelled=True)


def hand_over(d: DialogueDraft, reason: str = "") -> None:
    """Hand over to a human and end all flows. Their slots are stored, so that the values can still be used."""
    d.say(d.domain.patterns.handoff)
    d.effects.append(HandOver(reason))
    end_all_flows(d)


# -- Errors


def fail(d: DialogueDraft, kind: str, message: str) -> None:
    """Enter the error phase: tell the user, and record the phase to return to on a retry."""
    recovery = d.s.phase if d.s.phase not in (Phase.COMPLETED, Phase.ERROR) else Phase.UNDERSTANDING
    if d.s.phase is Phase.EXECUTING_ACTION:
        d.set_top(failed=True)
    d.enter(Phase.ERROR)
    d.set(trouble=DialogueTrouble(kind, message, d.at, recovery), pending=0, misses=0, silences=0, tries=0)
    d.note("error", type=kind, message=message)
    patterns = d.domain.patterns
    d.say(patterns.unsure if kind == UNKNOWN_OUTCOME else patterns.failed, asks=True)


def stay_in_error(d: DialogueDraft) -> None:
    """Stay in the error phase, because an action failed and the user hasn't asked to retry it."""
    if d.s.trouble is None:
        d.set(trouble=DialogueTrouble("ActionFailed", "an action failed before", d.at, Phase.EXECUTING_ACTION))
    d.enter(Phase.ERROR)
    d.set(pending=0, misses=0, silences=0, tries=0)
    d.say(d.domain.patterns.failed, asks=True)
