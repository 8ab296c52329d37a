"""Corrections that need no model: "change the origin to Boston", "Friday instead of Monday", "no, make it
five", "not Boston", "change the date".

The corrected slot is found by its name, by its current value, or because it was answered last. Its own grammar reads
the new value. Rule: a message that the grammar doesn't fully understand isn't treated as a correction here. It goes to
NLU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .commands import ClearSlot, CorrectSlot, SetSlot
from .english import Ambiguous, Direct, Json, Question, Slot, SlotKind, Unclear, read, read_parts, read_volunteered
from .english.elliptic_corrections import nearest_time, with_currency_of, with_new_count
from .flow import Collect, Domain, SlotSpec
from .reference_day import slot_to_correct
from .slot_names import names_of
from .state import Filled, Instance
from .templates import spoken

Correction = CorrectSlot | SetSlot | ClearSlot

_CHANGE = "(?:change|correct|update|fix|switch|set|make|put)"
_CHANGES_OF_MIND = (
    *"no nope sorry wait actually rather but".split(),
    *("that's wrong", "that's not right", "that is wrong", "that is not right"),
    *("hold on", "i mean", "i meant", "i changed my mind", "i've changed my mind", "on second thoughts?"),
)
_OPENING_FILLERS = (
    *"oh uh um ah please well and yes yeah yep ok okay sure".split(),
    *("can you", "could you", "can i", "can we", "could i", "could we", "may i", "let's", "let me"),
    *("i want to", "we want to", "i need to", "we need to", "i'd like to", "we'd like to", "i have to"),
)
_OPENING = rf"(?:(?:{'|'.join((*_CHANGES_OF_MIND, *_OPENING_FILLERS))})[,.!]?\s+)*"
_TO = r"(?:\s*(?:,|:|=|to be|to|into|is|should be|should say|was|as|from now on)\s+)"
_END = "(?: instead| please)*[.!?]*$"
_IT_IS = (
    rf"(?:{_CHANGE} (?:it|that)(?: to)?|i meant(?: to say)?|i said|i mean|it's|(?:it|that) (?:is|should be)|rather)"
)
_MAKE_IT = re.compile(rf"^(?:{_OPENING}){_IT_IS}\s+(?P<new>.+?){_END}", re.IGNORECASE)
_MEANT = re.compile(r"\bi (?:meant|mean|said)\b", re.IGNORECASE)
_CHANGED_MIND = re.compile(
    rf"^(?:(?:{'|'.join(_OPENING_FILLERS)})[,.!]?\s+)*(?:{'|'.join(_CHANGES_OF_MIND)})[,.!]?\s+{_OPENING}(?P<new>.+?){_END}",
    re.IGNORECASE,
)
_DO_INSTEAD = re.compile(
    rf"^{_OPENING}(?:(?:do|have|take|get|try|use|go for|go with|say) )?(?P<new>.+?),? instead(?:,? please)?[.!?]*$",
    re.IGNORECASE,
)
_NO_SOMETHING = re.compile(r"^(?:no|nope) \w", re.IGNORECASE)  # "no bar" may refuse a bar, and correct nothing
_SELF_CORRECTION = "(?:no|sorry|wait|actually|or rather|i mean|i meant|make that|make it)"
_REPAIR = re.compile(rf"^(?P<old>.+?),? (?:{_SELF_CORRECTION}[,.]? )+(?P<new>.+?){_END}", re.IGNORECASE)
_IT_TO = f"(?:{_CHANGE} (?:it|that) (?:to )?)?"
_INSTEAD = "(?:instead of|rather than|and not|not)"
_SWAP = re.compile(rf"^{_OPENING}{_IT_TO}(?P<new>.+?),? {_INSTEAD} (?P<old>.+?)[.!]*$", re.IGNORECASE)
_NOT = re.compile(rf"^{_OPENING}not (?P<old>.+?)[,;]?(?: but| rather)? (?P<new>.+?)[.!]*$", re.IGNORECASE)
_NOT_ONLY = re.compile(rf"^{_OPENING}not (?P<old>.+?)[.!]*$", re.IGNORECASE)
_AND = re.compile(r",? and (?:also )?", re.IGNORECASE)
_LENGTH_MAX = 200
_MOMENTS = {SlotKind.TIME: SlotKind.DATE, SlotKind.DATE: SlotKind.TIME}
_MEASURED = (SlotKind.DATE, SlotKind.TIME, SlotKind.NUMBER, SlotKind.MONEY, SlotKind.DURATION)


def corrections(domain: Domain, instance: Instance, text: str, today: str) -> tuple[Correction, ...]:
    """The correction in a message, as a tuple of one; empty if the message isn't clearly a correction."""
    text = " ".join(text.split())
    if len(text) > _LENGTH_MAX:
        return ()
    for find in (_by_name, _by_value, _by_last_answer, _by_opening_words):
        for found in find(domain, instance, text, today):
            return (found,)
    return ()


