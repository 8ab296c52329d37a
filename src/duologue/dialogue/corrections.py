"""Corrections that need no model: "change the origin to Boston", "Friday instead of Monday", "no, make it five", "not
Boston", "change the date".

The corrected slot is the one that the message names, the one whose current value it mentions, or the one that was
answered last. The grammar of this slot reads the new value. Rule: a message that the grammar doesn't fully understand
isn't treated as a correction here. It goes to NLU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from difflib import SequenceMatcher
from itertools import pairwise

from .clauses import clauses_of
from .commands import ClearSlot, CorrectSlot, SetSlot
from .elliptic_corrections import nearest_time, with_currency_of, with_new_count
from .flow import Collect, Domain, SlotSpec
from .language.readings import ANY, Ambiguous, Direct, Json, Question, Reading, Slot, SlotKind, Unclear, Why
from .reference_day import slot_to_correct
from .slot_names import names_of
from .state import Filled, Instance
from .templates import first_of, spoken
from .text_corrections import without_old_text

Correction = CorrectSlot | SetSlot | ClearSlot

_LENGTH_MAX = 200
_TEXT_WORDS_MAX = 12
_PAUSE = re.compile(r"[,.;!]\s+")
_WORD_CHARS_MIN = 3
_COUNT_WORDS_MAX = 6
_ENDING_CHARS_MAX = 2
_ALIKE_MIN = 0.6  # how similar a text and a choice must be, from 0 to 1, for the text to be a misspelling of the choice
_MOMENTS = {SlotKind.TIME: SlotKind.DATE, SlotKind.DATE: SlotKind.TIME}
_MEASURED = (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)


def corrections(domain: Domain, instance: Instance, text: str, today: str) -> tuple[Correction, ...]:
    """A tuple with the correction in a message; empty if the message isn't clearly a correction. The tuple never has
    more than one element."""
    text = " ".join(text.split())
    if len(text) > _LENGTH_MAX:
        return ()
    for find in (_by_name, _by_value, _by_last_answer, _by_opening_words):
        for found in find(domain, instance, text, today):
            is_other = not isinstance(found, ClearSlot) and compares(domain, found.slot, text, found.raw)
            return () if is_other else (found,)
    return ()


def compares(domain: Domain, slot: str, text: str, raw: str) -> bool:
    """Does a word such as "same" stand before this choice or name? Then the user only compares with it, as in "the same
    for my cat", and doesn't choose it."""
    words, spec = domain.pack.words, domain.slots[slot]
    ends = text.casefold().rfind(raw.casefold()) + len(raw)
    named = words.stems_of(*(name for choice in spec.choices for name in (choice.value, *choice.also)))
    same = {word for word in words.same if words.stem(word) not in named}  # "same day delivery" may be a choice
    is_after = any(token.word in same and token.start < ends for token in words.tokens_of(text))
    return is_after and spec.kind in (SlotKind.CHOICE, SlotKind.NAME)


def named_slot(domain: Domain, instance: Instance, text: str, today: str) -> tuple[str, tuple[Correction, ...]] | None:
    """The slot that a message names, and the commands for the values that the message gives, as in "the time is eight".
    If the message names several slots, the result is the first of these slots, with the commands for all of them. None
    if the message names no slot. There are no commands if no grammar reads the value, or if the slot is empty and may
    only be filled after the agent has asked for it."""
    text = " ".join(text.split())
    if len(text) > _LENGTH_MAX:
        return None
    halves = [_named_one(domain, instance, half, today) for half in domain.pack.corrections.both.split(text)]
    found = [half for half in halves if half is not None and half[1]]
    if len(found) == len(halves) == len({slot for slot, _ in found}) > 1:
        return found[0][0], tuple(one for _, values in found for one in values)
    return _named_one(domain, instance, text, today)


