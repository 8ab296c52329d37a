"""Checks of lists, of steps that search the FAQ, of repair flows (flows for when a user cancels, corrects or isn't
understood), and of texts with several wordings.

Rule: three things are errors, and the message names the line: a list that could grow for ever, a search in an FAQ that
doesn't exist, and a repair flow that runs an action before it asks the user.
"""

from __future__ import annotations

from typing import Any

from duologue.dialogue.language.packs import has_pack, pack_of
from duologue.dialogue.language.readings import SlotKind
from duologue.dialogue.templates import gaps_of

from .problems import Path, ProblemList, quoted
from .step_walk import entries_of, steps_in, steps_of, texts_of

_NOT_IN_ITEMS = ("session", "depends_on", "ask_before_filling")
_ITEMS_MAX = 12


def check_lists(data: Any, notes: ProblemList) -> None:
    """Report lists without items or without a maximum, slots that can't be part of an item, and lists in a language
    whose language pack can't read replies about lists."""
    slots = entries_of(data, "slots")
    language = data.get("language", "en")
    pack = pack_of(language) if isinstance(language, str) and has_pack(language) else None
    for name, slot in slots.items():
        if slot.get("type") != SlotKind.LIST:
            continue
        path = ("slots", name)
        items = texts_of(slot.get("items"))
        if pack is not None and pack.lists is None:
            text = f"{pack.name} can't read replies about lists: use one slot for each item instead"
            notes.add(path, text, at="type")
        if "items" not in slot:
            notes.add(path, "a slot of type list needs `items`: the slots that make up an item", at="type")
        if "max" not in slot:
            notes.add(path, "the list has no largest size: add `max`, the largest number of items", at="type")
        least, most = slot.get("min", 1), slot.get("max")
        if type(least) is int and type(most) is int and least > most:
            notes.add((*path, "min"), f"`min` is {least} and `max` is {most}; `min` can't be larger")
        if len(items) > _ITEMS_MAX:
            notes.add((*path, "items"), f"an item has at most {_ITEMS_MAX} slots, not {len(items)}")
        for number, item in enumerate(items):
            _check_item(name, number, item, slots.get(item), notes)
            if item in items[:number]:
                notes.add((*path, "items"), f"{quoted(item)} is listed twice; remove one of them", at=number)


def _check_item(name: str, number: int, item: str, slot: dict[str, Any] | None, notes: ProblemList) -> None:
    path: Path = ("slots", name, "items")
    if slot is None:
        return
    if slot.get("type") == SlotKind.LIST:
        notes.add(path, f"{quoted(item)} is a list; an item can't contain a list", at=number)
    for key in _NOT_IN_ITEMS:
        if slot.get(key):
            notes.add(("slots", item, key), f"a slot that is part of the items of {quoted(name)} can't have this key")
    if "prompt" not in slot:
        notes.add(("slots", item), f"`prompt` is missing: it asks for this value if an item of {quoted(name)} lacks it")


def check_faq_steps(data: Any, notes: ProblemList) -> None:
    """Report steps that search an FAQ although the file has none."""
    for at in steps_of(data):
        if at.key == "faq" and not data.get("faq"):
            notes.add(at.path, "there is no FAQ to search; add `faq` to the file", at="faq")


def check_repair_flows(data: Any, notes: ProblemList) -> None:
    """Report repair flows that run an action before they ask the user. Such a flow would do something only because a
    user cancelled or wasn't understood."""
    repairs = data.get("repairs")
    for occasion, name in (repairs if isinstance(repairs, dict) else {}).items():
        flow = entries_of(data, "flows").get(name) if isinstance(name, str) else None
        steps = [one.key for one in steps_in(name, flow.get("steps"), ("flows", name, "steps"))] if flow else []
        if "action" in steps and "confirm" not in steps[: steps.index("action")]:
            text = f"flow {name!r} runs an action before it asks: add a `confirm` step before the action"
            notes.add(("repairs",), text, at=occasion)


def check_variations(data: Any, notes: ProblemList) -> None:
    """Report confirmations whose alternative texts don't all name the same slots. A yes has to mean the same, whichever
    text the agent said."""
    for at in steps_of(data):
        texts = texts_of(at.step.get("confirm")) if at.key == "confirm" else []
        for number, text in enumerate(texts[1:], start=1):
            if set(gaps_of(text)) != set(gaps_of(texts[0])):
                notes.add((*at.path, "confirm"), "every text of a confirmation has to name the same slots", at=number)
