"""Semantic checks of a flow file: finds what can't work even though all names exist.

Reports keys that don't belong to a slot's type, and circular dependencies. Warns about endless loops, and about steps
and flows that are never reached. Rule: what is certainly wrong is an error; what only looks wrong is a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duologue.dialogue.conditions import BadCondition, parse
from duologue.dialogue.language.readings import SlotKind
from duologue.dialogue.templates import either
from duologue.dialogue.value_patterns import BadPattern, check_pattern

from .list_checks import check_faq_steps, check_lists, check_repair_flows, check_variations
from .problems import Path, ProblemList, quoted
from .step_walk import LEAVING, LocatedStep, bodies_of, cases_of, entries_of, steps_in, steps_of, texts_of

_KINDS_WITH_KEY = {
    "choices": (SlotKind.CHOICE,),
    "choices_from": (SlotKind.CHOICE,),
    "items": (SlotKind.LIST,),
    "says": (SlotKind.LIST,),
    "min": (SlotKind.LIST,),
    "max": (SlotKind.LIST,),
    "more": (SlotKind.LIST,),
    "pattern": (SlotKind.CODE, SlotKind.TEXT, SlotKind.NAME, SlotKind.PHONE, SlotKind.EMAIL),
    "names": (SlotKind.NAME,),
    "open": (SlotKind.NAME,),
    "hours": (SlotKind.TIME,),
    "past": (SlotKind.DATE,),
    "future": (SlotKind.DATE, SlotKind.TIME),
    "reads_back": (SlotKind.CODE, SlotKind.PHONE, SlotKind.EMAIL, SlotKind.NAME, SlotKind.TEXT),
}


def check_semantics(data: Any, notes: ProblemList) -> None:
    """Add an error to `notes` for everything that can't work, and a warning for everything that probably doesn't."""
    for name, slot in entries_of(data, "slots").items():
        _check_slot(("slots", name), slot, notes)
    _check_circles(data, notes)
    for at in steps_of(data):
        if at.key == "branch":
            _check_cases(at, notes)
        if at.key == "while":
            _check_loop(at, notes)
        if at.key == "action":
            _check_change(at, data, notes)
        for path, body in bodies_of(at):
            _check_order(body, path, notes)
    for flow, entry in entries_of(data, "flows").items():
        _check_order(entry.get("steps"), ("flows", flow, "steps"), notes)
    _check_flows(data, notes)
    check_lists(data, notes)
    check_faq_steps(data, notes)
    check_repair_flows(data, notes)
    check_variations(data, notes)


# -- Slots


def _check_slot(path: Path, slot: dict[str, Any], notes: ProblemList) -> None:
    kind = slot.get("type")
    if kind not in tuple(SlotKind):
        return
    for key, kinds in _KINDS_WITH_KEY.items():
        if key in slot and kind not in kinds:
            wanted = either([*kinds])
            notes.add((*path, key), f"only slots of type {wanted} can have this key; this slot has type {kind}")
    if kind == SlotKind.CHOICE and "choices" not in slot and "choices_from" not in slot:
        notes.add(path, "a slot of type choice needs `choices`: the list of answers", at="type")
    if "choices" in slot and "choices_from" in slot:
        notes.add((*path, "choices_from"), "`choices` and `choices_from` exclude each other; remove one of them")
    if slot.get("past") is True and slot.get("future") is True:
        notes.add((*path, "future"), "`past` and `future` can't both be true; remove one of them")
    if slot.get("session") is True and slot.get("depends_on"):
        notes.add(
            (*path, "session"),
            "a slot that depends on others can't be kept: the others may change in the next task",
        )
    if isinstance(pattern := slot.get("pattern"), str):
        try:
            check_pattern(pattern)
        except BadPattern as problem:
            notes.add((*path, "pattern"), str(problem))
    if slot.get("open") is False and "names" not in slot:
        notes.add((*path, "open"), "`open: false` needs `names`: the list of allowed names")
    hours = slot.get("hours")
    if isinstance(hours, list) and len(hours) == 2 and all(type(hour) is int for hour in hours):
        begin, end = hours
        if not 0 <= begin < end <= 24:
            notes.add(
                (*path, "hours"), f"[{begin}, {end}] isn't valid: write two hours from 0 to 24, the earlier first"
            )
    for key in ("choices", "names"):
        _check_twice((*path, key), slot.get(key), notes)


def _check_twice(path: Path, choices: Any, notes: ProblemList) -> None:
    """Report every phrase that two different values of the list share."""
    means: dict[str, int] = {}
    for number, choice in enumerate(choices if isinstance(choices, list) else ()):
        entry = choice if isinstance(choice, dict) else {"value": choice}
        for text in dict.fromkeys(
            text.casefold() for text in (*texts_of(entry.get("value")), *texts_of(entry.get("also")))
        ):
            if means.setdefault(text, number) != number:
                notes.add(path, f"{quoted(text)} stands for two different values; remove one of them", at=number)


# -- Circular dependencies and calls


def _check_circles(data: Any, notes: ProblemList) -> None:
    slots = entries_of(data, "slots")
    for circle in circles({name: texts_of(slot.get("depends_on")) for name, slot in slots.items()}):
        shown = " depends on ".join((*circle, circle[0]))
        notes.add(("slots", circle[0], "depends_on"), f"circular dependency: {shown}; remove one of these dependencies")
    calls: dict[str, list[str]] = {}
    for at in steps_of(data):
        if at.key == "call" and (name := at.text("call")) is not None:
            calls.setdefault(at.flow, []).append(name)
    for circle in circles(calls):
        shown = " calls ".join((*circle, circle[0]))
        notes.add(("flows", circle[0]), f"flows call each other in a circle: {shown}", is_warning=True)


def circles(leads: Mapping[str, list[str]]) -> list[tuple[str, ...]]:
    """The cycles that a depth-first search finds in a graph. Each cycle is a tuple of its nodes. `leads` maps each node
    to the nodes that follow it."""
    found: list[tuple[str, ...]] = []
    done: set[str] = set()
    for start in leads:
        if start in done:
            continue
        way, left = [start], [iter(leads[start])]
        while left:
            name = next(left[-1], None)
            if name is None:
                left.pop()
                done.add(way.pop())
            elif name in way:
                found.append(tuple(way[way.index(name) :]))
            elif name not in done:
                way.append(name)
                left.append(iter(leads.get(name, ())))
    return found


# -- Steps


def _check_cases(at: LocatedStep, notes: ProblemList) -> None:
    cases = [case for case in cases_of(at) if isinstance(case, dict)]
    places = [number for number, case in enumerate(cases) if "else" in case]
    if cases and "if" not in cases[0]:
        notes.add((*at.path, "branch", 0), "the first case of a branch must have an `if`")
    elif places and places[0] != len(cases) - 1:
        notes.add(
            (*at.path, "branch", places[0]), "`else` must be the last case of a branch, and there can be only one"
        )


def _check_loop(at: LocatedStep, notes: ProblemList) -> None:
    """Warn about a loop that never ends. This is a loop in which no step asks, acts or changes the loop's condition. It
    is also a loop that only asks for slots and never empties them, because a filled slot isn't asked for again."""
    try:
        condition = parse(at.text("while") or "")
    except (BadCondition, RecursionError):
        return
    body = list(steps_in(at.flow, at.step.get("steps"), (*at.path, "steps")))
    changed = {name for inner in body for name in _changed(inner)}
    if not body or changed & set(condition.names):
        return
    if any(inner.key in ("confirm", "action", "call", *LEAVING) for inner in body):
        return
    asked = {inner.text("collect") for inner in body if inner.key == "collect"}
    if not asked:
        notes.add(at.path, "this loop never ends: no step in it asks, acts or changes its condition", is_warning=True)
    elif not asked & changed and not condition.holds({}):
        why = "a slot that is filled isn't asked for again; set it to null at the start of the loop"
        notes.add(at.path, f"this loop never ends: {why}", is_warning=True)