def _named_one(domain: Domain, instance: Instance, text: str, today: str) -> tuple[str, tuple[Correction, ...]] | None:
    for called, name in names_of(domain, instance.flow):
        spec, filled = domain.slots[name], instance.filled(name)
        is_cleared = filled is not None and is_asked(domain, instance, name)
        if domain.pack.corrections.says_wrong(called, text):
            return name, (ClearSlot(name),) if is_cleared else ()
        if is_cleared and domain.pack.corrections.wants_change(called, text):
            return name, (ClearSlot(name),)
        if filled is not None and (told := _wrong_text(domain, spec, called, text)) is not None:
            return name, (told,)
        if (said := domain.pack.corrections.named(called, text)) is None:
            continue
        if filled is None and spec.ask_before_filling:
            return name, ()
        found = _first(_read(domain, spec, said["new"], said.span("new"), today, filled))
        if found is None and filled is not None:
            found = _named_text(domain, spec, said, str(filled.value))
        if found is not None and filled is None:
            return name, (SetSlot(name, found.value, found.raw, found.span),)
        return name, (found,) if found is not None else ()
    return None


def _wrong_text(domain: Domain, spec: SlotSpec, called: str, text: str) -> CorrectSlot | None:
    """The correction of a free text that the message first calls wrong: "the address is wrong, it's 12 Mill Lane". None
    for any other message, and for slots of other types."""
    patterns = domain.pack.corrections
    if spec.kind is not SlotKind.TEXT:
        return None
    tokens = domain.pack.words.tokens_of(text)
    starts = [pause.end() for pause in _PAUSE.finditer(text)]
    starts += [tokens[one.start].start for one in clauses_of(domain.pack.words, tokens)[1:]]
    for start in starts:
        told = patterns.make_it.match(text[start:])
        if told is not None and patterns.says_wrong(called, text[:start].rstrip(" ,.;!")):
            return CorrectSlot(spec.name, told["new"], told["new"], source="correction")
    return None


def _named_text(domain: Domain, spec: SlotSpec, said: re.Match[str], old: str) -> CorrectSlot | None:
    """The correction of a free-text slot that the message names, as in "the title is just Emma". None for slots of
    other types. Also None if the new text is a question or is too long. `old` is the text so far."""
    words = domain.pack.words
    tokens = words.tokens_of(said["new"])
    first = next((at for at, token in enumerate(tokens) if token.word not in words.fillers | words.limiting), 0)
    if spec.kind is not SlotKind.TEXT or not 0 < len(tokens) <= _TEXT_WORDS_MAX or domain.pack.signs.asks(tokens):
        return None
    new = said["new"][tokens[first].start :]
    if told := domain.pack.corrections.make_it.match(new):
        new = told["new"]  # "the title, it should be Emma"
    if ended := domain.pack.corrections.ends_new.match(new):
        new = ended["new"]  # "8 Orchard Lane instead, we're going to my brother's"
    new = without_old_text(domain, new, old)
    return CorrectSlot(spec.name, new, new, said.span("new"), "correction")


def other_slot_corrections(
    domain: Domain, instance: Instance, slot: str, text: str, today: str
) -> tuple[Correction, ...]:
    """Corrections of slots other than `slot`, the slot of the open question. Example: "no, three nights", while the
    agent reads back a code. Only known names and values with a unit are used, because a number alone may be part of the
    code. Empty if there is no such correction."""
    text = " ".join(text.split())
    said = (
        (domain.pack.corrections.make_it.match(text) or domain.pack.corrections.changed_mind.match(text))
        if len(text) <= _LENGTH_MAX
        else None
    )
    if said is None:
        return ()
    others = tuple(
        domain.slots[name].grammar_slot
        for name in dict.fromkeys(domain.flows[instance.flow].slots)
        if name != slot and (instance.filled(name) is not None or not domain.slots[name].ask_before_filling)
    )
    whole = domain.pack.replies.read_volunteered(others, said["new"], "", today)
    if whole is None or whole.values != domain.pack.replies.read_parts(others, said["new"], today):
        return ()
    start = said.start("new")
    return tuple(
        (SetSlot if instance.filled(value.slot) is None else CorrectSlot)(
            value.slot, value.value, value.raw, (start + value.span[0], start + value.span[1]), "correction"
        )
        for value in whole.values
        if domain.slots[value.slot].kind is not SlotKind.CHOICE
        or _names_choice(domain, domain.slots[value.slot], value.value, said["new"])
    )


def other_day_or_time(domain: Domain, instance: Instance, slot: str, text: str, today: str) -> tuple[Correction, ...]:
    """The correction of the day if the open question asks for a time, or of the time if it asks for a day. Example:
    "tomorrow then", after a time that has already passed. Empty if the message contains no such value."""
    kind = _MOMENTS.get(domain.slots[slot].kind)
    slots = dict.fromkeys(domain.flows[instance.flow].slots)
    others = [name for name in slots if domain.slots[name].kind is kind and not domain.slots[name].is_past]
    filled = instance.filled(others[0]) if len(others) == 1 else None
    if filled is None or len(text) > _LENGTH_MAX:
        return ()
    found = _first(_read(domain, domain.slots[others[0]], text, (0, len(text)), today, filled))
    return (found,) if found is not None and found.value != filled.value else ()


