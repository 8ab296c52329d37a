"""Tracks which request the server is answering. This needs a state machine, because the messages from the server don't
name the request that they answer.

The server answers one request at a time, and an answer has no id. So a message belongs to the newest request, with two
exceptions: that request was given up, or the message is the late end of an earlier turn. Rule: every change is a row in
ROWS, and only an answer that was requested is delivered.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class AnswerStage(Enum):
    FREE = "free"  # the server is not answering
    ASKED = "asked"  # a request was sent, and no part of its answer has arrived
    ANSWERING = "answering"
    STOPPING = "stopping"  # the answer was given up, and its end has not arrived


class AnswerStep(Enum):
    """What can happen to an answer. The first two members are our own actions, and the others are messages from the
    server."""

    REQUEST = "request"
    GIVE_UP = "give up"
    PART = "part"  # sound or words
    CALLS = "calls"
    GENERATED = "generated"
    INTERRUPTED = "interrupted"
    TURN_ENDED = "turn ended"


class Delivery(Enum):
    """What to do with a message from the server."""

    DROP = "drop"
    DELIVER = "deliver"
    DELIVER_AND_END = "deliver and end"
    END = "end"


@dataclass(frozen=True, slots=True)
class Generation:
    """The state of this state machine. `has_tail` means that the end of an earlier turn may still arrive. The server
    sends this end late, when it assumes that the sound of the turn was played."""

    stage: AnswerStage = AnswerStage.FREE
    has_tail: bool = False

    @property
    def is_free(self) -> bool:
        """May a request be sent?"""
        return self.stage is AnswerStage.FREE


_LATE = (AnswerStep.GENERATED, AnswerStep.INTERRUPTED, AnswerStep.TURN_ENDED)
# (stage, event) -> (next stage, has_tail, what to do with the message). If has_tail is None, it stays as it was.
_Row = tuple[AnswerStage, bool | None, Delivery]
ROWS: dict[tuple[AnswerStage, AnswerStep], _Row] = {
    (AnswerStage.FREE, AnswerStep.REQUEST): (AnswerStage.ASKED, None, Delivery.DROP),
    (AnswerStage.FREE, AnswerStep.GIVE_UP): (AnswerStage.FREE, None, Delivery.DROP),
    (AnswerStage.FREE, AnswerStep.PART): (AnswerStage.FREE, True, Delivery.DROP),
    (AnswerStage.FREE, AnswerStep.CALLS): (AnswerStage.FREE, True, Delivery.DROP),
    (AnswerStage.FREE, AnswerStep.GENERATED): (AnswerStage.FREE, None, Delivery.DROP),
    (AnswerStage.FREE, AnswerStep.INTERRUPTED): (AnswerStage.FREE, None, Delivery.DROP),
    (AnswerStage.FREE, AnswerStep.TURN_ENDED): (AnswerStage.FREE, False, Delivery.DROP),
    (AnswerStage.ASKED, AnswerStep.REQUEST): (AnswerStage.ASKED, None, Delivery.DROP),
    (AnswerStage.ASKED, AnswerStep.GIVE_UP): (AnswerStage.STOPPING, None, Delivery.DROP),
    (AnswerStage.ASKED, AnswerStep.PART): (AnswerStage.ANSWERING, False, Delivery.DELIVER),
    (AnswerStage.ASKED, AnswerStep.CALLS): (AnswerStage.FREE, True, Delivery.DELIVER_AND_END),
    (AnswerStage.ASKED, AnswerStep.GENERATED): (AnswerStage.FREE, True, Delivery.END),
    # Only we interrupt answers, and then we give them up. So this message is about the sound of an earlier turn.
    (AnswerStage.ASKED, AnswerStep.INTERRUPTED): (AnswerStage.ASKED, True, Delivery.DROP),
    (AnswerStage.ASKED, AnswerStep.TURN_ENDED): (AnswerStage.FREE, False, Delivery.END),
    (AnswerStage.ANSWERING, AnswerStep.REQUEST): (AnswerStage.ASKED, True, Delivery.DROP),
    (AnswerStage.ANSWERING, AnswerStep.GIVE_UP): (AnswerStage.STOPPING, None, Delivery.DROP),
    (AnswerStage.ANSWERING, AnswerStep.PART): (AnswerStage.ANSWERING, None, Delivery.DELIVER),
    (AnswerStage.ANSWERING, AnswerStep.CALLS): (AnswerStage.FREE, True, Delivery.DELIVER_AND_END),
    (AnswerStage.ANSWERING, AnswerStep.GENERATED): (AnswerStage.FREE, True, Delivery.END),
    (AnswerStage.ANSWERING, AnswerStep.INTERRUPTED): (AnswerStage.FREE, True, Delivery.END),
    (AnswerStage.ANSWERING, AnswerStep.TURN_ENDED): (AnswerStage.FREE, False, Delivery.END),
    (AnswerStage.STOPPING, AnswerStep.REQUEST): (AnswerStage.ASKED, True, Delivery.DROP),
    (AnswerStage.STOPPING, AnswerStep.GIVE_UP): (AnswerStage.STOPPING, None, Delivery.DROP),
    (AnswerStage.STOPPING, AnswerStep.PART): (AnswerStage.STOPPING, None, Delivery.DROP),
    (AnswerStage.STOPPING, AnswerStep.CALLS): (AnswerStage.FREE, True, Delivery.DROP),
    (AnswerStage.STOPPING, AnswerStep.GENERATED): (AnswerStage.FREE, True, Delivery.DROP),
    (AnswerStage.STOPPING, AnswerStep.INTERRUPTED): (AnswerStage.FREE, True, Delivery.DROP),
    (AnswerStage.STOPPING, AnswerStep.TURN_ENDED): (AnswerStage.FREE, False, Delivery.DROP),
}


def step(state: Generation, happened: AnswerStep) -> tuple[Generation, Delivery]:
    """The next state, and what to do with the message. While the end of an earlier turn is still missing (`has_tail`),
    an end that arrives before the first part of the new answer belongs to that earlier turn, and is dropped."""
    if state.stage in (AnswerStage.ASKED, AnswerStage.STOPPING) and state.has_tail and happened in _LATE:
        return Generation(state.stage, happened is not AnswerStep.TURN_ENDED), Delivery.DROP
    stage, has_tail, verdict = ROWS[state.stage, happened]
    return Generation(stage, state.has_tail if has_tail is None else has_tail), verdict
