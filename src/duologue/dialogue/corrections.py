"""Corrections that need no model: "change the origin to Boston", "Friday instead of Monday", "no, make it
five" (D-07).

Looks for what is corrected by its name, by the value that it has now, or as the last answer; the new value is
read by the slot's own grammar. Rule: what the grammar doesn't wholly understand is no correction here, and goes
to NLU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .commands import CorrectSlot
from .flow import Domain, SlotSpec
from .grammars import Direct, Json, Kind, Question, read
from .phrases import spoken
from .state import Instance

_CHANGE = "(?:change|correct|update|fix|switch|set|make|put)"
_OPENINGS = (
    *"no nope oh uh um ah sorry wait actually rather please well and but".split(),
    *("hold on", "i mean", "can you", "could you", "i want to", "i'd like to", "let's", "let me"),
)
_OPENING = rf"(?:(?:{'|'.join(_OPENINGS)})[,.!]?\s+)*"
_TO = r"(?:\s*(?:,|:|=|to be|to|into|is|should be|should say|was|as|from now on)\s+)"
_ENDING = "(?: instead| please)*[.!]*$"
_IT_IS = (
    rf"(?:{_CHANGE} (?:it|that)(?: to)?|i meant(?: to say)?|i said|i mean|it's|(?:it|that) (?:is|should be)|rather)"
)
_LAST = re.compile(rf"^(?:{_OPENING}){_IT_IS}\s+(?P<new>.+?){_ENDING}", re.IGNORECASE)
_MEANT = re.compile(r"\bi (?:meant|mean|said)\b", re.IGNORECASE)
_IT_TO = f"(?:{_CHANGE} (?:it|that) (?:to )?)?"
_INSTEAD = "(?:instead of|rather than|and not|not)"
_SWAP = re.compile(rf"^{_OPENING}{_IT_TO}(?P<new>.+?),? {_INSTEAD} (?P<old>.+?)[.!]*$", re.IGNORECASE)
_NOT = re.compile(rf"^{_OPENING}not (?P<old>.+?)[,;]?(?: but| rather)? (?P<new>.+?)[.!]*$", re.IGNORECASE)
_LENGTH_MAX = 200


def corrections(domain: Domain, instance: Instance, text: str, today: str) -> tuple[CorrectSlot, ...]:
    """What a message corrects; nothing, if it isn't plainly a correction."""
    text = " ".join(text.split())
    if len(text) > _LENGTH_MAX:
        return ()
    for found in (*_by_name(domain, instance, text, today), *_by_value(domain, instance, text, today)):
        return (found,)
    return tuple(_by_order(domain, instance, text, today))[:1]


def _filled(domain: Domain, instance: Instance) -> list[SlotSpec]:
    return [domain.slots[name] for name, _ in instance.slots if name in domain.slots]


def _by_name(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[CorrectSlot]:
    """change the NAME to VALUE; make the NAME VALUE; the NAME should be VALUE."""
    for spec in sorted(_filled(domain, instance), key=lambda spec: -len(spec.called)):
        name = re.escape(spec.called)
        said = re.match(
            rf"^{_OPENING}(?:{_CHANGE} )?(?:the|my|our)? ?{name}{_TO}(?P<new>.+?)(?: instead| please)*[.!]*$",
            text,
            re.IGNORECASE,
        ) or re.match(rf"^{_OPENING}{_CHANGE} (?:the|my|our)? ?{name} (?P<new>.+?)[.!]*$", text, re.IGNORECASE)
        if said is not None:
            yield from _read(spec, said["new"], said.span("new"), today)


def _by_value(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[CorrectSlot]:
    """VALUE instead of the value that it has; not the value that it has, VALUE."""
    for pattern in (_SWAP, _NOT):
        said = pattern.match(text)
        if said is None:
            continue
        for spec in _filled(domain, instance):
            filled = instance.filled(spec.name)
            if filled is not None and _is_same(spec, said["old"], filled.value, filled.raw, today):
                yield from _read(spec, said["new"], said.span("new"), today)


def _by_order(domain: Domain, instance: Instance, text: str, today: str) -> Iterator[CorrectSlot]:
    """no, make it VALUE: the last answer whose grammar reads it. Free text reads anything, so it is left out."""
    said = _LAST.match(text)
    if said is None:
        return
    for name in reversed(instance.asked):
        spec = domain.slots[name]
        reads_anything = spec.kind is Kind.TEXT or (spec.kind is Kind.NAME and spec.is_open)
        if instance.filled(name) is not None and (not reads_anything or _MEANT.search(text)):
            yield from _read(spec, said["new"], said.span("new"), today)


def _is_same(spec: SlotSpec, said: str, value: Json, raw: str, today: str) -> bool:
    if said.casefold() in (raw.casefold(), spoken(value).casefold()):
        return True
    reading = read(Question(spec.asked), said, today)
    return isinstance(reading, Direct) and reading.value_of(spec.name) == value


def _read(spec: SlotSpec, text: str, span: tuple[int, int], today: str) -> Iterator[CorrectSlot]:
    reading = read(Question(spec.asked), text, today)
    if isinstance(reading, Direct) and (value := reading.value_of(spec.name)) is not None:
        yield CorrectSlot(spec.name, value, text, span, "correction")
