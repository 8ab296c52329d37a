"""The inputs of a telephone call: what has happened, and when.

Rule: an input that answers a request carries the number of that request. The person who takes over is reached by a
second call; an input about this person carries the number of the request that placed it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .state import CallEnd


@dataclass(frozen=True, slots=True)
class CallArrived:
    """The stream of an incoming call has started."""

    at: int


@dataclass(frozen=True, slots=True)
class DialAsked:
    """The program wants to call a number."""

    at: int


@dataclass(frozen=True, slots=True)
class CarrierAgreed:
    """The carrier has accepted the request."""

    at: int
    request: int


@dataclass(frozen=True, slots=True)
class CarrierRefused:
    """The carrier has refused the request, or could not be reached."""

    at: int
    request: int


@dataclass(frozen=True, slots=True)
class RingingReported:
    """The carrier says that the telephone rings."""

    at: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The call was answered, and its stream has started."""

    at: int


@dataclass(frozen=True, slots=True)
class NotReached:
    """The call ended before it was answered: BUSY, NO_ANSWER or FAILED."""

    at: int
    why: CallEnd


@dataclass(frozen=True, slots=True)
class GreetingBegan:
    """Speech has begun at the other end."""

    at: int


@dataclass(frozen=True, slots=True)
class GreetingPaused:
    """The speech at the other end has paused or ended."""

    at: int


@dataclass(frozen=True, slots=True)
class PersonHeard:
    """The carrier reports that a person has answered."""

    at: int


@dataclass(frozen=True, slots=True)
class PersonSpoke:
    """Speech was recognised. So far, it consists only of words with which a person answers the telephone, such as
    "hello?". An answering machine's greeting may begin with the same words."""

    at: int


@dataclass(frozen=True, slots=True)
class MachineHeard:
    """The greeting of an answering machine was recognised, by the carrier or by its words."""

    at: int


@dataclass(frozen=True, slots=True)
class BeepHeard:
    """An answering machine is ready to record: its beep was heard, or the carrier reports this."""

    at: int


@dataclass(frozen=True, slots=True)
class FaxHeard:
    """The carrier reports that a fax machine has answered."""

    at: int


@dataclass(frozen=True, slots=True)
class AnswererUnknown:
    """The carrier can't tell who or what has answered."""

    at: int


@dataclass(frozen=True, slots=True)
class MessageFailed:
    """The message could not be spoken to its end."""

    at: int


@dataclass(frozen=True, slots=True)
class CallHoldAsked:
    at: int


@dataclass(frozen=True, slots=True)
class CallResumeAsked:
    at: int


@dataclass(frozen=True, slots=True)
class TransferAsked:
    """The program wants to transfer the call. If `warm` is set, the person who takes over is called and briefed before
    the call is transferred."""

    at: int
    warm: bool


@dataclass(frozen=True, slots=True)
class TakerAnswered:
    at: int
    taker: int


@dataclass(frozen=True, slots=True)
class TakerAccepted:
    at: int
    taker: int


@dataclass(frozen=True, slots=True)
class TakerLost:
    """The person who should take over can't be reached, has declined or has hung up."""

    at: int
    taker: int
    why: CallEnd


@dataclass(frozen=True, slots=True)
class StreamClosed:
    """The stream is over. Either the other side has hung up, or the carrier has ended the stream, as it also does after
    a transfer."""

    at: int


@dataclass(frozen=True, slots=True)
class TalkEnded:
    """The agent has ended its conversation, or has left its message."""

    at: int


@dataclass(frozen=True, slots=True)
class DeadlineReached:
    """The deadline of the current stage has passed."""

    at: int


CallInput: TypeAlias = (
    CallArrived
    | DialAsked
    | CarrierAgreed
    | CarrierRefused
    | RingingReported
    | Answered
    | NotReached
    | GreetingBegan
    | GreetingPaused
    | PersonHeard
    | PersonSpoke
    | MachineHeard
    | BeepHeard
    | FaxHeard
    | AnswererUnknown
    | MessageFailed
    | CallHoldAsked
    | CallResumeAsked
    | TransferAsked
    | TakerAnswered
    | TakerAccepted
    | TakerLost
    | StreamClosed
    | TalkEnded
    | DeadlineReached
)
