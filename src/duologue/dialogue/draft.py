"""The draft of a step: the changed state, the responses and the effects of one event.

A draft is mutable and is used for one step only. Rule: only `enter` changes the phase, and only if `MATRIX`, the table
of allowed phase changes, contains the change. Any other change is a bug and raises UnknownMove.
"""

from __future__ import annotations

import re
from copy import copy
from enum import Enum, auto
from typing import Any

from .effects import DialogueEffect, Respond, Save
from .flow import Domain, Flow, SlotSpec
from .found_choices import chosen_item
from .item_lists import draft_in, list_said
from .language.readings import SlotKind
from .matrix import MATRIX
from .records import changed
from .state import (
    BUSY,
    MESSAGES_MAX,
    TRACE_MAX,
    DialogueMessage,
    DialogueState,
    Filled,
    Instance,
    Phase,
    TraceEvent,
    with_top,
)
from .templates import ITEM, Wording, as_said, chosen, fill, gaps_of, spoken

SKIPPED = "skipped"  # the source of a value that the user left out
_LEFT_OUT = (SlotKind.TEXT, SlotKind.PHONE, SlotKind.EMAIL, SlotKind.CODE, SlotKind.NUMBER, SlotKind.MONEY)
_TWO_DOTS = re.compile(r"(?<!\.)\.\.(?!\.)")  # the full stop of a value, and that of the sentence around it


class UnknownMove(Exception):
    """A phase change that `MATRIX` doesn't contain."""


class Commitment(Enum):
    """A decision that a message makes and that later messages can't undo, for example a yes or a cancellation."""

    YES = auto()
    NO = auto()
    CANCEL = auto()
    RESTART = auto()
    HANDOFF = auto()
    ACTION = auto()
    GOODBYE = auto()