def named_slot(domain: Domain, instance: Instance, text: str, today: str) -> tuple[str, tuple[Correction, ...]] | None:
    """The slot that a message names (the first, if it names several), and the commands for the values that it gives, as
    in "the time is eight". None if the message names no slot. The commands are empty if no grammar reads the value, or
    if the slot is empty and may only be filled after it was asked for."""
    text = " ".join(text.split())
    if len(text) > _LENGTH_MAX:
        return None
    halves = [_named_one(domain, instance, half, today) for half in _AND.split(text)]
    found = [half for half in halves if half is not None and half[1]]
    if len(found) == len(halves) == len({slot for slot, _ in found}) > 1:
        return found[0][0], tuple(one for _, values in found for one in values)
    return _named_one(domain, instance, text, today)


def _named_one(domain: Domain, instance: Instance, text: str, today: str) -> tuple[str, tuple[Correction, ...]] | None:
    for called, name in names_of(domain, instance.flow):
        spec, filled = domain.slots[name], instance.filled(name)
        if _is_wrong(called, text):
            return name, (ClearSlot(name),) if filled is not None and _is_asked(domain, instance, name) else ()
        if (said := _match_named(called, text)) is None:
            continue
        if filled is None and spec.ask_before_filling:
            return name, ()
        found = _first(_read(spec, said["new"], said.span("new"), today, filled))
        if found is not None and filled is None:
            return name, (SetSlot(name, found.value, found.raw, found.span),)
        return name, (found,) if found is not None else ()
    return None


def other_slot_corrections(
    domain: Domain, instance: Instance, slot: str, text: str, today: str
) -> tuple[Correction, ...]:
    """Corrections of other slots than `slot`, the slot of the open question. Example: "no, three nights", while a code
    is read back. Only known names and values with a unit count, because a bare number may be part of the code."""
    text = " ".join(text.split())
    said = (_MAKE_IT.match(text) or _CHANGED_MIND.match(text)) if len(text) <= _LENGTH_MAX else None
    if said is None:
        return ()
    others = tuple(
        domain.slots[name].grammar_slot
        for name in dict.fromkeys(domain.flows[instance.flow].slots)
        if name != slot and (instance.filled(name) is not None or not domain.slots[name].ask_before_filling)
    )
    whole = read_volunteered(others, said["new"], "", today)
    if whole is None or whole.values != read_parts(others, said["new"], today):
        return ()
    start = said.start("new")
    return tuple(
        (SetSlot if instance.filled(value.slot) is None else CorrectSlot)(
            value.slot, value.value, value.raw, (start + value.span[0], start + value.span[1]), "correction"
        )
        for value in whole.values
    )


def other_day_or_time(domain: Domain, instance: Instance, slot: str, text: str, today: str) -> tuple[Correction, ...]:
    """If the open question asks for a time: the correction of the day. If it asks for a day: the correction of the
    time. Empty if the message contains no such value. Example: "tomorrow then", after a time that has already
    passed."""
    kind = _MOMENTS.get(domain.slots[slot].kind)
    slots = dict.fromkeys(domain.flows[instance.flow].slots)
    others = [name for name in slots if domain.slots[name].kind is kind and not domain.slots[name].is_past]
    filled = instance.filled(others[0]) if len(others) == 1 else None
    if filled is None or len(text) > _LENGTH_MAX:
        return ()
    found = _first(_read(domain.slots[others[0]], text, (0, len(text)), today, filled))
    return (found,) if found is not None and found.value != filled.value else ()


