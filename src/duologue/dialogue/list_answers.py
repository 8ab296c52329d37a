"""Replies about a list: new items, items that are removed or changed, and the end of the list.

Users can say these things while the agent asks for the list, while it asks for missing values of an item, at a later
question and at a confirmation. Rule: an item is changed only if the words fit exactly one item. If they fit several,
the agent asks which one is meant. The agent always reads back what it understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .clauses import CLAUSES_MAX, clauses_of, text_of, without_join
from .commands import CorrectSlot, SetSlot
from .dependencies import final_action_using
from .draft import DialogueDraft
from .flow import SlotSpec
from .interpreters import MessageInContext
from .item_lists import (
    MORE,
    NEW,
    ListDraft,
    count_slot,
    draft_in,
    item_said,
    items_in,
    list_said,
    matching,
    with_draft,
    without_place,
)
from .language.list_reply import LAST, ItemValues, ListReply
from .language.readings import Confirmation, ConfirmationAnswer, Json, SlotKind
from .language.tokens import Token
from .partial_corrections import corrections_in_part
from .prompts import count_try, has_failed_too_often, wait_for_answer
from .run_flow import continue_flow
from .side_questions import answer_to
from .stack import has_just_ended, reopen
from .state import Instance, Phase, without
from .templates import either, first_of
from .values import revisit_after_change, tell_what_was_done, validate_next


def take_list_reply(reply: MessageInContext) -> bool:
    """Handle a reply to the question for a list: new items, changes, or a reply such as "that's all". Return False for
    any other reply."""
    d, slot = reply.d, reply.d.s.waiting_for
    spec = d.spec(slot) if slot is not None else None
    if spec is None or not spec.items or d.s.reading_back or reply.signs.command_of(reply.tokens) is not None:
        return False
    draft = draft_in(d.top, spec.name)
    if draft.items and d.domain.list_readers.asks_for_list(reply.text, spec.display_name):
        _tell(d, spec, draft.items)
        return True
    if reply.signs.asks(reply.tokens) and not d.domain.list_readers.is_explicit(reply.text):
        return _take_end_in_clause(reply, spec, draft)
    found = _read(d, spec, reply.text, len(draft.items))
    if found is None:
        return _take_yes_or_no(reply, spec, draft) or _take_end_in_clause(reply, spec, draft)
    d.enter(Phase.UNDERSTANDING)
    _apply(d, len(d.s.stack) - 1, spec, found)
    return True


def _take_yes_or_no(reply: MessageInContext, spec: SlotSpec, draft: ListDraft) -> bool:
    """Handle the answer to "Anything else?". After a no, the list is finished. After a yes, the agent asks the question
    with which the list began. Return False for any other reply."""
    d = reply.d
    reading = d.domain.pack.replies.read_confirmation(d.s.last_question, reply.text, d.today, ())
    answer = reading.answer if isinstance(reading, Confirmation) and not reading.values else None
    if not draft.items and not spec.is_optional and spec.items_min > 0:
        return False
    if answer is ConfirmationAnswer.NO:
        d.enter(Phase.UNDERSTANDING)
        _apply(d, len(d.s.stack) - 1, spec, ListReply("done", is_done=True))
        return True
    if answer is ConfirmationAnswer.YES and draft.items:
        d.enter(Phase.UNDERSTANDING)
        count_try(d)
        if has_failed_too_often(d, spec.name):
            continue_flow(d)
        else:
            d.set(last_question=d.say(spec.prompt, asks=True), misses=0, silences=0)
            wait_for_answer(d)
        return True
    return False


def _take_end_in_clause(reply: MessageInContext, spec: SlotSpec, draft: ListDraft) -> bool:
    """Handle a reply in which one clause ends the list: "no, that's it, what does it cost?", "that's all, but take the
    lilies out". A question in another clause is answered, and a removal is made. Return False if another clause names
    items in any other way."""
    d, clauses = reply.d, clauses_of(reply.words, reply.tokens)
    if not draft.items or not 1 < len(clauses) <= CLAUSES_MAX:
        return False
    parts = [without_join(reply.words, reply.tokens, one) for one in clauses]
    texts = [text_of(reply.text, reply.tokens, one) for one in parts]
    ends = [at for at, text in enumerate(texts) if _ends_list(d, spec, text, len(draft.items))]
    others = {at: _read(d, spec, text, len(draft.items)) for at, text in enumerate(texts) if at not in ends}
    items = [found for found in others.values() if found is not None and found.kind != "done"]
    slots = tuple(d.spec(name).grammar_slot for name in spec.items)
    if any(
        found is None and d.domain.pack.replies.read_parts(slots, texts[at], d.today) for at, found in others.items()
    ):
        return False
    if not ends or any(found.kind != "remove" or found.leftover for found in items) or len(items) > 1:
        return False
    asked = next((at for at in others if reply.signs.asks(reply.tokens[clauses[at].start : clauses[at].stop])), None)
    if asked is not None:
        d.say(answer_to(d, reply.tokens[clauses[asked].start :]) or d.domain.patterns.cannot_answer)
    d.enter(Phase.UNDERSTANDING)
    end = replace(items[0], is_done=True) if items else ListReply("done", is_done=True)
    _apply(d, len(d.s.stack) - 1, spec, end)
    return True


def _ends_list(d: DialogueDraft, spec: SlotSpec, text: str, count: int) -> bool:
    """Does this clause say that nothing more is wanted? A bare "no" isn't enough."""
    found = _read(d, spec, text, count)
    if found is not None:
        return found.kind == "done"
    return d.domain.pack.signs.where_nothing_more(d.domain.pack.words.tokens_of(text)) is not None


