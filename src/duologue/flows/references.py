"""Names in a file of flows: does everything that is named exist?

Slots in steps, conditions and the gaps of texts, flows in calls and links, steps in `then`. Works on the file as it
was written, so that a mistake in one place hides none in another. Rule: a name is known if the file declares a slot
of that name, or if an action or a called flow brings it.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator
from typing import Any

from duologue.dialogue.conditions import BadCondition, parse
from duologue.dialogue.templates import GAP, gaps_of

from .problems import Path, ProblemList, hint, quoted
from .schema import THEN
from .step_walk import ASKING, At, choices_of, conditions_of, entries_of, pairs_of, steps_in, steps_of, texts_of

# Names with a meaning of their own in texts, or as parameters of functions.
RESERVED_SLOTS = ("value", "slot", "slots", "flows", "proposed", "key", "confirmed")
RESERVED_IDS = (*THEN, "completed")
_CONSTANTS = ("true", "false", "none")
_BRACE = re.compile(r"\{[^{}]*\}?|\}")
_SLOT_TEXTS = ("prompt", "reprompts", "silence_prompts", "help")
_PATTERN_GAPS = {
    "help": ("flows",),
    "corrected": ("slot", "value"),
    "invalid": ("slot", "value"),
    "ambiguous": ("value",),
    "read_back": ("value",),
    "noted": ("slots",),
    "which": ("slots",),
    "check": ("slots",),
}


def check_names(data: Any, notes: ProblemList) -> None:
    """Note every name that doesn't exist."""
    checker = _Checker(data, notes)
    checker.check_slots()
    for at in steps_of(data):
        checker.check_step(at)
    checker.check_texts()
    for flow, entry in entries_of(data, "flows").items():
        _check_ids(flow, entry, notes)


def known_names(data: Any) -> tuple[str, ...]:
    """The slots that are declared, and what actions and called flows bring."""
    names = dict.fromkeys(entries_of(data, "slots"))
    if isinstance(data, dict) and isinstance(data.get("slots"), dict):
        names |= dict.fromkeys(data["slots"])  # declared, even if not rightly
    for at in steps_of(data):
        brought = at.step.get({"action": "outputs", "call": "takes"}.get(at.key, ""))
        names |= dict.fromkeys(ours for _, ours in pairs_of(brought))
    return tuple(names)


class _Checker:
    """One file."""

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
                self._notes.add(place, f"nothing can be called {name!r} here: the word has a meaning of its own")
        for name, slot in self._slots.items():
            for other in texts_of(slot.get("depends_on")):
                self._need(other, self._declared, ("slots", name, "depends_on"))

    def _need(
        self, name: str, known: Iterable[str], path: Path, at: str | int | None = None, what: str = "slot"
    ) -> None:
        if name not in known:
            self._notes.add(path, f"no {what} {quoted(name)}{hint(name, known)}", at=at)

    # -- Steps

    def check_step(self, at: At) -> None:
        """The names of one step, by what it does."""
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
            case "call" | "link":
                self._check_flow(at)
        for path, key, text in conditions_of(at):
            self._check_condition(path, key, text)

    def _check_collect(self, at: At) -> None:
        name, proposed = at.text("collect"), at.text("proposed")
        if proposed is not None:
            self._need(proposed, self._known, at.path, "proposed")
        if name is None:
            return
        self._need(name, self._declared, at.path, "collect")
        if name in self._slots and "prompt" not in at.step and "prompt" not in self._slots[name]:
            self._notes.add(at.path, f"needs a prompt: the slot {name!r} has none", at="collect")

    def _check_choice(self, name: str, value: Any, path: Path) -> None:
        choices = choices_of(self._slots.get(name, {}), with_also=False)
        if choices and isinstance(value, str | int | float) and value not in choices:
            self._notes.add(path, f"{name} has no choice {quoted(str(value))}{hint(str(value), choices)}", at="set")

    def _check_flow(self, at: At) -> None:
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
            self._notes.add(path, f"{quoted(text)} is no condition", at=key)
            return
        for name in names:
            if name not in self._known:
                advice = "; a text needs quotes" if name in self._values else hint(name, self._known)
                self._notes.add(path, f"no slot {quoted(name)}{advice}", at=key)

    # -- Texts

    def check_texts(self) -> None:
        for path, key, text, more in self._texts():
            for name in gaps_of(text):
                if name not in self._known and name not in more:
                    self._notes.add(path, f"no slot {quoted(name)}{hint(name, (*self._known, *more))}", at=key)
            for brace in _BRACE.findall(text):
                if not GAP.fullmatch(brace):
                    self._notes.add(path, f"{quoted(brace)} is no gap: write {{name}} or {{name:spelled}}", at=key)
        for name, flow in self._flows.items():
            for text in texts_of(flow.get("examples")):
                if _BRACE.search(text):
                    path = ("flows", name, "examples")
                    self._notes.add(path, f"{quoted(text)} has a gap: an example is what people say, word for word")

    def _texts(self) -> Iterator[tuple[Path, str | None, str, tuple[str, ...]]]:
        """Every text with gaps: where it is, its key, what it says, and names that it may use besides slots."""
        for name, slot in self._slots.items():
            more = ("proposed",) if name in self._proposing else ()
            for key in _SLOT_TEXTS:
                yield from ((("slots", name, key), None, text, more) for text in texts_of(slot.get(key)))
        for name, flow in self._flows.items():
            yield from ((("flows", name, "completed"), None, text, ()) for text in texts_of(flow.get("completed")))
        for at in steps_of(self._data):
            more = ("proposed",) if "proposed" in at.step else ()
            for key in ("say", "confirm", "end", "prompt", "waiting"):
                if (text := at.text(key)) is not None:
                    yield (at.path if key == at.key else (*at.path, key)), key, text, more
        patterns = self._data.get("patterns")
        for key, text in (patterns if isinstance(patterns, dict) else {}).items():
            if isinstance(text, str):
                yield ("patterns", key), None, text, _PATTERN_GAPS.get(key, ())


# -- Steps by their ids


def _check_ids(flow: str, entry: dict[str, Any], notes: ProblemList) -> None:
    """No id twice, and every `then` leads somewhere."""
    steps = list(steps_in(flow, entry.get("steps"), ("flows", flow, "steps")))
    first: dict[str, int] = {}
    for at in steps:
        name = at.text("id")
        if name is None:
            continue
        if name in RESERVED_IDS:
            notes.add(at.path, f"no step can be called {name!r}: the word has a meaning of its own", at="id")
        elif name in first:
            notes.add(at.path, f"the id {quoted(name)} is here twice; first in line {first[name]}", at="id")
        first.setdefault(name, notes.lines.get((*at.path, "id"), 1))
    for at in steps:
        _check_then(at, tuple(first), notes)


def _check_then(at: At, ids: tuple[str, ...], notes: ProblemList) -> None:
    then, body = at.text("then"), {"confirm": "on_no", "action": "on_failure"}.get(at.key)
    if then is None or body is None:
        return
    if body not in at.step:
        notes.add(at.path, f"then says what comes after {body}, and there is none", at="then")
    elif then not in (*THEN, *ids):
        notes.add(at.path, f"no step has the id {quoted(then)}{hint(then, (*THEN, *ids))}", at="then")
    elif at.key == "action" and then == "again" and not _asks(at, body):
        notes.add(at.path, "would try for ever: 'then: again' needs a question in on_failure", at="then")


def _asks(at: At, body: str) -> bool:
    return any(inner.key in ASKING for inner in steps_in(at.flow, at.step.get(body), (*at.path, body)))