def last_answer_correction(
    domain: Domain, instance: Instance, text: str, today: str, turn: int
) -> tuple[Correction, ...]:
    """The correction of the answer that was given in turn `turn`. Example: "no, New York", right after "Boston". Empty
    if the message doesn't correct that answer."""
    text = " ".join(text.split())
    said = _CHANGED_MIND.match(text) if len(text) <= _LENGTH_MAX else None
    answered = [name for name in instance.asked if (one := instance.filled(name)) is not None and one.turn == turn]
    if said is None or not answered:
        return ()
    found = _first(_read_listed(domain.slots[answered[-1]], said, today, instance.filled(answered[-1])))
    return (found,) if found is not None else ()


def slots_that_fit(
    domain: Domain, instance: Instance, slots: tuple[str, ...], text: str, today: str
) -> tuple[str, ...]:
    """The slots, out of `slots`, that the new value in the text could be for. Example: "no, six" fits both a time and a
    number of people."""
    new, _ = _new_value_in(text)
    return tuple(name for name in slots if _reads_as_change(domain.slots[name], instance, new, today))


def value_for_slot(domain: Domain, instance: Instance, slot: str, text: str, today: str) -> tuple[CorrectSlot, ...]:
    """The correction that `text`, an earlier message, makes to `slot`. The user has now said that the message was about
    this slot. Empty if the slot's grammar can't read the new value."""
    new, span = _new_value_in(text)
    found = _first(_read(domain.slots[slot], new, span, today, instance.filled(slot)))
    return (found,) if found is not None else ()


def _new_value_in(text: str) -> tuple[str, tuple[int, int]]:
    said = _MAKE_IT.match(text) or _CHANGED_MIND.match(text) or _DO_INSTEAD.match(text)
    return (said["new"], said.span("new")) if said is not None else (text, (0, len(text)))


def _reads_as_change(spec: SlotSpec, instance: Instance, text: str, today: str) -> bool:
    """Does the slot's grammar read the text as a value that differs from the current one? Only slots for dates, times,
    numbers, money, durations and listed names are considered."""
    if spec.kind not in _MEASURED and not (spec.kind is SlotKind.NAME and not spec.is_open):
        return False
    filled = instance.filled(spec.name)
    reading = read(Question(slot_to_correct(spec, filled)), text, today)
    if isinstance(reading, Ambiguous):
        return spec.kind is not SlotKind.TIME or any(_is_open(spec, str(time)) for time in reading.candidates)
    found = _first(_read(spec, text, (0, len(text)), today, filled))
    return found is not None and (filled is None or found.value != filled.value)


def _is_open(spec: SlotSpec, time: str) -> bool:
    return spec.grammar_slot.hours[0] <= int(time.partition(":")[0]) < spec.grammar_slot.hours[1]


def are_both_yes_no(domain: Domain, asked: str | None, slot: str) -> bool:
    """Are the corrected slot and the slot that is asked for both of type yes/no? If so, "no, I haven't" answers the
    open question and corrects nothing."""
    return asked is not None and domain.slots[asked].kind is domain.slots[slot].kind is SlotKind.YES_NO


def self_correction(domain: Domain, slot: str, text: str, today: str) -> tuple[SetSlot, ...]:
    """The final value of an answer that corrects itself ("Boston, no, New York"), begins with a correction ("sorry, New
    York") or names the slot ("the city is New York"). Empty for any other answer."""
    text, spec = " ".join(text.split()), domain.slots[slot]
    if len(text) > _LENGTH_MAX:
        return ()
    for called in (spec.display_name, spec.name.replace("_", " ")):
        if (said := _match_named(called, text)) and (
            found := _first(_read(spec, said["new"], said.span("new"), today))
        ):
            return (SetSlot(slot, found.value, found.raw, found.span),)
    said = _CHANGED_MIND.match(text) if not _NO_SOMETHING.match(text) else None
    if said is None:
        said = _REPAIR.match(text)
        if said is None or _first(_read(spec, said["old"], said.span("old"), today)) is None:
            return ()
    found = _first(_read_listed(spec, said, today))
    return (SetSlot(slot, found.value, found.raw, found.span),) if found is not None else ()