def take_list_change(reply: MessageInContext) -> bool:
    """Handle a reply that changes a list while another question is open: a question about an item of the list, a
    question for a later slot, or a confirmation. Return False if the reply changes no list."""
    d = reply.d
    if d.s.reading_back or not d.s.stack or reply.signs.command_of(reply.tokens) is not None:
        return False
    parent = d.domain.list_of_item(d.top.flow)
    if parent is not None and d.top.called and len(d.s.stack) > 1:
        return _take_during_item(reply, parent)
    finished = [(d.domain.slots[name], filled) for name, filled in d.top.slots if _is_list(d, name)]
    for spec, filled in finished:
        if d.domain.list_readers.asks_for_list(reply.text, spec.display_name):
            _tell(d, spec, items_in(filled.value, spec))
            return True
    asked = d.spec(d.s.waiting_for) if d.s.waiting_for is not None else None
    if not finished or (asked is not None and not d.domain.list_readers.is_explicit(reply.text)):
        return False
    for spec, filled in finished:
        if spec.name not in d.flow.slots or reply.signs.asks(reply.tokens):
            continue
        items = items_in(filled.value, spec)
        found = _read(d, spec, reply.text, len(items)) if asked is not None else _removal_in(reply, spec, items)
        if found is None or found.kind == "done" or found.leftover or not _is_about(d, spec, found, items):
            continue
        counts = count_slot(d.domain, spec)
        if found.kind == "add" and not (
            d.domain.list_readers.is_explicit(reply.text) or all(counts in item for item in found.items)
        ):
            continue  # at a confirmation, "small" doesn't add an item
        d.enter(Phase.UNDERSTANDING)
        _apply(d, len(d.s.stack) - 1, spec, found)
        return True
    return False


def take_list_change_after_task(reply: MessageInContext) -> bool:
    """Handle a change of the list of a task that has just ended: "oh, and make that two colas". The task is opened
    again, so a confirmation is asked again, and nothing that was done for good is done twice. Return False for any
    other message."""
    d, ended = reply.d, reply.d.s.ended
    readers = d.domain.list_readers
    if ended is None or not has_just_ended(d.domain, d.s) or not readers.is_explicit(reply.text):
        return False
    for name, filled in ended.slots:
        if not _is_list(d, name) or name not in ended.asked or reply.signs.asks(reply.tokens):
            continue
        spec = d.domain.slots[name]
        found = _read(d, spec, reply.text, len(items_in(filled.value, spec)))
        if found is None or found.kind == "done" or found.leftover or not _names_thing(d, spec, found):
            continue
        d.enter(Phase.UNDERSTANDING)
        reopen(d, ended)
        _apply(d, len(d.s.stack) - 1, spec, found)
        return True
    return False


