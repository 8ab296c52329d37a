"""Finds values in messages that were only partly understood: in a message that starts a task, and in an answer with
other words around it.

Rule: such a value has a `source` that marks it as taken from a message that wasn't fully understood. The agent
announces it to the user before it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from duologue.dialogue.clauses import clauses_of, without_join
from duologue.dialogue.commands import ChitChat, SetSlot, StartFlow
from duologue.dialogue.denials import only_denies
from duologue.dialogue.effects import Understand
from duologue.dialogue.flow import Domain
from duologue.dialogue.language.match import Match
from duologue.dialogue.language.pack import LanguagePack
from duologue.dialogue.language.readings import Json, Question, Slot, SlotKind, Unclear, Why
from duologue.dialogue.language.tokens import Token, span_of
from duologue.dialogue.reference_day import slot_with_last_day
from duologue.dialogue.state import DialogueState
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.dialogue.value_patterns import is_match

from .labelled_values import labelled_values

_COUNTED_ONCE = (SlotKind.CHOICE, SlotKind.NUMBER, SlotKind.MONEY)
_CODE_GROUPS_MAX = 6
_CODE_CHARS_MIN = 4  # if the slot has no pattern, a code among other words has at least this many characters


def first_values(domain: Domain, flow: str, text: str, today: str) -> tuple[SetSlot, ...]:
    """The values in a message that starts a flow. If some words of the message aren't understood, only the unambiguous
    values are returned."""
    task = domain.flows[flow]
    if listed := _listed(domain, flow, text, today):
        return listed
    slots = tuple(domain.slots[name].grammar_slot for name in task.slots if not domain.slots[name].ask_before_filling)
    whole = domain.pack.replies.read_volunteered(slots, text, " ".join((task.description, *task.examples)), today)
    if whole is not None:
        return tuple(SetSlot(value.slot, value.value, value.raw, value.span) for value in whole.values)
    found = _parts(domain.pack, slots, text, today)
    return (*found, *labelled_values(domain, flow, text, found, today))


def put_off(domain: Domain, flow: str, text: str, today: str, known: Iterable[str]) -> tuple[ChitChat, ...]:
    """What the agent says about days and times that the message leaves open, such as "on Monday or Tuesday": that it
    will ask about them later. Empty if there are no such days and times, or if the flow asks for them next. `known`
    holds the names of the filled slots."""
    names = [name for name in domain.flows[flow].slots if name not in set(known)]
    slots = tuple(domain.slots[name].grammar_slot for name in names if not domain.slots[name].ask_before_filling)
    left = [name for name in domain.pack.replies.unsettled_slots(slots, text, today) if name != names[0]]
    said = ", ".join(domain.slots[name].display_name for name in left)
    return (ChitChat(domain.patterns.later.replace("{slots}", said)),) if left else ()


def flow_by_items(domain: Domain, text: str, today: str) -> tuple[StartFlow | SetSlot, ...]:
    """The commands that start a flow because the message names items of its list, such as "two large margheritas and a
    cola". Empty if a word isn't understood, if the message asks something, or if no flow or more than one flow asks for
    such items."""
    found: list[tuple[StartFlow | SetSlot, ...]] = [
        (StartFlow(flow.name), *listed)
        for flow in domain.offered
        if (listed := _listed(domain, flow.name, text, today)) and all(one.source != PICKED_OUT for one in listed)
    ]
    pack = domain.pack
    return found[0] if len(found) == 1 and not pack.signs.asks(pack.words.tokens_of(text)) else ()


def _listed(domain: Domain, flow: str, text: str, today: str) -> tuple[SetSlot, ...]:
    """The items of a list in a message that starts a flow, and other values in the message. Numbers aren't used as
    values of other slots, because they may say how many items there are. Empty if the flow asks for no list, or if the
    message names no item."""
    task = domain.flows[flow]
    spec = next((domain.slots[name] for name in task.slots if domain.slots[name].items), None)
    if spec is None or spec.ask_before_filling:
        return ()
    about = " ".join((task.description, *task.examples, spec.display_name))
    slots = tuple(domain.slots[name].grammar_slot for name in spec.items)
    found = domain.list_readers.read(text, slots, about, 0, today)
    if (
        found is None
        or found.kind != "add"
        or not any(len(item) > 1 or not _counts(domain, item) for item in found.items)
    ):
        return ()  # "I'd like a pizza" asks for the task without naming an item
    items = [dict(item) for item in found.items]
    source = PICKED_OUT if found.leftover else "grammar"
    others = tuple(
        domain.slots[name].grammar_slot
        for name in task.slots
        if not domain.slots[name].items
        and domain.slots[name].kind is not SlotKind.NUMBER
        and not domain.slots[name].ask_before_filling
    )
    return (SetSlot(spec.name, items, text, source=source), *_parts(domain.pack, others, text, today))


def _counts(domain: Domain, item: Mapping[str, Json]) -> bool:
    return all(domain.slots[name].kind is SlotKind.NUMBER for name in item)


def answer_in_part(domain: Domain, state: DialogueState, effect: Understand, today: str) -> tuple[SetSlot, ...]:
    """The answer to the open question, and other values, in a message that was only partly understood. Empty if the
    message contains no answer to the open question, or if it is itself a question."""
    if (
        state.top is None
        or effect.waiting_for is None
        or domain.pack.signs.asks(domain.pack.words.tokens_of(effect.text))
    ):
        return ()
    flow = domain.flows[state.top.flow]
    empty = [
        name for name in flow.slots if state.top.filled(name) is None and not domain.slots[name].ask_before_filling
    ]
    if wants_yes_or_no(domain, effect):
        return _yes_or_no_in_part(domain.pack, effect, tuple(domain.slots[name].grammar_slot for name in empty), today)
    names = dict.fromkeys((effect.waiting_for, *empty))
    asked = {name: slot_with_last_day(domain, state.top, domain.slots[name]) for name in names}
    found = _parts(domain.pack, tuple(asked.values()), effect.text, today)
    found = tuple(value for value in found if not _is_limit(domain, value, effect.text))
    if _counts_twice(domain, effect.waiting_for, effect.text, found) or _is_denied(domain, effect):
        return ()
    first = domain.pack.replies.read_first(Question(asked[effect.waiting_for], effect.question), effect.text, today)
    if first is not None and not any(value.slot == effect.waiting_for for value in found):
        found = (SetSlot(first.slot, first.value, first.raw, first.span, PICKED_OUT), *found)
    if not any(value.slot == effect.waiting_for for value in found):
        found = (*_name_in_part(domain.pack, asked[effect.waiting_for], effect.text), *found)
        found = (*_code_in_part(domain, effect.waiting_for, effect.text), *found)
    return found if any(value.slot == effect.waiting_for for value in found) else ()


def _is_limit(domain: Domain, value: SetSlot, text: str) -> bool:
    """Does a word such as "till" stand right before this day or time, as in "from eleven till four"?"""
    if domain.slots[value.slot].kind not in (SlotKind.DATE, SlotKind.TIME):
        return False
    words = domain.pack.words
    said = tuple(token.word for token in words.tokens_of(text) if token.end <= value.span[0])
    return any(said[-len(one) :] == one for one in words.limits)


def _is_denied(domain: Domain, effect: Understand) -> bool:
    """Does a clause of the reply deny the day or time in the clause before it? True for "Friday, I can't"."""
    if effect.waiting_for is None or domain.slots[effect.waiting_for].kind not in (SlotKind.DATE, SlotKind.TIME):
        return False
    tokens = domain.pack.words.tokens_of(effect.text)
    clauses = clauses_of(domain.pack.words, tokens)
    parts = [without_join(domain.pack.words, tokens, one) for one in clauses[1:]]
    return any(only_denies(domain.pack, tokens[one.start : one.stop]) for one in parts)


def _counts_twice(domain: Domain, slot: str, text: str, found: Iterable[SetSlot]) -> bool:
    """Does the message hold a further number beside the number that answers the open question? Then it isn't clear
    which one is meant: "two hours should do, my wife says three, so let's go with that"."""
    if domain.slots[slot].kind not in (SlotKind.NUMBER, SlotKind.DURATION):
        return False
    words, spans = domain.pack.words, [value.span for value in found]
    if not any(value.slot == slot for value in found):
        return False
    numbers = [one for one in words.tokens_of(text) if words.is_number(one.word) and one.word not in words.which_ones]
    return any(not any(first <= one.start < after for first, after in spans) for one in numbers)


def only_one(domain: Domain, effect: Understand, today: str) -> tuple[ChitChat, ...]:
    """What the agent says if the reply gives several values for a slot that takes one choice, number or amount: that it
    can take only one. Empty for any other reply."""
    spec = domain.slots[effect.waiting_for] if effect.waiting_for is not None else None
    if (
        spec is None
        or spec.kind not in _COUNTED_ONCE
        or domain.pack.signs.asks(domain.pack.words.tokens_of(effect.text))
    ):
        return ()
    reading = domain.pack.replies.read(Question(spec.grammar_slot, effect.question), effect.text, today)
    is_several = isinstance(reading, Unclear) and reading.why is Why.SEVERAL
    if is_several and spec.kind is SlotKind.NUMBER:
        return (ChitChat(domain.patterns.one_number),)
    return (_say_only_one(domain, spec.name),) if is_several else ()


def one_more(domain: Domain, state: DialogueState, text: str, values: Iterable[SetSlot]) -> tuple[ChitChat, ...]:
    """What the agent says if the user wants a second thing although the open flow takes only one: that it can take only
    one. The new value doesn't replace the old one. Empty for any other message. Example: "yes, and I also want a
    mouse", after a keyboard."""
    words = domain.pack.words
    if state.top is None or not any(token.word in words.adding for token in words.tokens_of(text)):
        return ()
    kept = [
        value.slot
        for value in values
        if (before := state.top.filled(value.slot)) is not None and before.value != value.value
    ]
    return tuple(_say_only_one(domain, slot) for slot in kept[:1])


