"""Corrections of a free text: "14 A, not 14 B Mill Road", "just the Lion".

Rule: the words that the user takes back never stay in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .commands import CorrectSlot
from .flow import Domain
from .language.readings import SlotKind
from .state import Instance

_MORE_WORDS_MAX = 2
_SHARED_MIN = 0.6  # the share of the words taken back that the old text must have


def without_old_text(domain: Domain, new: str, old: str) -> str:
    """The new text without the old words that the user takes back after it: "Emma" for "Emma not Emily". If only its
    beginning is new, the rest of the old words stays: "14 A Mill Road" for "14 A not 14 B Mill Road". A text with a
    "not" that doesn't take back anything stays as it is."""
    told = domain.pack.corrections.replaces.match(new)
    if told is None:
        return new
    limiting = domain.pack.words.limiting
    kept, taken = told["new"].split(), [word for word in told["old"].split() if word.casefold() not in limiting]
    held = [word.casefold() for word in old.split()]
    if not taken or sum(word.casefold() in held for word in taken) < _SHARED_MIN * len(taken):
        return new
    if len(kept) < len(taken) and kept[0].casefold() == taken[0].casefold():
        return " ".join((*kept, *taken[len(kept) :]))
    return " ".join(kept)


def text_again(domain: Domain, instance: Instance, text: str) -> CorrectSlot | None:
    """The correction of a free text or a name that the user says once more, shorter or longer, without the slot's name:
    "yes, but it's just the Lion", after "the Lion, I think". None for any other message, and if two slots fit."""
    tokens = domain.pack.words.tokens_of(text)
    if domain.pack.signs.asks(tokens):
        return None
    new = _bare(domain, text)
    said = [token.word for token in domain.pack.words.tokens_of(new)]
    content = [word for word in said if word not in domain.pack.words.common]
    if not content:
        return None
    found = [
        slot for slot, old in _texts(domain, instance) if _is_part(domain, said, old) or _renumbers(domain, said, old)
    ]
    if not found:
        return _other_number(domain, instance, text)
    shorter = [slot for slot, old in _texts(domain, instance) if slot in found and len(said) < len(old)]
    if shorter and not _is_introduced(domain, text):
        return None  # "Weber" alone may only repeat a part of the name
    return CorrectSlot(found[0], new, new, source="correction") if len(found) == 1 else None


def _other_number(domain: Domain, instance: Instance, text: str) -> CorrectSlot | None:
    """The correction of a free text that the user says once more with another number: "fourteen Oak Street", after
    "twelve Oak Street". The number alone isn't a value of another slot. None for any other message."""
    new = re.sub(domain.pack.corrections.words.end, "", _bare(domain, text))
    said, start = _numbered(domain, [token.word for token in domain.pack.words.tokens_of(new)])
    for slot, old in _texts(domain, instance):
        held, rest = _numbered(domain, old)
        spoken = str(dict(instance.slots)[slot].value).split()
        if not said or not held or said == held or not start or start != rest[: len(start)]:
            continue
        if any(word not in domain.pack.words.common for word in start):
            return CorrectSlot(slot, " ".join((new, *spoken[len(held) + len(start) :])), new, source="correction")
    return None


def _numbered(domain: Domain, words: list[str]) -> tuple[list[str], list[str]]:
    """The number at the beginning of these words, perhaps with a letter ("14 B"), and the words after it."""
    ends = next((at for at, word in enumerate(words) if not domain.pack.words.is_number(word)), len(words))
    ends += 0 < ends < len(words) and len(words[ends]) == 1
    return words[:ends], words[ends:]


def _is_introduced(domain: Domain, text: str) -> bool:
    """Does the text hold a word such as "just", or begin a new value with words such as "it's"?"""
    tokens = domain.pack.words.tokens_of(text)
    return any(token.word in domain.pack.words.limiting for token in tokens) or bool(
        domain.pack.corrections.make_it.match(text)
    )


def _bare(domain: Domain, text: str) -> str:
    """The text without words such as "yes", "but it's" and "just" at its beginning."""
    words, new = domain.pack.words, " ".join(text.split()).rstrip(" .!")
    around = words.polite | words.fillers | words.limiting | words.dissent | words.joins | words.ands
    while True:
        told = domain.pack.corrections.make_it.match(new)
        tokens = words.tokens_of(new)
        if told is not None and len(told["new"]) < len(new):
            new = told["new"]
        elif len(tokens) > 1 and (tokens[0].word in around or words.stem(tokens[0].word) in _YES):
            new = new[tokens[1].start :]
        else:
            return new


_YES = ("yes", "yeah", "yep", "ja", "sí")


def _texts(domain: Domain, instance: Instance) -> Iterator[tuple[str, list[str]]]:
    for name, filled in instance.slots:
        spec = domain.slots.get(name)
        is_free = spec is not None and (spec.kind is SlotKind.TEXT or (spec.kind is SlotKind.NAME and spec.is_open))
        if is_free and isinstance(filled.value, str):
            yield name, [token.word for token in domain.pack.words.tokens_of(filled.value)]


def _is_part(domain: Domain, said: list[str], old: list[str]) -> bool:
    """Is one of the two a part of the other, and do they share a word that means something? The words must follow each
    other in the same order."""
    short, long = sorted((_without_article(domain, said), _without_article(domain, old)), key=len)
    shared = [word for word in short if word not in domain.pack.words.common]
    places = range(len(long) - len(short) + 1)
    more = [word for word in said if word not in old] if len(said) > len(old) else []
    if len(more) > _MORE_WORDS_MAX or any(word in domain.pack.words.common for word in more):
        return False  # "it's Carl who pays" isn't a longer name
    return bool(shared) and short != long and any(long[at : at + len(short)] == short for at in places)


def _renumbers(domain: Domain, said: list[str], old: list[str]) -> bool:
    """Are the two the same apart from a number, as "14 Oak Row" and "12 Oak Row" are?"""
    words = domain.pack.words
    rest, before = ([word for word in text if not words.is_number(word)] for text in (said, old))
    return bool(rest) and rest == before and said != old and any(word not in words.common for word in rest)


def _without_article(domain: Domain, words: list[str]) -> list[str]:
    return words[1:] if len(words) > 1 and words[0] in domain.pack.words.small else words
