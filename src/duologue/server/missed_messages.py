"""Messages for a client that reconnects or reloads its page: those that it missed, and questions that still wait for an
answer.

Rule: a turn that got no answer is reported to only one client, even after the conversation has ended. A fault is sent
to every client that reconnects until the fault is solved, and a question until it is answered.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from duologue.observe import signals as sg
from duologue.observe.newest import Newest

from .server_messages import ServerMessage

LOST_MAX = 20

_REMEMBERED = (sg.Lost, sg.Noticed, sg.WorkAsked, sg.WorkEnded)


class MissedMessages:
    """The messages of one conversation that a client must get when it reconnects."""

    def __init__(self, lost: Iterable[ServerMessage] = (), turns: Iterable[int] = ()) -> None:
        self._lost = Newest[ServerMessage](LOST_MAX, lost)  # not sent to any client yet
        self.lost_turns = Newest[int](LOST_MAX, turns)  # marked in the history each time that is sent
        self.fault: sg.Noticed | None = None  # the newest; each client gets it in its own language
        self._questions: dict[int, ServerMessage] = {}  # by the tool call that asked

    def needs(self, signal: sg.Signal) -> bool:
        """Is this a kind of signal that a reconnecting client may need to know of?"""
        return isinstance(signal, _REMEMBERED)

    def note(self, signal: sg.Signal, outgoing: ServerMessage, has_client: bool) -> None:
        """Remember this signal if a reconnecting client needs to know of it. `outgoing` is the message for the signal.
        `has_client` says whether a client is connected and gets the message now."""
        if isinstance(signal, sg.Lost):
            self.lost_turns.extend(range(signal.first, signal.last + 1))
        match signal:
            case sg.Lost() if not has_client:
                self._lost.append(outgoing)
            case sg.Noticed() if signal.level == "error":
                self.fault = signal
            case sg.WorkAsked():
                self._questions[signal.call] = outgoing
            case sg.WorkEnded():
                self._questions.pop(signal.call, None)

    def dump(self) -> list[ServerMessage]:
        """The messages about unanswered turns that no client got yet, as data for another node that takes over the
        conversation."""
        return list(self._lost)

    def lost(self) -> list[ServerMessage]:
        """Remove and return the messages about unanswered turns. Each message is returned only once."""
        found = list(self._lost)
        self._lost.clear()
        return found

    def questions(self, asking: Collection[int]) -> list[ServerMessage]:
        """The questions to send again to a client: those of the tool calls whose numbers are in `asking`."""
        return [question for call, question in self._questions.items() if call in asking]
