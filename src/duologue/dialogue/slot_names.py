"""What users call a slot: its label, its name, a word of its name that no other slot has, or its kind ("the day", "the
time", "the amount").

Rule: a name that fits two slots of a flow refers to neither.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from .english import SlotKind
from .english.carrier_words import FILLERS, POLITE
from .english.tokens import tokens_of
from .flow import Domain

_KINDS = {
    SlotKind.DATE: ("date", "day"),
    SlotKind.TIME: ("time",),
    SlotKind.MONEY: ("amount",),
    SlotKind.PHONE: ("phone number", "phone"),
    SlotKind.EMAIL: ("email address", "email", "e-mail"),
}
_SMALL = frozenset("of the a an and or to for in on at from by is".split())
_AROUND = POLITE | FILLERS | frozenset("the my our i i'm mean meant it's is was it that's".split())
_CHARS_MIN = 3  # of a single word that stands for a whole name


def names_of(domain: Domain, flow: str) -> tuple[tuple[str, str], ...]:
    """What users may call the slots of a flow. Each pair holds such an expression and the name of the slot that it
    stands for. The longest expressions come first."""
    slots = tuple(dict.fromkeys(name for name in domain.flows[flow].slots if name in domain.slots))
    return _names(tuple((name, domain.slots[name].display_name, domain.slots[name].kind) for name in slots))


@lru_cache(maxsize=256)
def _names(slots: tuple[tuple[str, str, SlotKind], ...]) -> tuple[tuple[str, str], ...]:
    full = [(called.casefold(), name) for name, called, _ in slots]
    full += [(name.replace("_", " ").casefold(), name) for name, _, _ in slots]
    words = [(word, name) for called, name in full for word in called.split() if word not in _SMALL]
    kinds = [(word, name) for name, _, kind in slots for word in _KINDS.get(kind, ())]
    of_one = [entry for entry in dict.fromkeys((*words, *kinds)) if len(entry[0]) >= _CHARS_MIN]
    said = Counter(word for word, _ in of_one)
    taken = {called for called, _ in full}
    short = [(word, name) for word, name in of_one if said[word] == 1 and word not in taken]
    return tuple(sorted(dict.fromkeys((*full, *short)), key=lambda entry: -len(entry[0])))


def only_named(domain: Domain, flow: str, text: str) -> str | None:
    """The slot that a message names without saying anything else, as in "the time" or "I meant the guests". None for
    any other message."""
    said = " ".join(token.word for token in tokens_of(text) if token.word not in _AROUND)
    ways = {said, said.removeprefix("number of ")}
    return next((name for called, name in names_of(domain, flow) if called in ways), None)
