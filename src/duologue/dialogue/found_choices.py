"""Choices that an action found: "I found three flights", "the second one".

A slot with `choices_from` takes its choices from another slot, which an action fills with a list. An item of the list
is a text, a number or an object. An object has a `value`, and optionally a `label` (what the agent says for it) and
`also` (other phrases that users say for it). Rule: only lists found by the open flow are used. If an action finds a new
list, a chosen value that isn't on the new list is removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .flow import Domain, SlotSpec
from .language.readings import Choice
from .state import DialogueState, Instance, without

FOUND_MAX = 50  # items of a list that can be chosen; more can't be read out anyway


def with_found_choices(domain: Domain, state: DialogueState) -> Domain:
    """A copy of the domain in which the slots with `choices_from` have the choices that the open flow has found. If
    there are no such slots, `domain` is returned."""
    specs = [spec for spec in domain.slots.values() if spec.choices_from]
    if not specs:
        return domain
    found = {spec.name: replace(spec, choices=choices_in(_list_for(spec, state.top))) for spec in specs}
    return replace(domain, slots={**domain.slots, **found})


def choices_in(found: object) -> tuple[Choice, ...]:
    """The choices in the result of an action. Duplicates, and items that aren't a text, a number or an object with a
    value, are left out."""
    choices: dict[str, Choice] = {}
    for item in found[:FOUND_MAX] if isinstance(found, list | tuple) else ():
        value = _value_of(item)
        if value and value not in choices:
            more = item.get("also") if isinstance(item, Mapping) else None
            label = item.get("label") if isinstance(item, Mapping) else None
            others = [label, *(more if isinstance(more, list | tuple) else ())]
            choices[value] = Choice(value, tuple(str(other) for other in others if other))
    return tuple(choices.values())


def chosen_item(spec: SlotSpec, top: Instance) -> Mapping[str, object] | None:
    """The item that the user chose; None if nothing was chosen, or if the item isn't an object."""
    filled, found = top.filled(spec.name), _list_for(spec, top)
    if filled is None or not isinstance(found, list | tuple):
        return None
    return next((item for item in found if isinstance(item, Mapping) and _value_of(item) == filled.value), None)


def without_lost_choices(domain: Domain, top: Instance, written: frozenset[str]) -> Instance:
    """The flow after an action has found new lists: a chosen value that isn't on its new list is removed. `written`
    holds the slots with the new lists."""
    lost = frozenset(
        spec.name
        for spec in domain.slots.values()
        if spec.choices_from in written
        and (filled := top.filled(spec.name)) is not None
        and filled.value not in [choice.value for choice in choices_in(_list_for(spec, top))]
    )
    return replace(top, slots=without(top.slots, lost)) if lost else top


def _list_for(spec: SlotSpec, top: Instance | None) -> object:
    filled = top.filled(spec.choices_from) if top is not None else None
    return filled.value if filled is not None else None


def _value_of(item: object) -> str:
    value = item.get("value") if isinstance(item, Mapping) else item
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value).strip() if is_plain else ""
