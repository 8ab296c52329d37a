"""The state of a telephone call, outside the agent's conversation: the stage, what the call waits for, and how it
ended.

The state machine doesn't know telephone numbers, words or sound. Rule: the state is a value, and every stage that waits
for something has a deadline (`due`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CallStage(Enum):
    """The stage of a call."""

    NEW = "new"
    DIALLING = "dialling"
    RINGING = "ringing"
    SCREENING = "screening"
    GREETING = "greeting"
    GREETED = "greeted"
    MACHINE = "machine"
    MACHINE_SILENT = "machine silent"
    MESSAGE = "message"
    TALKING = "talking"
    HELD = "held"
    PASSING_ON = "passing on"
    CALLING_TAKER = "calling taker"
    BRIEFING = "briefing"
    JOINING = "joining"
    LEAVING = "leaving"
    ENDED = "ended"


STAGE_MEANINGS: dict[CallStage, str] = {
    CallStage.NEW: "nothing has happened yet",
    CallStage.DIALLING: "the carrier was asked to call the number",
    CallStage.RINGING: "the telephone rings",
    CallStage.SCREENING: "answered, by a person or by a machine, and nothing was said yet",
    CallStage.GREETING: "the first words are spoken, by a person or by a machine",
    CallStage.GREETED: "the first words were short: a person, unless more follows",
    CallStage.MACHINE: "a machine has answered: its greeting plays, and the beep is awaited",
    CallStage.MACHINE_SILENT: "the machine's greeting has paused or ended, and the beep is awaited",
    CallStage.MESSAGE: "the message is spoken to the machine",
    CallStage.TALKING: "the conversation goes on",
    CallStage.HELD: "the person is on hold and hears music",
    CallStage.PASSING_ON: "cold transfer: the carrier was asked to pass the call on",
    CallStage.CALLING_TAKER: "warm transfer: the person who takes over is called, and the caller hears music",
    CallStage.BRIEFING: "warm transfer: the person who takes over hears the briefing, and the caller hears music",
    CallStage.JOINING: "warm transfer: the carrier was asked to connect both",
    CallStage.LEAVING: "the stream has ended during a request to transfer the call, and the answer is awaited",
    CallStage.ENDED: "the call is over for the agent",
}


class CallEnd(Enum):
    """How a call or a transfer ended."""

    NONE = ""
    COMPLETED = "completed"
    TRANSFERRED = "transferred"
    MESSAGE_LEFT = "message left"
    MACHINE = "machine"
    BUSY = "busy"
    NO_ANSWER = "no answer"
    DECLINED = "declined"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    HUNG_UP = "hung up"


class Answerer(Enum):
    """What has answered an outgoing call, if that is known already."""

    UNKNOWN = "unknown"
    PERSON = "person"
    MACHINE = "machine"


class OnMachine(Enum):
    """What to do if an answering machine answers an outgoing call."""

    TALK = "talk"  # the agent talks at once to whatever has answered, such as to a telephone menu
    MESSAGE = "message"  # wait for the beep, and leave the message
    HANG_UP = "hang_up"


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """The settings of one call."""

    ring_ms: int = 30_000  # how long a telephone may ring
    on_machine: OnMachine = OnMachine.TALK  # what happens if a machine answers; with TALK, machines aren't detected
    silence_ms_max: int = 6_000  # after this long without a word, the agent talks: who has answered is unknown
    greeting_ms_max: int = 5_000  # first words that last longer are a machine's greeting
    greeting_gap_ms: int = 1_000  # after this pause, short first words are a person's
    beep_gap_ms: int = 5_000  # after this long since the end of a greeting without a beep, the message is left anyway
    beep_ms_max: int = 60_000  # a greeting that lasts longer records nothing: the call is hung up
    message_ms_max: int = 120_000  # the longest message
    hold_ms_max: int = 600_000  # after this long on hold, the conversation goes on
    request_ms_max: int = 15_000  # the carrier has this long to answer a request
    briefing_ms_max: int = 60_000  # the person who takes over has this long to accept


@dataclass(frozen=True, slots=True)
class CallState:
    """The state of one call. `request` is the number of the newest request to the carrier; answers to older requests
    are ignored. `taker` is the number of the request that called the person who takes over; 0 if there is no such call.
    `due` is the deadline in ms; 0 if there is no deadline. `since` is the time at which the first words began or, once
    an answering machine was recognised, the time of that."""

    stage: CallStage = CallStage.NEW
    due: int = 0
    request: int = 0
    taker: int = 0
    since: int = 0
    answerer: Answerer = Answerer.UNKNOWN
    has_music: bool = False
    outcome: CallEnd = CallEnd.NONE