def _filled(domain: Domain, instance: Instance) -> list[SlotSpec]:
    return [domain.slots[name] for name, _ in instance.slots if name in domain.slots]


def _latest_first(domain: Domain, instance: Instance) -> list[SlotSpec]:
    """The filled slots: first those that were asked for, beginning with the one asked for last, then the others. A day
    in the past comes after all others, unless it was the last answer: "make it Friday" is about a day to come."""
    filled = {spec.name: spec for spec in _filled(domain, instance)}
    asked = [filled[name] for name in reversed(instance.asked) if name in filled]
    found = [*asked, *(spec for name, spec in filled.items() if name not in instance.asked)]
    last = max((one.turn for _, one in instance.slots), default=0)
    return sorted(found, key=lambda spec: spec.is_past and dict(instance.slots)[spec.name].turn < last)


def _match_named(called: str, text: str) -> re.Match[str] | None:
    """Match texts such as "change the NAME to VALUE", "the NAME should be VALUE" or "make the NAME VALUE", where NAME
    is `called`."""
    name = re.escape(called)
    return re.match(
        rf"^{_OPENING}(?:{_CHANGE} )?(?:the|my|our)? ?{name}{_TO}(?P<new>.+?){_END}", text, re.IGNORECASE
    ) or re.match(rf"^{_OPENING}{_CHANGE} (?:the|my|our)? ?{name} (?!please)(?P<new>.+?){_END}", text, re.IGNORECASE)


def _is_wrong(called: str, text: str) -> bool:
    """Does the text say that a value is wrong, as in "the NAME is wrong", "that's the wrong NAME" or "you got my NAME
    wrong"? NAME is `called`."""
    name = rf"(?:the|my|our|that|this) {re.escape(called)}"
    return any(
        re.match(rf"^{_OPENING}{pattern}{_END}", text, re.IGNORECASE)
        for pattern in (
            rf"{name} (?:is|was) (?:(?:all|still) )?(?:wrong|incorrect|not (?:right|correct))",
            rf"{name} (?:isn't|wasn't) (?:right|correct)",
            rf"(?:you|i|we)(?:'ve| have)?(?: got| have| had)? {name} wrong",
            rf"(?:(?:that's|that is|it's|you have|you've got|you got) )?(?:the |a )?wrong {re.escape(called)}",
        )
    )