def _names_thing(d: DialogueDraft, spec: SlotSpec, found: ListReply) -> bool:
    """Does the reply name a thing, and not only a number?"""
    counts = count_slot(d.domain, spec)
    return any(set(values) - {counts} for values in (*found.items, found.old, found.new))


def _removal_in(reply: MessageInContext, spec: SlotSpec, items: tuple[ItemValues, ...]) -> ListReply | None:
    """What a reply to a confirmation does to a list. If the whole reply isn't understood, one of its clauses may still
    remove an item: "take the suit off again, my husband needs it"."""
    d, readers = reply.d, reply.d.domain.list_readers
    whole = _read(d, spec, reply.text, len(items))
    if whole is not None and not whole.leftover:
        return whole
    clauses = [text_of(reply.text, reply.tokens, one) for one in clauses_of(reply.words, reply.tokens)]
    parts = {clause: _read(d, spec, clause, len(items)) for clause in clauses if readers.is_explicit(clause)}
    removals = [at for at, one in parts.items() if one is not None and one.kind == "remove" and not one.leftover]
    if len(removals) != 1 or (found := parts[removals[0]]) is None:
        return whole
    others = [clause for clause in clauses if clause != removals[0]]
    changed = [clause for clause in others if corrections_in_part(d.domain, d.top, clause, d.today)]
    if changed:
        d.say(d.domain.patterns.left_out, value=", ".join(changed))
    return found


def _is_list(d: DialogueDraft, name: str) -> bool:
    return name in d.domain.slots and bool(d.domain.slots[name].items)


def _tell(d: DialogueDraft, spec: SlotSpec, items: tuple[ItemValues, ...]) -> None:
    """Say what is on a list, and ask the open question again."""
    d.enter(Phase.UNDERSTANDING)
    d.say(d.domain.patterns.recalled, slot=spec.display_name, value=list_said(d.domain, spec, items, d.today))
    d.set(misses=0, silences=0)
    continue_flow(d)


def _is_about(d: DialogueDraft, spec: SlotSpec, found: ListReply, items: tuple[ItemValues, ...]) -> bool:
    """Is this change certainly about this list? A reply that gives only a number, such as "make it five", may be about
    another slot of the flow. It is about the list only if the list has exactly one item and the flow has no filled slot
    of type number."""
    if found.kind == "add" or found.position not in (None, LAST):
        return True
    counts = count_slot(d.domain, spec)
    said = {**found.old, **found.new}
    if set(said) - {counts}:
        return bool(found.kind == "change" or matching(items, found.old, counts) or found.position is not None)
    kinds = {d.domain.slots[name].kind for name, _ in d.top.slots if name in d.domain.slots}
    return len(items) == 1 and SlotKind.NUMBER not in kinds


def _take_during_item(reply: MessageInContext, spec: SlotSpec) -> bool:
    """Handle a reply about the list while the agent asks for missing values of an item: "and a cola", "forget that
    one", "that's all". Return False for any other reply."""
    d = reply.d
    draft = draft_in(d.s.stack[-2], spec.name)
    if draft.items and d.domain.list_readers.asks_for_list(reply.text, spec.display_name):
        _tell(d, spec, draft.items)
        return True
    found = _read(d, spec, reply.text, len(draft.items) + 1)
    if found is None or reply.signs.asks(reply.tokens):
        return False
    place = len(d.s.stack) - 2
    if found.kind == "change" and found.old and found.new and _is_open_item(d, draft, spec, found):
        d.set(values=tuple(CorrectSlot(name, value, source="correction") for name, value in found.new.items()))
        validate_next(d)
        return True
    if _restates(d, spec, draft, found):
        named = found.items[0]
        d.set(values=tuple(SetSlot(name, value, reply.text, source="grammar") for name, value in named.items()))
        validate_next(d)
        return True
    if found.kind == "remove" and _is_open_item(d, draft, spec, found):
        d.enter(Phase.UNDERSTANDING)
        _drop_open_item(d, place, spec, draft)
        return True
    if found.kind == "add" and not found.leftover and draft.open in (NEW, MORE) and _divides(d, spec, found):
        d.enter(Phase.UNDERSTANDING)
        _divide_open_item(d, place, spec, draft, found)
        return True
    if found.kind == "done" or (
        found.kind in ("add", "remove") and not found.leftover and d.domain.list_readers.is_explicit(reply.text)
    ):
        d.enter(Phase.UNDERSTANDING)
        if found.kind == "done":
            count_try(d)
        _apply(d, place, spec, found)
        return True
    return False