def last_answer_correction(
    domain: Domain, instance: Instance, text: str, today: str, turn: int
) -> tuple[Correction, ...]:
    """The correction of the answer that was given in turn `turn`. Example: "no, New York", right after "Boston". Empty
    if the message doesn't correct that answer."""
    text = " ".join(text.split())
    said = domain.pack.corrections.changed_mind.match(text) if len(text) <= _LENGTH_MAX else None
    answered = [name for name in instance.asked if (one := instance.filled(name)) is not None and one.turn == turn]
    if said is None or not answered:
        return ()
    found = _first(_read_listed(domain, domain.slots[answered[-1]], said, today, instance.filled(answered[-1])))
    return (found,) if found is not None else ()


def slots_that_fit(
    domain: Domain, instance: Instance, slots: tuple[str, ...], text: str, today: str
) -> tuple[str, ...]:
    """The slots, out of `slots`, that the new value in the text could be for. Example: "no, six" fits both a time and a
    number of people."""
    new, _ = _new_value_in(domain, text)
    fitting = tuple(name for name in slots if _reads_as_change(domain, domain.slots[name], instance, new, today))
    counted = _slots_counting(domain, instance, new)
    return tuple(name for name in fitting if name in counted) or fitting


def _slots_counting(domain: Domain, instance: Instance, text: str) -> frozenset[str]:
    """The slots of type number that are named after what the text counts: for "four days", the slot `days`."""
    words = domain.pack.words
    tokens = words.tokens_of(text)
    counted = {
        words.fold(after.word)
        for token, after in pairwise(tokens)
        if words.is_number(token.word) and not words.is_number(after.word)
    }
    return frozenset(
        name
        for called, name in names_of(domain, instance.flow)
        if domain.slots[name].kind is SlotKind.NUMBER and any(_are_one_word(called, word) for word in counted)
    )


def _are_one_word(called: str, word: str) -> bool:
    """Are these the same word, perhaps one in the singular and the other in the plural?"""
    short, long = sorted((called, word), key=len)
    return len(short) >= _WORD_CHARS_MIN and long.startswith(short) and len(long) - len(short) <= _ENDING_CHARS_MAX


def value_for_slot(domain: Domain, instance: Instance, slot: str, text: str, today: str) -> tuple[CorrectSlot, ...]:
    """The correction of `slot`, read from the earlier message `text`. Called when the user has just said that this
    message was about `slot`. Empty if the slot's grammar can't read the new value."""
    new, span = _new_value_in(domain, text)
    found = _first(_read(domain, domain.slots[slot], new, span, today, instance.filled(slot)))
    return (found,) if found is not None else ()


def _new_value_in(domain: Domain, text: str) -> tuple[str, tuple[int, int]]:
    said = (
        domain.pack.corrections.make_it.match(text)
        or domain.pack.corrections.changed_mind.match(text)
        or domain.pack.corrections.do_instead.match(text)
    )
    return (said["new"], said.span("new")) if said is not None else (text, (0, len(text)))


def _reads_as_change(domain: Domain, spec: SlotSpec, instance: Instance, text: str, today: str) -> bool:
    """Does the slot's grammar read the text as a value that differs from the current one? Only slots for dates, times,
    numbers, money, durations and listed names are considered."""
    if spec.kind not in _MEASURED and not (spec.kind is SlotKind.NAME and not spec.is_open):
        return False
    filled = instance.filled(spec.name)
    if spec.kind is SlotKind.NUMBER:
        asked = domain.pack.replies.read(Question(spec.grammar_slot, str(first_of(spec.prompt))), text, today)
        if isinstance(asked, Unclear) and asked.why is Why.SEVERAL:
            return False  # the digits of a phone number aren't a number of guests
    reading = domain.pack.replies.read(Question(slot_to_correct(spec, filled)), text, today)
    if isinstance(reading, Ambiguous):
        return spec.kind is not SlotKind.TIME or any(_is_open(spec, str(time)) for time in reading.candidates)
    found = _first(_read(domain, spec, text, (0, len(text)), today, filled))
    return found is not None and (filled is None or found.value != filled.value)