def _say_only_one(domain: Domain, slot: str) -> ChitChat:
    return ChitChat(domain.patterns.only_one.replace("{slot}", domain.slots[slot].display_name))


def _name_in_part(pack: LanguagePack, slot: Slot, text: str) -> tuple[SetSlot, ...]:
    """The name in a longer sentence, if the agent asked for a name and accepts names that aren't on a list; otherwise
    empty."""
    tokens = pack.words.tokens_of(text)
    span = pack.replies.name_in_sentence(tokens) if slot.kind is SlotKind.NAME and slot.is_open else None
    if span is None:
        return ()
    start, end = span_of(tokens, *span)
    return (SetSlot(slot.name, text[start:end], text[start:end], (start, end), PICKED_OUT),)


def _code_in_part(domain: Domain, slot: str, text: str) -> tuple[SetSlot, ...]:
    """The code in a longer message, as in "let me get my glasses. Right, it says GB 774410". Empty if the slot isn't
    for a code, or if the message has no such code or several. Without a pattern for the slot, a code must have a digit
    and at least four characters."""
    spec, tokens = domain.slots[slot], domain.pack.words.tokens_of(text)
    if spec.kind is not SlotKind.CODE:
        return ()
    found = {
        str(code): match
        for match in domain.pack.replies.codes_in(tokens)
        for code in match.candidates
        if (is_match(spec.pattern, str(code)) if spec.pattern else _is_long_code(str(code)))
    }
    if not found and spec.pattern:
        found = dict(_typed_codes(spec.pattern, tokens))
    if len(found) != 1:
        return ()
    code, match = found.popitem()
    start, end = span_of(tokens, match.first, match.after)
    return (SetSlot(slot, code, text[start:end], (start, end), PICKED_OUT),)