def _changed(at: LocatedStep) -> list[str]:
    values = at.step.get("set") if at.key == "set" else None
    return [*values] if isinstance(values, dict) else []


def _check_change(at: LocatedStep, data: Any, notes: ProblemList) -> None:
    """Check `on_change` of an action: the action must be final, and the flow that `on_change` names must ask for a
    confirmation before it runs an action."""
    name = at.text("on_change")
    if name is None:
        return
    if at.step.get("final") is not True:
        notes.add(at.path, "`on_change` needs `final: true`: without it a change runs the action again", at="on_change")
    flow = entries_of(data, "flows").get(name)
    steps = [inner.key for inner in steps_in(name, flow.get("steps"), ("flows", name, "steps"))] if flow else []
    if "action" in steps and "confirm" not in steps[: steps.index("action")]:
        text = f"flow {name!r} runs an action before it asks: add a `confirm` step before the action"
        notes.add(at.path, text, at="on_change")


def _check_order(steps: Any, path: Path, notes: ProblemList) -> None:
    """Warn about steps that are never reached, because they come after a step that leaves the flow."""
    for number, step in enumerate(steps[:-1] if isinstance(steps, list) else ()):
        left = [key for key in LEAVING if isinstance(step, dict) and key in step]
        if left:
            text = f"this step is never reached: the `{left[0]}` step before it leaves the flow"
            notes.add((*path, number + 1), text, is_warning=True)


# -- Flows


def _check_flows(data: Any, notes: ProblemList) -> None:
    used = {at.text(at.key) for at in steps_of(data) if at.key in ("call", "link")}
    used |= {at.text("on_change") for at in steps_of(data) if at.key == "action"}
    repairs = data.get("repairs")
    used |= {flow for flow in (repairs.values() if isinstance(repairs, dict) else ()) if isinstance(flow, str)}
    said: dict[str, str] = {}
    for name, flow in entries_of(data, "flows").items():
        if flow.get("hidden") is True and name not in used:
            text = "this flow is never reached: it is hidden, and no other flow calls it or links to it"
            notes.add(("flows", name), text, is_warning=True)
        for number, text in enumerate(texts_of(flow.get("examples"))):
            other = said.setdefault(" ".join(text.casefold().split()), name)
            if other != name:
                path = ("flows", name, "examples")
                text = f"{quoted(text)} is also an example of flow {other!r}; give it to only one of them"
                notes.add(path, text, at=number, is_warning=True)