def _is_open(spec: SlotSpec, time: str) -> bool:
    return spec.grammar_slot.hours[0] <= int(time.partition(":")[0]) < spec.grammar_slot.hours[1]


def are_both_yes_no(domain: Domain, asked: str | None, slot: str) -> bool:
    """Are the corrected slot and the slot that is asked for both of type yes/no? A reply such as "no, I haven't" then
    answers the open question and corrects nothing."""
    return asked is not None and domain.slots[asked].kind is domain.slots[slot].kind is SlotKind.YES_NO


def self_correction(domain: Domain, slot: str, text: str, today: str) -> tuple[SetSlot, ...]:
    """The final value of an answer that corrects itself ("Boston, no, New York"), begins with a correction ("sorry, New
    York") or names the slot ("the city is New York"). Empty for any other answer."""
    text, spec = " ".join(text.split()), domain.slots[slot]
    if len(text) > _LENGTH_MAX:
        return ()
    for called in (spec.display_name, spec.name.replace("_", " ")):
        if (said := domain.pack.corrections.named(called, text)) and (
            found := _first(_read(domain, spec, said["new"], said.span("new"), today))
        ):
            return (SetSlot(slot, found.value, found.raw, found.span),)
    before: Filled | None = None
    said = (
        domain.pack.corrections.changed_mind.match(text)
        if not domain.pack.corrections.no_something.match(text)
        else None
    )
    if said is None:
        said = domain.pack.corrections.repair.match(text)
        old = _first(_read(domain, spec, said["old"], said.span("old"), today)) if said is not None else None
        if said is None or old is None:
            return ()
        before = Filled(old.value, old.raw, old.span)  # "yesterday, no, the day before"
    found = _first(_read_listed(domain, spec, said, today, before))
    if found is None and (said := domain.pack.corrections.make_it.match(said["new"])):
        found = _first(_read_listed(domain, spec, said, today, before))  # "nine, no, it's more like ten"
        found = replace(found, span=(0, len(text))) if found is not None else None
    return (SetSlot(slot, found.value, found.raw, found.span),) if found is not None else ()


def _filled(domain: Domain, instance: Instance) -> list[SlotSpec]:
    return [domain.slots[name] for name, _ in instance.slots if name in domain.slots]


def _latest_first(domain: Domain, instance: Instance) -> list[SlotSpec]:
    """The filled slots: first those that the agent asked for, beginning with the latest question, then all others. A
    slot for past days (such as a birthday) comes last, unless the last answer filled it, because a correction such as
    "make it Friday" usually means a future day."""
    filled = {spec.name: spec for spec in _filled(domain, instance)}
    asked = [filled[name] for name in reversed(instance.asked) if name in filled]
    found = [*asked, *(spec for name, spec in filled.items() if name not in instance.asked)]
    last = max((one.turn for _, one in instance.slots), default=0)
    return sorted(found, key=lambda spec: spec.is_past and dict(instance.slots)[spec.name].turn < last)


def _counting_first(domain: Domain, instance: Instance, text: str) -> list[SlotSpec]:
    """The filled slots that the text may correct. If the text says what it counts, as in "four days", these are only
    the slots that count the same thing. Otherwise these are all filled slots, the latest first."""
    found, counted = _latest_first(domain, instance), _slots_counting(domain, instance, text)
    return [spec for spec in found if spec.name in counted] or found