def _restates(d: DialogueDraft, spec: SlotSpec, draft: ListDraft, found: ListReply) -> bool:
    """Does the reply name the open item once more, with the value that the agent asked for? True for "garlic naan,
    regular, two", after "regular or large?". Such a reply adds no further item."""
    if found.kind != "add" or len(found.items) != 1 or found.leftover or draft.open is None or found.is_done:
        return False
    words, counts, item = d.domain.pack.words, count_slot(d.domain, spec), found.items[0]
    said = _last_words(d)
    if any(token.word in words.adding for token in said) or said[0].word in words.ands:
        return False
    held = {name: filled.value for name, filled in d.top.slots if name in spec.items}
    known = [name for name in item if name in held and name != counts]
    return d.s.waiting_for in item and bool(known) and all(item[name] == held[name] for name in known)


def _last_words(d: DialogueDraft) -> Sequence[Token]:
    """The words of the user's last message."""
    said = next((message.content for message in reversed(d.s.messages) if message.role == "user"), "")
    return d.domain.pack.words.tokens_of(said)


def _is_open_item(d: DialogueDraft, draft: ListDraft, spec: SlotSpec, found: ListReply) -> bool:
    """Does the reply remove or change the item whose missing values the agent is asking for?"""
    if found.position in (LAST, len(draft.items)):
        return True
    item = {name: filled.value for name, filled in d.top.slots}
    is_it = bool(found.old) and bool(matching((item,), found.old, count_slot(d.domain, spec)))
    return is_it and not matching(draft.items, found.old, count_slot(d.domain, spec))


def _drop_open_item(d: DialogueDraft, place: int, spec: SlotSpec, draft: ListDraft) -> None:
    """Remove the item whose missing values the agent is asking for, even if it was already on the list before."""
    item = {name: filled.value for name, filled in d.top.slots if name in spec.items}
    if draft.open is not None and draft.open >= 0:
        draft = replace(draft, items=without_place(draft.items, draft.open), told=max(0, draft.told - 1))
    d.set(stack=d.s.stack[:-1], values=(), among=(), misses=0, silences=0, tries=0, waiting_for=None)
    d.set_top(lists=with_draft(d.s.stack[place], spec.name, replace(draft, open=None)))
    d.say(d.domain.patterns.removed, value=item_said(d.domain, spec, item, d.today) or spec.display_name)
    d.note("item_removed", slot=spec.name)
    continue_flow(d)


def _divides(d: DialogueDraft, spec: SlotSpec, found: ListReply) -> bool:
    """Do the counts of these items add up to the count of the item that the agent is asking about? Example: "one large
    and one small", after "two pizzas"."""
    counts = count_slot(d.domain, spec)
    held = d.top.filled(counts) if counts else None
    said = [item.get(counts) for item in found.items]
    numbers = [count for count in said if type(count) is int]
    return len(said) > 1 and len(numbers) == len(said) and held is not None and sum(numbers) == held.value


def _divide_open_item(d: DialogueDraft, place: int, spec: SlotSpec, draft: ListDraft, found: ListReply) -> None:
    """Replace the item that the agent is asking about by several items. Each of them also keeps the values of the
    replaced item that it doesn't change. Example: "one large and one small", after "two pizzas"."""
    item = {name: filled.value for name, filled in d.top.slots if name in spec.items}
    room = max(0, spec.items_max - draft.size + 1)
    opened = MORE if draft.open == MORE else NEW
    new = tuple((opened, {**item, **values}) for values in found.items[:room])
    d.set(stack=d.s.stack[:-1], values=(), among=(), misses=0, silences=0, tries=0, waiting_for=None)
    d.set_top(lists=with_draft(d.s.stack[place], spec.name, replace(draft, waiting=(*new, *draft.waiting), open=None)))
    continue_flow(d)


