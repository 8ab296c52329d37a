"""Checks that every name used in a flow file exists.

Covers slots in steps, conditions and text gaps, flows in `call` and `link`, and step ids in `then`. Works on the file
as written, so an error in one entry doesn't hide errors in other entries. Rule: a name is known if the file declares a
slot of that name, or if an action or a called flow outputs it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from typing import Any

from duologue.dialogue.conditions import BadCondition, parse
from duologue.dialogue.templates import FOR_EACH, GAP, gaps_of

from .problems import Path, ProblemList, hint, quoted
from .schema import THEN
from .step_walk import (
    ASKING,
    LocatedStep,
    choices_of,
    conditions_of,
    entries_of,
    pairs_of,
    steps_in,
    steps_of,
    texts_of,
)

# Names that are already used for gaps in texts or for parameters of functions.
RESERVED_SLOTS = ("value", "slot", "slots", "flows", "example", "proposed", "key", "confirmed")
RESERVED_IDS = (*THEN, "completed")
_CONSTANTS = ("true", "false", "none")
_BRACE = re.compile(r"\{[^{}]*\}?|\}")
_SLOT_TEXTS = ("prompt", "reprompts", "silence_prompts", "help", "more")
_PATTERN_GAPS = {
    "help": ("flows",),
    "example": ("example",),
    "not_exactly": ("flows",),
    "not_given": ("slot",),
    "corrected": ("slot", "value"),
    "invalid": ("slot", "value"),
    "ambiguous": ("value",),
    "read_back": ("value",),
    "noted": ("slots",),
    "which": ("slots",),
    "check": ("slots",),
    "already_done": ("slot", "value"),
    "choices": ("slots",),
    "limited": ("value",),
    "why": ("slot",),
    "recalled": ("slot", "value"),
    "added": ("value",),
    "removed": ("value",),
    "left_out": ("value",),
    "which_item": ("slots",),
}


def check_references(data: Any, notes: ProblemList) -> None:
    """Add a problem to `notes` for every name that doesn't exist or can't be used."""
    checker = _Checker(data, notes)
    checker.check_slots()
    for at in steps_of(data):
        checker.check_step(at)
    checker.check_texts()
    checker.check_repairs()
    for flow, entry in entries_of(data, "flows").items():
        _check_ids(flow, entry, notes)


def known_names(data: Any) -> tuple[str, ...]:
    """The names of the declared slots, and of the outputs of actions and called flows."""
    names = dict.fromkeys(entries_of(data, "slots"))
    if isinstance(data, dict) and isinstance(data.get("slots"), dict):
        names |= dict.fromkeys(data["slots"])  # also slots whose declaration is invalid
    for at in steps_of(data):
        outputs = at.step.get({"action": "outputs", "call": "takes"}.get(at.key, ""))
        names |= dict.fromkeys(ours for _, ours in pairs_of(outputs))
    return tuple(names)


class _Checker:
    """Checks the names in one file."""

    def __init__(self, data: Any, notes: ProblemList) -> None:
        self._data = data
        self._notes = notes
        self._slots = entries_of(data, "slots")
        self._flows = entries_of(data, "flows")
        self._declared = tuple(data["slots"]) if isinstance(data.get("slots"), dict) else ()
        self._all_flows = tuple(data["flows"]) if isinstance(data.get("flows"), dict) else ()
        self._known = known_names(data)
        self._values = {text for slot in self._slots.values() for text in choices_of(slot)}
        self._proposing = {
            at.step.get("collect") for at in steps_of(data) if at.key == "collect" and "proposed" in at.step
        }

    # -- Slots

    def check_slots(self) -> None:
        for name in self._known:
            if name in RESERVED_SLOTS or keyword.iskeyword(name) or name.casefold() in _CONSTANTS:
                place = ("slots", name) if name in self._declared else ()
                self._notes.add(place, f"{name!r} is a reserved word and can't be the name of a slot; rename it")
        for name, slot in self._slots.items():
            for other in texts_of(slot.get("depends_on")):
                self._need(other, self._declared, ("slots", name, "depends_on"))
            for number, other in enumerate(texts_of(slot.get("items"))):
                self._need(other, self._declared, ("slots", name, "items"), number)
            self._check_source(name, slot)

    def _check_source(self, name: str, slot: dict[str, Any]) -> None:
        """Check `choices_from` of a slot: an action must return the list with this name."""
        source, path = slot.get("choices_from"), ("slots", name, "choices_from")
        if not isinstance(source, str):
            return
        returned = [ours for at in steps_of(self._data) for _, ours in pairs_of(at.step.get("outputs"))]
        if source not in returned:
            text = f"no action returns {quoted(source)}; name an output of an action{hint(source, returned)}"
            self._notes.add(path, text)

    def _need(
        self, name: str, known: Iterable[str], path: Path, at: str | int | None = None, what: str = "slot"
    ) -> None:
        if name not in known:
            self._notes.add(path, f"unknown {what} {quoted(name)}{hint(name, known)}", at=at)

    # -- Steps

    def check_step(self, at: LocatedStep) -> None:
        """Add a problem for every unknown name in one step."""
        match at.key:
            case "collect":
                self._check_collect(at)
            case "set":
                for name in at.step["set"] if isinstance(at.step["set"], dict) else ():
                    self._need(name, self._known, at.path, "set")
                    self._check_choice(name, at.step["set"][name], at.path)
            case "action":
                for name in texts_of(at.step.get("slots")):
                    self._need(name, self._known, at.path, "slots")
                if (flow := at.text("on_change")) is not None:
                    self._need(flow, self._all_flows, at.path, "on_change", "flow")
            case "call" | "link":
                self._check_flow(at)
            case "faq":
                if (name := at.text("faq")) is not None:
                    self._need(name, self._known, at.path, "faq")
        for path, key, text in conditions_of(at):
            self._check_condition(path, key, text)

    def _check_collect(self, at: LocatedStep) -> None:
        name, proposed = at.text("collect"), at.text("proposed")
        if proposed is not None:
            self._need(proposed, self._known, at.path, "proposed")
        if name is None:
            return
        self._need(name, self._declared, at.path, "collect")
        if name in self._slots and "prompt" not in at.step and "prompt" not in self._slots[name]:
            self._notes.add(at.path, f"`prompt` is missing: add it here or to slot {name!r}", at="collect")

    def _check_choice(self, name: str, value: Any, path: Path) -> None:
        choices = choices_of(self._slots.get(name, {}), with_also=False)
        if choices and isinstance(value, str | int | float) and value not in choices:
            text = f"{quoted(str(value))} isn't a choice of slot {name!r}{hint(str(value), choices)}"
            self._notes.add(path, text, at="set")

    def _check_flow(self, at: LocatedStep) -> None:
        name = at.text(at.key)
        if name is not None:
            self._need(name, self._all_flows, at.path, at.key, "flow")
        for ours, theirs in pairs_of(at.step.get("gives")):
            self._need(ours, self._known, at.path, "gives")
            self._need(theirs, self._known, at.path, "gives")
        for theirs, _ in pairs_of(at.step.get("takes")):
            self._need(theirs, self._known, at.path, "takes")

    def _check_condition(self, path: Path, key: str, text: str) -> None:
        try:
            names = parse(text).names
        except BadCondition as problem:
            self._notes.add(path, str(problem), at=key)
            return
        except RecursionError:
            self._notes.add(path, f"{quoted(text)} is nested too deeply; simplify the condition", at=key)
            return
        for name in names:
            if name not in self._known:
                advice = "; put a text in quotes" if name in self._values else hint(name, self._known)
                self._notes.add(path, f"unknown slot {quoted(name)}{advice}", at=key)

    # -- Texts

    def check_texts(self) -> None:
        for path, key, text, more in self._texts():
            for name in gaps_of(text):
                if name not in self._known and name not in more:
                    self._notes.add(path, f"unknown slot {quoted(name)}{hint(name, (*self._known, *more))}", at=key)
            for loop in FOR_EACH.finditer(text):
                self._check_loop_text(path, key, loop[1], loop[2])
            self._check_braces(path, key, FOR_EACH.sub("", text))
        for name, flow in self._flows.items():
            for text in texts_of(flow.get("examples")):
                if _BRACE.search(text):
                    path = ("flows", name, "examples")
                    text = f"{quoted(text)} has a gap; an example must be what users say, word for word"
                    self._notes.add(path, text)

    def _check_braces(self, path: Path, key: str | None, text: str) -> None:
        for brace in _BRACE.findall(text):
            if brace == "{end}" or brace.startswith("{for"):
                advice = "write {for each NAME}, then the text of one item, then {end}; a loop can't contain a loop"
                self._notes.add(path, f"{quoted(brace)} isn't part of a complete loop; {advice}", at=key)
            elif not GAP.fullmatch(brace):
                advice = "write {name}, {name.part} or {name:spelled}"
                self._notes.add(path, f"{quoted(brace)} isn't a valid gap; {advice}", at=key)

    def _check_loop_text(self, path: Path, key: str | None, name: str, text: str) -> None:
        """Check the text inside `{for each …}`. Its gaps are checked only if the loop is over a slot of type list. The
        items of a list that an action returns may have any fields."""
        self._check_braces(path, key, text)
        items = texts_of(self._slots.get(name, {}).get("items"))
        for gap in gaps_of(text) if items else ():
            if gap not in items:
                self._notes.add(path, f"items of {quoted(name)} have no {quoted(gap)}{hint(gap, items)}", at=key)

    def check_repairs(self) -> None:
        """Check that the repair flows exist."""
        repairs = self._data.get("repairs")
        for occasion, flow in (repairs if isinstance(repairs, dict) else {}).items():
            if isinstance(flow, str):
                self._need(flow, self._all_flows, ("repairs",), str(occasion), "flow")

    def _texts(self) -> Iterator[tuple[Path, str | None, str, tuple[str, ...]]]:
        """Yield every text that may have gaps: its path, its key, the text itself, and the names that its gaps may use
        in addition to slots."""
        for name, slot in self._slots.items():
            more = ("proposed",) if name in self._proposing else ()
            for key in _SLOT_TEXTS:
                yield from ((("slots", name, key), None, text, more) for text in texts_of(slot.get(key)))
            items = tuple(texts_of(slot.get("items")))
            for text in texts_of(slot.get("says")):
                yield ("slots", name, "says"), None, text, items
        repairs = self._data.get("repairs")
        told = {"correction": ("slot", "value")}
        extra = {
            flow: told.get(occasion, ())
            for occasion, flow in (repairs.items() if isinstance(repairs, dict) else ())
            if isinstance(flow, str)
        }
        for name, flow in self._flows.items():
            told_there = extra.get(name, ())
            yield from (
                (("flows", name, "completed"), None, text, told_there) for text in texts_of(flow.get("completed"))
            )
        for at in steps_of(self._data):
            more = (*(("proposed",) if "proposed" in at.step else ()), *extra.get(at.flow, ()))
            for key in ("say", "confirm", "handoff", "end", "prompt", "waiting"):
                for text in texts_of(at.step.get(key)):
                    yield (at.path if key == at.key else (*at.path, key)), key, text, more
        patterns = self._data.get("patterns")
        for key, text in (patterns if isinstance(patterns, dict) else {}).items():
            if isinstance(text, str):
                yield ("patterns", key), None, text, _PATTERN_GAPS.get(key, ())


# -- Step ids


def _check_ids(flow: str, entry: dict[str, Any], notes: ProblemList) -> None:
    """Report reserved and duplicate step ids. Also report a `then` that names an unknown step or would retry for ever,
    and a `then` without the block that it belongs to (such as `on_no`)."""
    steps = list(steps_in(flow, entry.get("steps"), ("flows", flow, "steps")))
    first: dict[str, int] = {}
    for at in steps:
        name = at.text("id")
        if name is None:
            continue
        if name in RESERVED_IDS:
            notes.add(at.path, f"{name!r} is a reserved word and can't be a step's id; rename it", at="id")
        elif name in first:
            notes.add(at.path, f"duplicate id {quoted(name)}; it is first used in line {first[name]}", at="id")
        first.setdefault(name, notes.lines.get((*at.path, "id"), 1))
    for at in steps:
        _check_then(at, tuple(first), notes)


def _check_then(at: LocatedStep, ids: tuple[str, ...], notes: ProblemList) -> None:
    then, body = at.text("then"), {"confirm": "on_no", "action": "on_failure", "faq": "on_no_answer"}.get(at.key)
    if then is None or body is None:
        return
    if body not in at.step:
        notes.add(at.path, f"`then` needs an `{body}` block", at="then")
    elif then not in (*THEN, *ids):
        notes.add(at.path, f"no step has the id {quoted(then)}{hint(then, (*THEN, *ids))}", at="then")
    elif at.key in ("action", "faq") and then == "again" and not _asks(at, body):
        notes.add(at.path, f"`then: again` would retry for ever; ask the user something in `{body}` first", at="then")


def _asks(at: LocatedStep, body: str) -> bool:
    return any(inner.key in ASKING for inner in steps_in(at.flow, at.step.get(body), (*at.path, body)))
