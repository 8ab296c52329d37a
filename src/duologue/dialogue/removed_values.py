"""Handles the reply of a user who no longer wants one of the values that the agent asks to confirm: "no, I don't need
the locker after all", "take the phone number off", "no special items, please".

Rule: the user has to name the slot, and it must be optional or a yes/no slot. An optional slot is then left out, and a
yes/no slot becomes a no. Afterwards the agent asks for the confirmation again.
"""

from __future__ import annotations

from collections.abc import Iterator

from .apply_commands import apply_commands
from .clauses import clauses_of, without_join
from .commands import CorrectSlot
from .flow import SlotSpec
from .interpreters import MessageInContext
from .language.readings import ANY, SlotKind
from .language.tokens import words_of
from .run_flow import continue_flow
from .slot_names import names_of
from .state import Phase

_WORDS_BETWEEN_MAX = 3  # at most this many words may stand between "don't need" and the slot's name


def take_removed_value(reply: MessageInContext) -> bool:
    """Handle a reply which says that the user no longer wants some of the values. Return False for any other reply."""
    d = reply.d
    if d.s.reading_back or reply.signs.asks(reply.tokens):
        return False
    slots = tuple(dict.fromkeys(_removed(reply)))
    if not slots:
        return False
    found = tuple(CorrectSlot(spec.name, _without(spec), reply.text) for spec in slots if not _is_gone(reply, spec))
    d.enter(Phase.UNDERSTANDING)
    if found:
        apply_commands(d, found)
    else:
        d.say(d.domain.patterns.assent)
        d.set(misses=0, silences=0)
        continue_flow(d)
    return True


def _removed(reply: MessageInContext) -> Iterator[SlotSpec]:
    d, lists = reply.d, reply.words
    for clause in clauses_of(lists, reply.tokens):
        part = without_join(lists, reply.tokens, clause)
        said = words_of(reply.tokens[part.start : part.stop])
        ends = [at + len(one) for one in lists.removing for at in range(len(said)) if said[at : at + len(one)] == one]
        if not ends and said[:1] and said[-1] in _PUT_ASIDE[1] and _PUT_ASIDE[0] in said:
            ends = [said.index(_PUT_ASIDE[0]) + 1]  # "leave the locker out"
        if not ends:
            continue
        for called, name in names_of(d.domain, d.top.flow):
            words = tuple(called.split())
            spec, places = d.spec(name), range(min(ends), min(ends) + _WORDS_BETWEEN_MAX)
            is_named = any(
                said[at : at + len(words)] == words and not _tells_more(reply, said, at + len(words)) for at in places
            )
            if is_named and d.top.filled(name) is not None and (spec.is_optional or spec.kind is SlotKind.YES_NO):
                yield spec
                break


def _tells_more(reply: MessageInContext, said: tuple[str, ...], after: int) -> bool:
    """Does a verb follow the slot's name right away, as in "no, the card should say …"? Then the clause says something
    about the value, and doesn't remove it."""
    return said[after : after + 1] != () and said[after] in reply.words.conditions | _SAYING


_PUT_ASIDE = ("leave", ("out", "off"))
_SAYING = frozenset("is was should must has says say reads needs shall ist soll sollte muss es debe".split())


def _without(spec: SlotSpec) -> str | bool:
    return False if spec.kind is SlotKind.YES_NO else ANY


def _is_gone(reply: MessageInContext, spec: SlotSpec) -> bool:
    filled = reply.d.top.filled(spec.name)
    return filled is not None and filled.value == _without(spec)