def _by_name(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[Correction]:
    """Corrections that name a filled slot. If the message gives no new value, the correction empties the slot, so that
    the agent asks for it again."""
    for called, name in names_of(domain, instance.flow):
        if instance.filled(name) is None:
            continue
        if domain.pack.corrections.says_wrong(called, text):
            if is_asked(domain, instance, name):
                yield ClearSlot(name)
        elif (said := domain.pack.corrections.named(called, text)) is not None:
            yield from _read(domain, domain.slots[name], said["new"], said.span("new"), today, instance.filled(name))
        elif is_asked(domain, instance, name) and domain.pack.corrections.wants_change(called, text):
            yield ClearSlot(name)


def is_asked(domain: Domain, instance: Instance, slot: str) -> bool:
    """Has the flow already reached a step that asks for the slot? Then the slot may be emptied: the flow returns to
    that step and asks again."""
    program = domain.flows[instance.flow].program
    return any(isinstance(at, Collect) and at.slot == slot and at.step in instance.visited for at in program)


def _by_value(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[Correction]:
    """Corrections such as "NEW instead of OLD", "not OLD but NEW", or only "not OLD", where OLD is a slot's current
    value."""
    patterns = domain.pack.corrections
    for pattern in (patterns.swap, patterns.change_old, patterns.not_but, patterns.not_then):
        said = pattern.match(text)
        if said is not None:
            for spec in _slots_with_value(domain, instance, said["old"], today):
                old = instance.filled(spec.name) if spec.kind is SlotKind.TIME else None  # "nine instead of eight"
                yield from _read(domain, spec, said["new"], said.span("new"), today, old)
                if plain := patterns.make_it.match(said["new"]):  # "it wasn't eight, it was nine"
                    yield from _read(domain, spec, plain["new"], (0, 0), today, instance.filled(spec.name))
                yield from _read_part(domain, spec, said["new"], today, instance.filled(spec.name))
    said = domain.pack.corrections.only_not.match(text)
    if said is not None:
        of_old = [spec.name for spec in _slots_with_value(domain, instance, said["old"], today)]
        if len(of_old) == 1 and is_asked(domain, instance, of_old[0]):
            yield ClearSlot(of_old[0])


def told_slot(spec: SlotSpec) -> Slot:
    """What a grammar needs to know about the slot to find its value in a whole sentence. For a choice or a name, the
    sentence may be in the past tense: "I lost my glasses"."""
    is_listed = spec.kind in (SlotKind.CHOICE, SlotKind.NAME)
    return replace(spec.grammar_slot, is_past=True) if is_listed else spec.grammar_slot


def _read_part(domain: Domain, spec: SlotSpec, text: str, today: str, filled: Filled | None) -> Iterator[CorrectSlot]:
    """The correction for a new value that stands among other words: "glasses" in "not a phone, I lost my glasses"."""
    for found in domain.pack.replies.read_parts((told_slot(spec),), text, today):
        if filled is None or found.value != filled.value:
            yield CorrectSlot(spec.name, found.value, found.raw, source="correction")


def _slots_with_value(domain: Domain, instance: Instance, old: str, today: str) -> Iterator[SlotSpec]:
    """The slots whose current value is `old`."""
    for spec in _filled(domain, instance):
        filled = instance.filled(spec.name)
        if filled is None or (spec.kind is SlotKind.CHOICE and not _names_choice(domain, spec, filled.value, old)):
            continue  # "the second" in "the third, not the second" isn't the second choice
        if _is_same(domain, spec, old, filled.value, filled.raw, today):
            yield spec


def _by_last_answer(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[Correction]:
    """Corrections such as "no, make it VALUE". There is one correction for each slot whose grammar reads the value. The
    slot that was asked for last comes first. Free text, and names that aren't on the slot's list, are used only after
    words such as "I meant"."""
    said = domain.pack.corrections.make_it.match(text)
    if said is None:
        return
    for spec in _counting_first(domain, instance, said["new"]):
        if domain.pack.corrections.meant.search(text):
            yield from _read(domain, spec, said["new"], said.span("new"), today, instance.filled(spec.name))
        else:
            yield from _read_listed(domain, spec, said, today, instance.filled(spec.name))


def _by_opening_words(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[Correction]:
    """Corrections such as "no, VALUE", "actually from VALUE" or "could we do VALUE instead". There is one correction
    for each slot whose grammar reads the value as a change. The slot that was asked for last comes first."""
    said = domain.pack.corrections.changed_mind.match(text) or domain.pack.corrections.do_instead.match(text)
    if said is None:
        return
    for spec in _counting_first(domain, instance, said["new"]):
        filled = instance.filled(spec.name)
        found = _read_listed(domain, spec, said, today, filled)
        yield from (one for one in found if filled is None or one.value != filled.value)


def _is_same(domain: Domain, spec: SlotSpec, said: str, value: Json, raw: str, today: str) -> bool:
    if said.casefold() in (raw.casefold(), spoken(value, "", domain.pack.spoken).casefold()):
        return True
    reading = domain.pack.replies.read(Question(spec.grammar_slot), said, today)
    if isinstance(reading, Ambiguous) and spec.kind in _MOMENTS:
        return value in reading.candidates
    if not isinstance(reading, Direct):
        return False
    found = reading.value_of(spec.name)
    return found == value or (spec.kind is SlotKind.DATE and _is_same_weekday(said, found, value))


def _is_same_weekday(said: str, day: Json, other: Json) -> bool:
    """Is `day` the same weekday as the day `other`, perhaps in a different week? `said` holds the user's words; False
    if they contain more than the name of a weekday."""
    if any(char.isdigit() for char in said) or len(said.split()) > 1:
        return False
    try:
        return date.fromisoformat(str(day)).weekday() == date.fromisoformat(str(other)).weekday()
    except ValueError:
        return False


def _read_listed(
    domain: Domain, spec: SlotSpec, said: re.Match[str], today: str, filled: Filled | None = None
) -> Iterator[CorrectSlot]:
    """The correction with the new value in the regex match `said`, if the slot's grammar reads this value. Yields
    nothing for a free-text slot, because such a slot accepts any words. For a slot that accepts any name, only names on
    its list are used."""
    if spec.kind is SlotKind.TEXT or domain.pack.corrections.asks_agent.match(said["new"]):
        return
    if spec.kind is SlotKind.NUMBER and _has_many_digits(domain, said["new"]):
        return  # the digits of a phone number aren't a number of guests
    for found in _read(domain, spec, said["new"], said.span("new"), today, filled):
        if found.value == ANY and domain.pack.signs.asks(domain.pack.words.tokens_of(said.string)):
            continue  # "oh wait, do I have to bring anything?" leaves no choice to the agent
        if spec.kind is SlotKind.CHOICE and not _names_choice(domain, spec, found.value, said["new"]):
            continue  # "no, the last name is missing" isn't about the last choice
        is_known = spec.names is not None and found.value in spec.names.values.values()
        if spec.kind is not SlotKind.NAME or not spec.is_open or is_known:
            yield found


def _has_many_digits(domain: Domain, text: str) -> bool:
    """Does the text contain too many number words or digits for a count?"""
    words = domain.pack.words
    numbers = [token.word for token in words.tokens_of(text) if words.is_number(token.word)]
    return sum(len(word) if word.isdecimal() else 1 for word in numbers) > _COUNT_WORDS_MAX


def _names_choice(domain: Domain, spec: SlotSpec, value: Json, text: str) -> bool:
    """Does the text name the choice by one of its words, or by a similar word? A position ("the last one") isn't
    enough."""
    words = domain.pack.words
    called = [name for choice in spec.choices if choice.value == value for name in (choice.value, *choice.also)]
    if not called or words.stems_of(*called) & words.stems_of(text):
        return True
    said = " ".join(token.word for token in words.tokens_of(text))
    return any(SequenceMatcher(None, said, name.casefold()).ratio() >= _ALIKE_MIN for name in called)


def _read(
    domain: Domain, spec: SlotSpec, text: str, span: tuple[int, int], today: str, filled: Filled | None = None
) -> Iterator[CorrectSlot]:
    asked = str(first_of(spec.prompt)) if spec.kind is SlotKind.NAME else ""  # "April" is a name, if one is asked for
    reading = domain.pack.replies.read(Question(slot_to_correct(spec, filled), asked), text, today)
    value: Json = None
    if isinstance(reading, Direct):
        value = with_currency_of(reading.value_of(spec.name), filled.value if filled is not None else None)
    elif spec.kind is SlotKind.DURATION and filled is not None and isinstance(reading, Unclear):
        value = with_new_count(_count_in(domain, spec, text, today), filled.value, domain.pack.words)
    elif isinstance(reading, Ambiguous) and spec.kind is SlotKind.TIME and filled is not None:
        value = nearest_time(reading.candidates, filled.value)
    elif isinstance(reading, Ambiguous) and spec.prefers != "ask" and not reading.must_ask:
        value = reading.candidates[0 if spec.prefers == "first" else -1]
    if value is not None:
        yield CorrectSlot(spec.name, value, text, span, "correction")


def _count_in(domain: Domain, spec: SlotSpec, text: str, today: str) -> Reading:
    return domain.pack.replies.read(Question(Slot(spec.name, SlotKind.NUMBER)), text, today)


def _first(found: Iterator[CorrectSlot]) -> CorrectSlot | None:
    return next(found, None)