def _by_name(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[Correction]:
    """Corrections that name a filled slot. If there is no new value, the slot is emptied, so that it is asked for
    again."""
    for called, name in names_of(domain, instance.flow):
        if instance.filled(name) is None:
            continue
        if _is_wrong(called, text):
            if _is_asked(domain, instance, name):
                yield ClearSlot(name)
        elif (said := _match_named(called, text)) is not None:
            yield from _read(domain.slots[name], said["new"], said.span("new"), today, instance.filled(name))
        elif _is_asked(domain, instance, name) and re.match(
            rf"^{_OPENING}{_CHANGE} (?:the|my|our) {re.escape(called)}{_END}", text, re.IGNORECASE
        ):
            yield ClearSlot(name)


def _is_asked(domain: Domain, instance: Instance, slot: str) -> bool:
    """Has the flow visited a step that asks for the slot? If so, the slot can be emptied: the flow then returns to that
    step and asks again."""
    program = domain.flows[instance.flow].program
    return any(isinstance(at, Collect) and at.slot == slot and at.step in instance.visited for at in program)


def _by_value(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[Correction]:
    """Corrections such as "NEW instead of OLD", "not OLD but NEW", or only "not OLD", where OLD is a slot's current
    value."""
    for pattern in (_SWAP, _NOT):
        said = pattern.match(text)
        if said is not None:
            for spec in _slots_with_value(domain, instance, said["old"], today):
                yield from _read(spec, said["new"], said.span("new"), today)
    said = _NOT_ONLY.match(text)
    if said is not None:
        of_old = [spec.name for spec in _slots_with_value(domain, instance, said["old"], today)]
        if len(of_old) == 1 and _is_asked(domain, instance, of_old[0]):
            yield ClearSlot(of_old[0])


def _slots_with_value(domain: Domain, instance: Instance, old: str, today: str) -> Iterator[SlotSpec]:
    """The slots whose current value is `old`."""
    for spec in _filled(domain, instance):
        filled = instance.filled(spec.name)
        if filled is not None and _is_same(spec, old, filled.value, filled.raw, today):
            yield spec


def _by_last_answer(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[Correction]:
    """Corrections such as "no, make it VALUE": one for each slot whose grammar reads the value, beginning with the slot
    that was asked for last. Free text, and names that aren't on the slot's list, count only after words such as "I
    meant"."""
    said = _MAKE_IT.match(text)
    if said is None:
        return
    for spec in _latest_first(domain, instance):
        if _MEANT.search(text):
            yield from _read(spec, said["new"], said.span("new"), today, instance.filled(spec.name))
        else:
            yield from _read_listed(spec, said, today, instance.filled(spec.name))


def _by_opening_words(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[Correction]:
    """Corrections such as "no, VALUE", "actually from VALUE" or "could we do VALUE instead": one for each slot whose
    grammar reads the value as a change, beginning with the slot that was asked for last."""
    said = _CHANGED_MIND.match(text) or _DO_INSTEAD.match(text)
    if said is None:
        return
    for spec in _latest_first(domain, instance):
        filled = instance.filled(spec.name)
        found = _read_listed(spec, said, today, filled)
        yield from (one for one in found if filled is None or one.value != filled.value)


def _is_same(spec: SlotSpec, said: str, value: Json, raw: str, today: str) -> bool:
    if said.casefold() in (raw.casefold(), spoken(value).casefold()):
        return True
    reading = read(Question(spec.grammar_slot), said, today)
    return isinstance(reading, Direct) and reading.value_of(spec.name) == value


def _read_listed(
    spec: SlotSpec, said: re.Match[str], today: str, filled: Filled | None = None
) -> Iterator[CorrectSlot]:
    """The correction that gives the slot the new value in the match, if the slot's grammar reads that value. A
    free-text slot yields nothing, because it reads anything. For a slot that accepts any name, only a name on its list
    counts."""
    if spec.kind is SlotKind.TEXT:
        return
    for found in _read(spec, said["new"], said.span("new"), today, filled):
        is_known = spec.names is not None and found.value in spec.names.values.values()
        if spec.kind is not SlotKind.NAME or not spec.is_open or is_known:
            yield found


def _read(
    spec: SlotSpec, text: str, span: tuple[int, int], today: str, filled: Filled | None = None
) -> Iterator[CorrectSlot]:
    reading = read(Question(slot_to_correct(spec, filled)), text, today)
    value: Json = None
    if isinstance(reading, Direct):
        value = with_currency_of(reading.value_of(spec.name), filled.value if filled is not None else None)
    elif spec.kind is SlotKind.DURATION and filled is not None and isinstance(reading, Unclear):
        value = with_new_count(read(Question(Slot(spec.name, SlotKind.NUMBER)), text, today), filled.value)
    elif isinstance(reading, Ambiguous) and spec.kind is SlotKind.TIME and filled is not None:
        value = nearest_time(reading.candidates, filled.value)
    elif isinstance(reading, Ambiguous) and spec.prefers != "ask" and not reading.must_ask:
        value = reading.candidates[0 if spec.prefers == "first" else -1]
    if value is not None:
        yield CorrectSlot(spec.name, value, text, span, "correction")


def _first(found: Iterator[CorrectSlot]) -> CorrectSlot | None:
    return next(found, None)
