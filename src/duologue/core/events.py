"""What can happen. Every event is a past-tense fact with the time at which it was seen.

No event holds a word: words stay in the runtime's content store, and the machine gets counts and
an opaque content id. Rule: an event that may rightly recur carries `seq`, a number that the driver
increases; every other one carries the id of what it speaks of, so that a late one can be told.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from .errors import InvalidEvent
from .leaves import ErrorClass, FaultSource, Timer

_KINDS: dict[str, Any] = {
    "int": int,
    "bool": bool,
    "ErrorClass": ErrorClass,
    "FaultSource": FaultSource,
    "Timer": Timer,
}


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at `at`, in whole milliseconds."""

    at: int
    _checks: ClassVar[tuple[tuple[str, type], ...]] = ()

    def __init_subclass__(cls) -> None:
        cls._checks = ()  # filled on first use, when the fields of the dataclass exist

    def __post_init__(self) -> None:
        cls = type(self)
        if not cls._checks:
            cls._checks = tuple((f.name, _KINDS[str(f.type)]) for f in fields(self))
        for name, kind in cls._checks:
            value: Any = getattr(self, name)  # checked against its declared type
            if type(value) is not kind:
                raise InvalidEvent(f"{cls.__name__}.{name} must be {kind.__name__}, not {value!r}")
            if isinstance(value, int) and value < 0:
                raise InvalidEvent(f"{cls.__name__}.{name} must not be negative, is {value}")


@dataclass(frozen=True, slots=True)
class RecurringEvent(Event):
    """Something that may rightly happen again; `seq` tells a new one from a repeated one."""

    seq: int


@dataclass(frozen=True, slots=True)
class AboutSession(Event):
    session: int


@dataclass(frozen=True, slots=True)
class AboutReply(Event):
    reply: int


@dataclass(frozen=True, slots=True)
class AboutVoice(Event):
    voice: int


@dataclass(frozen=True, slots=True)
class AboutCall(Event):
    call: int


# -- What the person or the program asks for


@dataclass(frozen=True, slots=True)
class StartRequested(RecurringEvent):
    """Start a conversation. It begins only with an active session and primed audio."""

    session_active: bool = True
    audio_primed: bool = True


@dataclass(frozen=True, slots=True)
class EndRequested(RecurringEvent):
    """Hang up, from anywhere."""


@dataclass(frozen=True, slots=True)
class InterruptRequested(RecurringEvent):
    """Stop talking, or stop thinking. What was asked counts as cancelled; work that may not be
    cancelled goes on and reports."""


@dataclass(frozen=True, slots=True)
class SuspendRequested(RecurringEvent):
    """Pause: deadlines freeze, sound is held, nothing is asked."""


@dataclass(frozen=True, slots=True)
class ResumeRequested(RecurringEvent):
    """Go on after a pause."""


@dataclass(frozen=True, slots=True)
class ReconnectRequested(RecurringEvent):
    """Give this session up and make a new one."""


@dataclass(frozen=True, slots=True)
class RetryRequested(RecurringEvent):
    """After a fault: try again, and answer what is still owed."""


@dataclass(frozen=True, slots=True)
class DismissRequested(RecurringEvent):
    """After a fault: go on without what was owed."""


@dataclass(frozen=True, slots=True)
class PttPressed(RecurringEvent):
    """Push-to-talk went down. Until it comes up, the button decides and not voice activity."""


@dataclass(frozen=True, slots=True)
class PttReleased(RecurringEvent):
    """Push-to-talk came up."""


@dataclass(frozen=True, slots=True)
class SendPressed(RecurringEvent):
    """The person says by hand that the turn is complete."""


@dataclass(frozen=True, slots=True)
class TextTyped(RecurringEvent):
    """A whole turn arrived in writing."""

    content: int = 0


@dataclass(frozen=True, slots=True)
class CancelRequested(AboutCall):
    """Cancel this job."""


# -- What the ears and turn-taking noticed


@dataclass(frozen=True, slots=True)
class SpeechStarted(RecurringEvent):
    """Voice activity began. Sent again if it goes on after the machine has ended the turn, at its
    limit or because a whole turn was typed."""


@dataclass(frozen=True, slots=True)
class SpeechStopped(RecurringEvent):
    """Voice activity ended."""


@dataclass(frozen=True, slots=True)
class WordsHeard(RecurringEvent):
    """Facts about the transcript of a turn; the text itself stays outside."""

    turn: int
    words: int
    substantial: int
    final: bool = False
    chars: int = 0
    confidence_pct: int = 100
    content: int = 0

    def __post_init__(self) -> None:
        Event.__post_init__(self)
        if self.substantial > self.words:
            raise InvalidEvent(f"WordsHeard has {self.words} words, {self.substantial} of them substantial")


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """Turn-taking is sure that the person has finished this turn. `onset` is the number (`seq`) of
    the newest onset that it has heard: if the person has gone on since, the verdict is stale."""

    turn: int
    onset: int


