"""A small state machine that decides when the user's audio is sent to the server.

The server can't forget audio, and can't be told that a sound wasn't meant for it. The beginning of an activity (a
stretch of the user's speech) interrupts the model, and the end of an activity requests an answer. So audio is held back
here until it has words and the model isn't answering. Rule: every change is a row in ROWS. A cough never reaches the
server, and an activity ends only when the runtime requests an answer.
"""

from __future__ import annotations

from enum import Enum


class SpeechFloor(Enum):
    QUIET = "quiet"  # the user isn't speaking, and no audio is held back
    UNSURE = "unsure"  # a sound without words; its audio is held here
    HELD = "held"  # words, while the model answers or there is no session; their audio is held here
    KEPT = "kept"  # a turn is over, and its audio is held here
    OPEN = "open"  # an activity: audio goes to the server
    PAUSED = "paused"  # an activity in which the user isn't speaking
    AGAIN = "again"  # an activity, and a new sound without words; its audio is held here


class FloorInput(Enum):
    """An event that may change the state. ASKED means that the runtime requests an answer. LOST means that the session
    is lost."""

    SPEECH = "speech"
    WORDS = "words"
    FREED = "freed"  # the model isn't answering any more, or there is a session again
    TURN_OVER = "turn over"
    NOISE = "noise"
    ASKED = "asked"
    LOST = "lost"


class FloorOutput(Enum):
    """An action: BEGIN or END an activity on the server, send the audio that is HELD here, or DROP that audio."""

    BEGIN = "begin"
    HELD = "held"
    END = "end"
    DROP = "drop"


_FLUSH = (FloorOutput.BEGIN, FloorOutput.HELD)
ROWS: dict[tuple[SpeechFloor, FloorInput], tuple[SpeechFloor, tuple[FloorOutput, ...]]] = {
    (SpeechFloor.QUIET, FloorInput.SPEECH): (SpeechFloor.UNSURE, ()),
    (SpeechFloor.UNSURE, FloorInput.WORDS): (SpeechFloor.HELD, ()),
    (SpeechFloor.UNSURE, FloorInput.TURN_OVER): (SpeechFloor.KEPT, ()),
    (SpeechFloor.UNSURE, FloorInput.NOISE): (SpeechFloor.QUIET, (FloorOutput.DROP,)),
    (SpeechFloor.HELD, FloorInput.FREED): (SpeechFloor.OPEN, _FLUSH),
    (SpeechFloor.HELD, FloorInput.TURN_OVER): (SpeechFloor.KEPT, ()),
    (SpeechFloor.HELD, FloorInput.NOISE): (SpeechFloor.QUIET, (FloorOutput.DROP,)),
    (SpeechFloor.HELD, FloorInput.ASKED): (SpeechFloor.QUIET, (*_FLUSH, FloorOutput.END)),
    (SpeechFloor.KEPT, FloorInput.SPEECH): (SpeechFloor.HELD, ()),
    (SpeechFloor.KEPT, FloorInput.ASKED): (SpeechFloor.QUIET, (*_FLUSH, FloorOutput.END)),
    (SpeechFloor.OPEN, FloorInput.TURN_OVER): (SpeechFloor.PAUSED, ()),
    (SpeechFloor.OPEN, FloorInput.NOISE): (SpeechFloor.PAUSED, ()),
    (SpeechFloor.OPEN, FloorInput.ASKED): (SpeechFloor.QUIET, (FloorOutput.END,)),
    (SpeechFloor.OPEN, FloorInput.LOST): (SpeechFloor.QUIET, (FloorOutput.DROP,)),
    (SpeechFloor.PAUSED, FloorInput.SPEECH): (SpeechFloor.AGAIN, ()),
    (SpeechFloor.PAUSED, FloorInput.ASKED): (SpeechFloor.QUIET, (FloorOutput.END,)),
    (SpeechFloor.PAUSED, FloorInput.LOST): (SpeechFloor.QUIET, ()),
    (SpeechFloor.AGAIN, FloorInput.WORDS): (SpeechFloor.OPEN, (FloorOutput.HELD,)),
    (SpeechFloor.AGAIN, FloorInput.TURN_OVER): (SpeechFloor.PAUSED, (FloorOutput.HELD,)),
    (SpeechFloor.AGAIN, FloorInput.NOISE): (SpeechFloor.PAUSED, (FloorOutput.DROP,)),
    (SpeechFloor.AGAIN, FloorInput.ASKED): (SpeechFloor.UNSURE, (FloorOutput.END,)),
    (SpeechFloor.AGAIN, FloorInput.LOST): (SpeechFloor.UNSURE, ()),
}
HOLDS = frozenset((SpeechFloor.UNSURE, SpeechFloor.HELD, SpeechFloor.AGAIN))  # new audio is held here
ACTIVE = frozenset((SpeechFloor.OPEN, SpeechFloor.PAUSED, SpeechFloor.AGAIN))  # an activity is open on the server


def step(floor: SpeechFloor, heard: FloorInput) -> tuple[SpeechFloor, tuple[FloorOutput, ...]]:
    """The next state and the actions, in order. An input without a row changes nothing."""
    return ROWS.get((floor, heard), (floor, ()))