class DialogueDraft:
    """Collects the state changes, responses and requests that one event causes."""

    def __init__(self, domain: Domain, state: DialogueState, at: int, today: str) -> None:
        self.domain = domain
        self.s = state
        self.at = at
        self.today = today
        self.effects: list[DialogueEffect] = []
        self.moves: list[tuple[Phase, Phase]] = []
        self.question = (state.top.id, state.top.at, state.waiting_for) if state.top is not None else None
        self.is_question_new = False  # the open question is new: the user can't have answered it yet
        self.has_just_acted = False  # a final action has succeeded in this step
        self.is_repaired = False  # a flow of the author has handled the failed reply, so no apology is needed
        self._first = ""
        self._responses: list[Respond] = []
        self._reasons: dict[str, None] = {}
        self.commitments: list[Commitment] = []

    def copy(self) -> DialogueDraft:
        """A draft with the same content. Changes to one of the two don't change the other."""
        other = copy(self)
        other.effects, other.moves, other.commitments = [*self.effects], [*self.moves], [*self.commitments]
        other._responses, other._reasons = [*self._responses], {**self._reasons}
        return other

    # -- Changing

    def set(self, **changes: Any) -> None:
        self.s = changed(self.s, changes)

    def set_top(self, **changes: Any) -> None:
        self.s = with_top(self.s, **changes)

    def enter(self, phase: Phase) -> None:
        """Change the phase; entering the current phase does nothing. Raises UnknownMove if `MATRIX` doesn't allow the
        change."""
        before = self.s.phase
        if phase is before:
            return
        if (before, phase) not in MATRIX:
            raise UnknownMove(f"the phase change {before} -> {phase} isn't allowed")
        self.moves.append((before, phase))
        self.set(phase=phase)
        self.note("transition", before=before.value, after=phase.value)
        self.save_because("transition")

    def note(self, event: str, **data: str) -> None:
        """Append an entry to the trace."""
        line = TraceEvent(event, self.at, tuple(data.items()))
        self.set(trace=(*self.s.trace, line)[-TRACE_MAX:])

    def save_because(self, reason: str) -> None:
        self._reasons[reason] = None

    # -- Looking

    @property
    def top(self) -> Instance:
        assert self.s.top is not None, self.s
        return self.s.top

    @property
    def flow(self) -> Flow:
        return self.domain.flows[self.top.flow]

    def spec(self, slot: str) -> SlotSpec:
        return self.domain.slots[slot]

    # -- Wanting

    def request(self) -> int:
        """Begin a new request and return its number. From now on, results of earlier requests are ignored."""
        self.set(requests=self.s.requests + 1)
        self.set(pending=self.s.requests)
        return self.s.requests

    def say(
        self,
        text: Wording,
        *,
        asks: bool = False,
        barge_in: bool = True,
        ends: bool = False,
        rephrase: bool = False,
        **more: Any,
    ) -> str:
        """Fill the gaps in the text and add it as a response, unless it is empty. If `text` has several wordings, the
        number of the current turn decides which one is said. Returns the filled text."""
        forms = self.domain.pack.spoken
        values = {**self._said_values(), **more}
        words_of = chosen(text, self.s.turn_count)
        words = _TWO_DOTS.sub(".", fill(words_of, values, self.today, forms))
        if words:
            gaps = [values[name] for name in gaps_of(words_of) if values.get(name) is not None]
            said = tuple(spoken(value, self.today, forms) for value in gaps)
            self._responses.append(Respond(words, barge_in, asks, ends, said if rephrase else None))
        return words

    def spoken(self, value: object, raw: str = "") -> str:
        """A value as people say it in the language of the flows. `raw` holds the words with which the user gave the
        value."""
        forms = self.domain.pack.spoken
        return spoken(as_said(value, raw, forms), self.today, forms)

    def _said_values(self) -> dict[str, object]:
        """The values for the gaps in a text, as people say them. The keys are the names of the gaps."""
        if not self.s.stack:
            return dict(self.s.slots)
        said = {name: self.shown(name, filled) for name, filled in self.top.slots}
        return said | self._listed_items() | self._chosen_items()

    def shown(self, name: str, filled: Filled) -> object:
        """The value of a slot, as the agent says it to the user."""
        spec = self.domain.slots.get(name)
        if spec is not None and spec.items and isinstance(filled.value, list | tuple):
            return list_said(self.domain, spec, filled.value, self.today)
        if filled.source == SKIPPED and spec is not None and spec.kind in _LEFT_OUT:
            return self.domain.pack.spoken.none
        return as_said(filled.value, filled.raw, self.domain.pack.spoken)

    def _listed_items(self) -> dict[str, object]:
        """Values for the gaps of list slots. Gaps with a dot (`{order.0}`) and `{for each …}` get the items of the
        list. A gap with the name of an unfinished list (`{order}`) gets a text."""
        said: dict[str, object] = {}
        for name, filled in self.top.slots:
            if name in self.domain.slots and self.domain.slots[name].items:
                said[name + ITEM] = filled.value
        for name, _ in self.top.lists:
            items = draft_in(self.top, name).items
            said |= {name: list_said(self.domain, self.spec(name), items, self.today), name + ITEM: [*items]}
        return said

    def _chosen_items(self) -> dict[str, object]:
        """The items that the user chose, for the slots whose choices come from the result of an action. They fill gaps
        such as `{flight}` and `{flight.price}`."""
        said: dict[str, object] = {}
        for spec in self.domain.slots.values():
            item = chosen_item(spec, self.top) if spec.choices_from else None
            if item is not None:
                said |= {spec.name: item, spec.name + ITEM: item}
        return said

    def say_first(self, text: str, **more: object) -> None:
        """Say this text before all other responses of the step. If this is called again in the same step, the new text
        replaces the earlier one."""
        self._first = _TWO_DOTS.sub(".", fill(text, more, forms=self.domain.pack.spoken))

    @property
    def says_something(self) -> bool:
        return bool(self._responses)

    def drop_responses(self) -> None:
        """Drop all responses of this step, because the flow runs in an endless loop."""
        self._responses.clear()
        self._first = ""

    def finish(self) -> tuple[DialogueState, tuple[DialogueEffect, ...]]:
        """End the step. Returns the new state and its effects. First comes the effect that saves the state, then the
        responses, then the requests that take time."""
        if self.s.phase is not Phase.ERROR and self.s.phase not in BUSY:
            self.set(trouble=None)
        self._keep_one_question()
        if self._first:
            self._responses.insert(0, Respond(self._first))
        if self._responses:
            text = " ".join(said.text for said in self._responses)
            said = DialogueMessage("assistant", text, self.at)
            self.set(last_response=text, messages=(*self.s.messages, said)[-MESSAGES_MAX:])
            self.save_because("response")
        saves = (Save(tuple(self._reasons)),) if self._reasons else ()
        return self.s, (*saves, *self._responses, *self.effects)

    def _keep_one_question(self) -> None:
        """Of all questions in this step, keep only the last. If a request is running, drop the last question too,
        because a queued message may already answer it. When the request is done, the flow asks the question that is
        open then."""
        last = next((said for said in reversed(self._responses) if said.asks), None)
        is_open = self.s.phase not in BUSY
        self._responses = [said for said in self._responses if not said.asks or (is_open and said is last)]