def _typed_codes(pattern: str, tokens: Sequence[Token]) -> Iterator[tuple[str, Match]]:
    """The codes that are written in groups, such as "kl 93 rot" for three letters at the end. They need a digit, and
    the slot's pattern has to match the whole code, so that no ordinary words are taken."""
    for first in range(len(tokens)):
        for after in range(first + 1, min(len(tokens), first + _CODE_GROUPS_MAX) + 1):
            code = "".join(token.word for token in tokens[first:after]).upper()
            if any(char.isdigit() for char in code) and code.isalnum() and is_match(pattern, code):
                yield code, Match(first, after, (code,))


def _is_long_code(code: str) -> bool:
    return len(code) >= _CODE_CHARS_MIN and any(char.isdigit() for char in code)


def wants_yes_or_no(domain: Domain, effect: Understand) -> bool:
    return effect.waiting_for is not None and domain.slots[effect.waiting_for].kind is SlotKind.YES_NO


def _yes_or_no_in_part(
    pack: LanguagePack, effect: Understand, slots: tuple[Slot, ...], today: str
) -> tuple[SetSlot, ...]:
    """The yes or no at the beginning of a message that goes on with an explanation, and other values in the message.
    Empty if the message doesn't begin with a clear yes or no."""
    signs, tokens = pack.signs, pack.words.tokens_of(effect.text)
    answer = signs.opening_answer(tokens)
    if answer is None or effect.waiting_for is None or signs.trick_of(effect.question):
        return ()
    if signs.asks_about_past(effect.question) and signs.is_about_future(tokens[1:]):
        return ()  # "yes, I'll call them", where the question was about the past
    others = tuple(slot for slot in slots if slot.name != effect.waiting_for)
    said = SetSlot(effect.waiting_for, answer, effect.text, source=PICKED_OUT)
    return (said, *_parts(pack, others, effect.text, today))


def _parts(pack: LanguagePack, slots: tuple[Slot, ...], text: str, today: str) -> tuple[SetSlot, ...]:
    found = pack.replies.read_parts(slots, text, today)
    return tuple(SetSlot(value.slot, value.value, value.raw, value.span, PICKED_OUT) for value in found)