@dataclass(frozen=True, slots=True)
class OverlapJudged(AboutVoice):
    """Turn-taking judged a sound made while this voice speaks: a bid for the floor, or not. `onset`
    is the number of the onset that it judged: that an older sound was harmless says nothing."""

    seq: int
    bid: bool
    onset: int


# -- What the session and the line did


@dataclass(frozen=True, slots=True)
class SessionReady(AboutSession):
    """The session that was asked for is open and takes audio."""


@dataclass(frozen=True, slots=True)
class SessionFailed(AboutSession):
    """The session that was asked for could not be had."""

    error: ErrorClass


@dataclass(frozen=True, slots=True)
class SessionClosed(AboutSession):
    """The session that was to be closed is closed."""


@dataclass(frozen=True, slots=True)
class LinkWobbled(RecurringEvent):
    """The line is interrupted and may come back by itself. Sent again if it still is after a pause."""

    session: int


@dataclass(frozen=True, slots=True)
class LinkHealed(RecurringEvent):
    """The line came back by itself."""

    session: int


@dataclass(frozen=True, slots=True)
class LinkClosed(AboutSession):
    """The line is gone for good."""


@dataclass(frozen=True, slots=True)
class ServiceFailed(RecurringEvent):
    """A service outside a reply (ears, the voice, the session) failed beyond its own retries."""

    part: FaultSource
    error: ErrorClass


# -- What the brain did


@dataclass(frozen=True, slots=True)
class ReplyAccepted(AboutReply):
    """The request has arrived."""


@dataclass(frozen=True, slots=True)
class TokenArrived(AboutReply):
    """The first token is here."""


@dataclass(frozen=True, slots=True)
class AudioBuffered(AboutReply):
    """The first sound of the reply is buffered and could be played."""


@dataclass(frozen=True, slots=True)
class ReplyFinished(AboutReply):
    """The reply ended before any sound: it was text only, empty, or made calls."""


@dataclass(frozen=True, slots=True)
class ReplyFailed(AboutReply):
    """The reply broke off, in the brain or in the voice."""

    error: ErrorClass
    part: FaultSource = FaultSource.BRAIN


@dataclass(frozen=True, slots=True)
class ToolCalled(AboutReply):
    """The reply asks for a call. Call ids increase strictly."""

    call: int
    cancellable: bool = False


# -- What the line played


@dataclass(frozen=True, slots=True)
class PlaybackProgressed(AboutVoice):
    """So much of this voice has really been heard."""

    heard_ms: int


@dataclass(frozen=True, slots=True)
class PlaybackFinished(AboutVoice):
    """Everything was played, and no more is to come."""

    heard_ms: int


@dataclass(frozen=True, slots=True)
class PlaybackStopped(AboutVoice):
    """The line confirms that it is silent after a stop."""

    heard_ms: int


@dataclass(frozen=True, slots=True)
class PlaybackFailed(AboutVoice):
    """The line can't play."""

    error: ErrorClass


# -- What the workers did


@dataclass(frozen=True, slots=True)
class CallDelegated(AboutCall):
    """The call turned out to be a long job that the conversation waits for."""


@dataclass(frozen=True, slots=True)
class CallDispatched(AboutCall):
    """The call turned out to be a long job that runs beside the conversation."""


@dataclass(frozen=True, slots=True)
class JobProgressed(AboutCall):
    """A sign of life with something to show."""

    seq: int


@dataclass(frozen=True, slots=True)
class JobAsked(AboutCall):
    """The worker needs an answer from the person."""

    seq: int


@dataclass(frozen=True, slots=True)
class JobFinished(AboutCall):
    """The work is done; its result is in the content store."""


@dataclass(frozen=True, slots=True)
class JobFailed(AboutCall):
    """The work failed; the brain will hear about it."""

    error: ErrorClass = ErrorClass.TOOL_ERROR


# -- Time


@dataclass(frozen=True, slots=True)
class TimerFired(Event):
    """A deadline passed. It names the due time that it was armed with, so an old one is known."""

    timer: Timer
    due: int
    call: int = 0


_ABSTRACT = (Event, RecurringEvent, AboutSession, AboutReply, AboutVoice, AboutCall)
EVENTS: tuple[type[Event], ...] = tuple(
    value
    for value in list(globals().values())
    if isinstance(value, type) and issubclass(value, Event) and value not in _ABSTRACT
)
