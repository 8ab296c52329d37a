"""What users call a slot: its label, its name, a word of its name that no other slot has, or its kind ("the day", "the
time", "the amount").

Rule: a name that fits two slots of a flow refers to neither of them.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from .flow import Domain
from .language.packs import pack_of
from .language.readings import SlotKind

_CHARS_MIN = 3  # of a single word that stands for a whole name


def names_of(domain: Domain, flow: str) -> tuple[tuple[str, str], ...]:
    """What users may call the slots of a flow. Each entry is a pair: an expression, and the name of the slot that it
    stands for. Longer expressions come first."""
    slots = tuple(dict.fromkeys(name for name in domain.flows[flow].slots if name in domain.slots))
    return _names(
        tuple((name, domain.slots[name].display_name, domain.slots[name].kind) for name in slots), domain.language
    )


@lru_cache(maxsize=256)
def _names(slots: tuple[tuple[str, str, SlotKind], ...], language: str) -> tuple[tuple[str, str], ...]:
    words_of_language = pack_of(language).words
    full = [(called.casefold(), name) for name, called, _ in slots]
    full += [(words_of_language.fold(called), name) for name, called, _ in slots]
    full += [(name.replace("_", " ").casefold(), name) for name, _, _ in slots]
    full += [(called.replace("-", " "), name) for called, name in full if "-" in called]
    small = words_of_language.small | words_of_language.asks_for_value  # "how" alone isn't the slot "how often"
    words = [(word, name) for called, name in full for word in called.split() if word not in small]
    kinds = [(word, name) for name, _, kind in slots for word in words_of_language.kinds.get(kind, ())]
    of_one = [entry for entry in dict.fromkeys((*words, *kinds)) if len(entry[0]) >= _CHARS_MIN]
    said = Counter(word for word, _ in of_one)
    taken = {called for called, _ in full}
    short = [(word, name) for word, name in of_one if said[word] == 1 and word not in taken]
    return tuple(sorted(dict.fromkeys((*full, *short)), key=lambda entry: -len(entry[0])))


def may_stand_for(domain: Domain, slot: str, called: str) -> bool:
    """May a question such as "what's my rental number?" mean this slot, if `called` is the part of the slot's name that
    it says? True for the whole name, for its main word and for the word of its kind ("day"). In "length of the rental",
    the main word is "length"; a slot that counts something may also be called what it counts."""
    spec, words = domain.slots[slot], domain.pack.words
    names = {words.fold(one.casefold()) for one in (spec.display_name, spec.name.replace("_", " "))}
    heads = {words.fold(name) for one in names if (name := _main_word(one, words.small | words.around_names))}
    kinds = {words.fold(one) for one in words.kinds.get(spec.kind, ())}
    return spec.kind is SlotKind.NUMBER or words.fold(called) in names | heads | kinds


def _main_word(name: str, small: frozenset[str]) -> str:
    """The last word before the first small word: "length" in "the length of the rental", "time" in "pick-up time"."""
    run: list[str] = []
    for word in name.split():
        if word in small and run:
            break
        run += [word] if word not in small else []
    return run[-1] if run else ""


def label_of(domain: Domain, slot: str) -> str:
    """The slot's label without an article or a "your" at its beginning, for texts like "I've updated your {slot}"."""
    label = domain.slots[slot].display_name
    return re.sub(rf"^(?:{domain.pack.corrections.words.owners}|your)\s+(?=\S)", "", label, flags=re.IGNORECASE)


def only_named(domain: Domain, flow: str, text: str) -> str | None:
    """The slot that a message names without saying anything else, as in "the time" or "I meant the guests". None for
    any other message."""
    words = domain.pack.words
    said = " ".join(token.word for token in words.tokens_of(text) if token.word not in words.around_names)
    ways = {said, said.removeprefix(words.counting)}
    return next((name for called, name in names_of(domain, flow) if words.fold(called) in ways), None)
