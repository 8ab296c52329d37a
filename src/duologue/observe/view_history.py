"""The current state of a view, the state before it, and the last transitions. A view is a set of names for the state of
a whole conversation, such as "listening".

Rule: the history is computed only from the steps of one conversation, and it keeps only the last 20 transitions.
"""

from __future__ import annotations

from collections.abc import Callable

from duologue.core.events import Event, TimerFired
from duologue.core.rows import trigger_name
from duologue.core.state import State
from duologue.core.views import View
from duologue.phrases.overrides import Phrases

from .labels import label
from .newest import Newest
from .signals import Signal, StateEntered, StateExited, Transitioned

TRANSITIONS_MAX = 20


def cause_of(event: Event) -> str:
    """The name of an event or, if a timer fired, the name of the timer. It is the same name as in rows and diagrams."""
    return trigger_name(event.timer if isinstance(event, TimerFired) else type(event))


class ViewHistory:
    """Follows the states of one view in one conversation."""

    def __init__(
        self,
        view: View,
        s: State,
        context: Callable[[], dict[str, object]],
        language: str = "en",
        phrases: Phrases | None = None,
        wants: Callable[[type[Signal]], bool] = lambda kind: True,  # noqa: ARG005
    ) -> None:
        self.view = view
        self.state = view.see(s)
        self.previous: str | None = None
        self.entered_at = s.at
        self.transitions = Newest[Transitioned](TRANSITIONS_MAX)
        self._context = context
        self._language = language
        self._phrases = phrases or Phrases()
        self._wants = wants  # is there a handler for this kind of signal?

    def follow(self, event: Event, after: State) -> tuple[Signal, ...]:
        """Process one step of the conversation machine, whose state is now `after`. Returns those signals about
        the change of the view that a listener wants; none if the view still shows the same state."""
        state = self.view.see(after)
        if state == self.state:
            return ()
        at, name = event.at, self.view.name
        moved = Transitioned(at, name, self.state, state, cause_of(event))
        self.transitions.append(moved)
        signals: tuple[Signal, ...] = (moved,)
        if self._wants(StateExited):
            signals = (StateExited(at, name, self.state, at - self.entered_at), moved)
        self.previous, self.state, self.entered_at = self.state, state, at
        if self._wants(StateEntered):
            shown = label(state, self._language, self._phrases)
            signals = (*signals, StateEntered(at, name, state, shown, self._context()))
        return signals