# -- Applying a reply


def _read(d: DialogueDraft, spec: SlotSpec, text: str, count: int) -> ListReply | None:
    slots = tuple(d.spec(name).grammar_slot for name in spec.items)
    flows = " ".join(flow.description for flow in d.domain.flows.values() if spec.name in flow.slots)
    about = f"{spec.display_name} {spec.name.replace('_', ' ')} {flows} {first_of(spec.prompt)}"
    return d.domain.list_readers.read(text, slots, about, count, d.today)


def _apply(d: DialogueDraft, place: int, spec: SlotSpec, found: ListReply) -> None:
    """Apply the reply to the list and continue the flow. `place` is the index on the stack of the flow that has the
    list."""
    if final_action_using(d, spec.name) is not None:
        tell_what_was_done(d, spec.name)
        continue_flow(d)
        return
    d.set(misses=0, silences=0)
    draft = _opened(d, place, spec)
    match found.kind:
        case "add":
            draft = _with_items(d, spec, draft, found)
        case "remove":
            draft = _without_item(d, spec, draft, found)
        case "change":
            draft = _with_change(d, spec, draft, found)
    draft = replace(draft, is_done=draft.is_done or found.is_done)
    if found.leftover:
        d.say(d.domain.patterns.left_out, value=", ".join(found.leftover))
    if found.leftover or d.s.is_doubtful:
        draft = replace(draft, unsure_turn=d.s.turn_count)
    _set_draft(d, place, spec, draft)
    continue_flow(d)


def _count(d: DialogueDraft) -> None:
    """Count a failed attempt, unless the open question is a confirmation."""
    if d.s.waiting_for is not None:
        count_try(d)


def _opened(d: DialogueDraft, place: int, spec: SlotSpec) -> ListDraft:
    """Open the list, so that it can be changed, and return it as an unfinished list. If the list was already finished,
    the flow goes back to the step that asks for the list, and finishes the list again after the change."""
    filled = d.s.stack[place].filled(spec.name)
    if filled is None:
        return draft_in(d.s.stack[place], spec.name)
    items = items_in(filled.value, spec)
    draft = ListDraft(items, told=len(items), is_done=True, is_late=d.s.waiting_for is not None)
    d.set_top(slots=without(d.top.slots, frozenset((spec.name,))))
    _set_draft(d, place, spec, draft)
    d.set(among=(), waiting_for=None)
    revisit_after_change(d, spec.name, is_empty=True)
    return draft


def _set_draft(d: DialogueDraft, place: int, spec: SlotSpec, draft: ListDraft) -> None:
    stack = list(d.s.stack)
    one: Instance = stack[place]
    stack[place] = replace(one, lists=with_draft(one, spec.name, draft))
    d.set(stack=tuple(stack))


def _with_items(d: DialogueDraft, spec: SlotSpec, draft: ListDraft, found: ListReply) -> ListDraft:
    room = max(0, spec.items_max - draft.size)
    if len(found.items) > room:
        d.say(d.domain.patterns.list_full)
    d.set(tries=0)
    items = found.items[:room]
    counts = count_slot(d.domain, spec)
    waiting = (
        (MORE if found.is_more or _may_repeat(item, items[:at], counts) else NEW, item) for at, item in enumerate(items)
    )
    return replace(draft, waiting=(*draft.waiting, *waiting))


def _may_repeat(item: ItemValues, before: Sequence[ItemValues], counts: str) -> bool:
    """May the item be equal to an item before it in the same reply? Then it is wanted in addition to that item."""
    return any(all(one.get(name, value) == value for name, value in item.items() if name != counts) for one in before)


