"""The state being made: what one event changes, says and wants done.

Mutable on the inside of one step and nowhere else. Rule: a phase changes only by `enter`, along the matrix; another
move is a mistake of ours and raises.
"""

from __future__ import annotations

from typing import Any

from .effects import DialogueEffect, Respond, Save
from .flow import Domain, Flow, SlotSpec
from .matrix import MATRIX
from .records import changed
from .state import BUSY, MESSAGES_MAX, TRACE_MAX, DialogueMessage, DialogueState, Instance, Phase, TraceEvent, with_top
from .templates import as_said, fill


class UnknownMove(Exception):
    """The machine made a move that the matrix does not have."""


class DialogueDraft:
    """One step."""

    def __init__(self, domain: Domain, state: DialogueState, at: int, today: str) -> None:
        self.domain = domain
        self.s = state
        self.at = at
        self.today = today
        self.effects: list[DialogueEffect] = []
        self.moves: list[tuple[Phase, Phase]] = []
        self.question = (state.top.id, state.top.at, state.waiting_for) if state.top is not None else None
        self.is_unheard = False  # the open question is new: nobody can have answered it yet
        self._first = ""
        self._says: list[Respond] = []
        self._reasons: dict[str, None] = {}

    # -- Changing

    def set(self, **changes: Any) -> None:
        self.s = changed(self.s, changes)

    def set_top(self, **changes: Any) -> None:
        self.s = with_top(self.s, **changes)

    def enter(self, phase: Phase) -> None:
        """Go over to a phase; staying in one is no move."""
        before = self.s.phase
        if phase is before:
            return
        if (before, phase) not in MATRIX:
            raise UnknownMove(f"{before} -> {phase}")
        self.moves.append((before, phase))
        self.set(phase=phase)
        self.note("transition", before=before.value, after=phase.value)
        self.keep("transition")

    def note(self, event: str, **data: str) -> None:
        """A line of the trace."""
        line = TraceEvent(event, self.at, tuple(data.items()))
        self.set(trace=(*self.s.trace, line)[-TRACE_MAX:])

    def keep(self, reason: str) -> None:
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
        """The number of a new request; whatever was asked for before is stale."""
        self.set(requests=self.s.requests + 1)
        self.set(pending=self.s.requests)
        return self.s.requests

    def say(self, text: str, *, asks: bool = False, barge_in: bool = True, **more: object) -> str:
        """Say a phrase with its gaps filled; nothing, if it is empty. Returns what is said."""
        said = {name: as_said(filled.value, filled.raw) for name, filled in self.top.slots} if self.s.stack else None
        words = fill(text, {**(self.s.slots if said is None else said), **more}, self.today)
        if words:
            self._says.append(Respond(words, barge_in, asks))
        return words

    def begin_with(self, text: str, **more: object) -> None:
        """Say this before all else, in place of what was to be said first until now."""
        self._first = fill(text, more)

    @property
    def says_something(self) -> bool:
        return bool(self._says)

    def hush(self) -> None:
        """Nothing of what was to be said is said: it went round."""
        self._says.clear()
        self._first = ""

    def finish(self) -> tuple[DialogueState, tuple[DialogueEffect, ...]]:
        """The new state, and what is to be done, in order: save, speak, then begin what takes time."""
        if self.s.phase is not Phase.ERROR and self.s.phase not in BUSY:
            self.set(trouble=None)
        self._keep_one_question()
        if self._first:
            self._says.insert(0, Respond(self._first))
        if self._says:
            text = " ".join(said.text for said in self._says)
            said = DialogueMessage("assistant", text, self.at)
            self.set(last_response=text, messages=(*self.s.messages, said)[-MESSAGES_MAX:])
            self.keep("response")
        saves = (Save(tuple(self._reasons)),) if self._reasons else ()
        return self.s, (*saves, *self._says, *self.effects)

    def _keep_one_question(self) -> None:
        """Only the last question is asked, and none while somebody works: what was said meanwhile may be its answer,
        and whatever is open after that is asked then."""
        last = next((said for said in reversed(self._says) if said.asks), None)
        is_open = self.s.phase not in BUSY
        self._says = [said for said in self._says if not said.asks or (is_open and said is last)]
