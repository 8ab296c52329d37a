"""The state of a telephone call around its conversation: its stage, what it waits for, and how it ended.

The machine doesn't know numbers, words or sound. Rule: the state is a value, and every stage that waits for something
has a deadline (`due`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CallStage(Enum):
    """Where a call is."""

    NEW = "new"
    DIALLING = "dialling"
    RINGING = "ringing"
    SCREENING = "screening"
    MACHINE = "machine"
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
    CallStage.SCREENING: "answered, by a person or by a machine: the first sound decides",
    CallStage.MACHINE: "a machine has answered: its greeting plays, and the beep is awaited",
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


class OnMachine(Enum):
    """What an outgoing call does if a machine answers."""

    MESSAGE = "message"  # wait for the beep, and leave the message
    HANG_UP = "hang_up"
    TALK = "talk"  # talk to it, such as to a telephone menu


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """The settings of one call."""

    ring_ms: int = 30_000  # how long a telephone may ring
    screens: bool = False  # is the first sound judged, to tell a person from a machine?
    on_machine: OnMachine = OnMachine.MESSAGE  # what happens if a machine answers
    screen_ms_max: int = 10_000  # after this long without a judgement, a person is assumed
    beep_ms_max: int = 30_000  # after this long without a beep, the message is left anyway
    message_ms_max: int = 120_000  # the longest message
    hold_ms_max: int = 600_000  # after this long on hold, the conversation goes on
    request_ms_max: int = 15_000  # the carrier has this long to answer a request
    briefing_ms_max: int = 60_000  # the person who takes over has this long to accept


@dataclass(frozen=True, slots=True)
class CallState:
    """A call. `request` numbers the requests to the carrier, so that a late answer is dropped. `taker` is the number of
    the request that called the person who takes over; 0: no such call exists. `due` is a time in ms; 0: no deadline."""

    stage: CallStage = CallStage.NEW
    due: int = 0
    request: int = 0
    taker: int = 0
    has_music: bool = False
    outcome: CallEnd = CallEnd.NONE