def _without_item(d: DialogueDraft, spec: SlotSpec, draft: ListDraft, found: ListReply) -> ListDraft:
    place = _place_of(d, spec, draft, found, found.old)
    if place is None:
        return draft
    counts, item = count_slot(d.domain, spec), draft.items[place]
    taken = 1 if found.is_one_of else found.old.get(counts)
    held = item.get(counts)
    d.set(tries=0)
    d.note("item_removed", slot=spec.name)
    if type(taken) is int and type(held) is int and 0 < taken < held:
        gone: dict[str, Json] = {**item, counts: taken}
        d.say(d.domain.patterns.removed, value=item_said(d.domain, spec, gone, d.today))
        left = {**item, counts: held - taken}
        items = (*without_place(draft.items, place), left)
        return replace(draft, items=items, told=draft.told - (place < draft.told))
    d.say(d.domain.patterns.removed, value=item_said(d.domain, spec, item, d.today))
    items = without_place(draft.items, place)
    is_enough = len(items) + len(draft.waiting) >= max(1, spec.items_min)
    return replace(draft, items=items, told=draft.told - (place < draft.told), is_done=draft.is_done and is_enough)


def _with_change(d: DialogueDraft, spec: SlotSpec, draft: ListDraft, found: ListReply) -> ListDraft:
    counts = count_slot(d.domain, spec)
    old, new = found.old, found.new
    if found.position is None and (not new or set(old) - set(new)):
        old, new = _old_and_new(draft.items, found, counts)
    if not new:
        d.say(d.domain.patterns.no_such_item)
        _count(d)
        return draft
    place = _place_of(d, spec, draft, found, old, new)
    if place is None:
        return draft
    item = draft.items[place]
    held = item.get(counts)
    if all(item.get(name) == value for name, value in new.items()):
        _count(d)  # nothing changes
    else:
        d.set(tries=0)
    if found.is_one_of and type(held) is int and held > 1:
        rest = (*draft.items[:place], {**item, counts: held - 1}, *draft.items[place + 1 :])
        return replace(draft, items=rest, waiting=(*draft.waiting, (MORE, {**item, counts: 1, **new})))
    return replace(draft, waiting=(*draft.waiting, (place, {**item, **new})))


def _old_and_new(items: tuple[ItemValues, ...], found: ListReply, counts: str) -> tuple[ItemValues, ItemValues]:
    """Divide the values in a reply such as "the salad large" into two groups: the values that say which item is meant,
    and the new values. The values are tried in the order in which they were said. A value that one of the remaining
    items already has says which item is meant; any other value is new. If no value says which item is meant, no value
    is treated as new."""
    old: dict[str, Json] = {}
    new: dict[str, Json] = {}
    left = items
    for name, value in found.old.items():
        having = tuple(item for item in left if item.get(name) == value)
        if having and name != counts:
            left, old[name] = having, value
        else:
            new[name] = value
    return (old, {**new, **found.new}) if old else (found.old, {})


def _place_of(
    d: DialogueDraft,
    spec: SlotSpec,
    draft: ListDraft,
    found: ListReply,
    old: ItemValues,
    new: ItemValues | None = None,
) -> int | None:
    """Find the item that is meant, and return its index. If no item or several items fit, say so and return None."""
    counts, items = count_slot(d.domain, spec), draft.items
    if found.position == LAST:
        places = _last(items, new or {}, counts)
    elif found.position is not None:
        places = (found.position,) if found.position < len(items) else ()
    else:
        places = matching(items, old, counts)
    if len(places) == 1:
        return places[0]
    if places:
        said = either([item_said(d.domain, spec, items[place], d.today) for place in places], d.domain.pack.spoken)
        d.say(d.domain.patterns.which_item, slots=said)
    else:
        d.say(d.domain.patterns.no_such_item)
    _count(d)
    return None


def _last(items: tuple[ItemValues, ...], new: ItemValues, counts: str) -> tuple[int, ...]:
    """The index of the item that "make it …" is about, in a tuple; an empty tuple if the list is empty. If exactly one
    item already has the new values (its count is ignored), it is this item. Otherwise it is the last item."""
    things = {name: value for name, value in new.items() if name != counts}
    same = matching(items, things, counts) if things else ()
    return same if len(same) == 1 else (len(items) - 1,) if items else ()
