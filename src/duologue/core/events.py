"""The events of a conversation. Each event says that something has happened, and when it was noticed.

Events hold no words: the text is stored by the runtime, and the state machine gets only counts of words and a content
id. Rule: an event that can happen several times carries `seq`, a number that the driver increases. Every other event
carries the id of what it is about, so that a late event is recognised as stale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from operator import attrgetter
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
UNNAMED_SESSION = 0  # sessions count from 1


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened at `at`, in whole milliseconds."""

    at: int
    _values: ClassVar[Callable[[Any], tuple[Any, ...]] | None] = None
    _numbers: ClassVar[Callable[[Any], tuple[int, ...]]]
    _kinds: ClassVar[tuple[type, ...]]

    def __init_subclass__(cls) -> None:
        cls._values = None  # set on first use, when the fields of the dataclass exist

    def __post_init__(self) -> None:
        cls = type(self)
        if cls._values is None:
            _prepare_checks(cls)
        assert cls._values is not None
        if tuple(map(type, cls._values(self))) != cls._kinds or min(cls._numbers(self)) < 0:
            self._refuse()

    def _refuse(self) -> None:
        """Raise an error about the first field that has a wrong value."""
        cls = type(self)
        for field in fields(self):
            name, kind = field.name, _KINDS[str(field.type)]
            value: Any = getattr(self, name)  # checked against its declared type
            if type(value) is not kind:
                raise InvalidEvent(f"{cls.__name__}.{name} must be {kind.__name__}, not {value!r}")
            if isinstance(value, int) and value < 0:
                raise InvalidEvent(f"{cls.__name__}.{name} must not be negative, is {value}")


def _prepare_checks(cls: type[Event]) -> None:
    """Prepare the check of the values of an event, so that it takes two calls instead of one for each field."""
    kinds = {field.name: _KINDS[str(field.type)] for field in fields(cls)}
    cls._kinds = tuple(kinds.values())
    cls._numbers = _getter([name for name, kind in kinds.items() if kind is int])
    cls._values = _getter(kinds)  # last: another thread may make an event of this kind at the same time


def _getter(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns the values of these fields of an event."""
    first, *rest = names
    one: Callable[[Any], Any] = attrgetter(first)
    return attrgetter(first, *rest) if rest else lambda event: (one(event),)


@dataclass(frozen=True, slots=True)
class RecurringEvent(Event):
    """An event that can happen several times. `seq` shows whether the event is new or a repeated delivery of an earlier
    event."""

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


# -- What the person or the program requests


@dataclass(frozen=True, slots=True)
class StartRequested(RecurringEvent):
    """A conversation should start. The start is refused unless the session is active and audio is primed (ready to
    play)."""

    session_active: bool = True
    audio_primed: bool = True


@dataclass(frozen=True, slots=True)
class EndRequested(RecurringEvent):
    """The conversation should end now. This works in every state of a running conversation."""


@dataclass(frozen=True, slots=True)
class EndAfterSpeaking(RecurringEvent):
    """The conversation should end as soon as everything is said. If `withdrawable` is set and the person says something
    before that, the conversation goes on."""

    withdrawable: bool = False


@dataclass(frozen=True, slots=True)
class InterruptRequested(RecurringEvent):
    """The agent should stop speaking, or stop working on a reply. The person's open question counts as cancelled. Tool
    calls and jobs that aren't cancellable continue and report their results."""


@dataclass(frozen=True, slots=True)
class SuspendRequested(RecurringEvent):
    """The conversation should pause until ResumeRequested. During the pause, deadlines freeze, playback is held, and no
    request is sent to the brain."""


@dataclass(frozen=True, slots=True)
class ResumeRequested(RecurringEvent):
    """Continue after a pause."""


@dataclass(frozen=True, slots=True)
class ReconnectRequested(RecurringEvent):
    """The current session should be abandoned, and a new session should be opened."""


@dataclass(frozen=True, slots=True)
class RetryRequested(RecurringEvent):
    """After a fault: try again, and answer the turns that are still unanswered."""


@dataclass(frozen=True, slots=True)
class DismissRequested(RecurringEvent):
    """After a fault: continue without an answer to the turns that were already sent to the brain."""


@dataclass(frozen=True, slots=True)
class PttPressed(RecurringEvent):
    """The push-to-talk button was pressed. Until it is released, the button decides whether the person is speaking."""


@dataclass(frozen=True, slots=True)
class PttReleased(RecurringEvent):
    """The push-to-talk button was released."""


@dataclass(frozen=True, slots=True)
class SendPressed(RecurringEvent):
    """The person pressed a button to complete the turn."""


@dataclass(frozen=True, slots=True)
class TextTyped(RecurringEvent):
    """A whole turn arrived as typed text."""

    content: int = 0


@dataclass(frozen=True, slots=True)
class CancelRequested(AboutCall):
    """This job should be cancelled."""


@dataclass(frozen=True, slots=True)
class PersonSeen(RecurringEvent):
    """The person is at the screen: they type, hold the mouse over the page, or watch it."""


@dataclass(frozen=True, slots=True)
class SpeechRequested(RecurringEvent):
    """The program has something to say. The runtime stores the text. It is spoken when the floor is free (neither side
    speaks)."""


@dataclass(frozen=True, slots=True)
class TurnTaken(Event):
    """The program has taken this turn as the answer to its own question, so the brain isn't asked about it."""

    turn: int


@dataclass(frozen=True, slots=True)
class AgentChangeRequested(RecurringEvent):
    """The program changes the agent. The change applies from the next request to the brain on. If `speaks` is set,
    another agent takes over the conversation: it speaks next, and it answers the turns that aren't answered yet."""

    speaks: bool = False


# -- What the ears and turn-taking reported


@dataclass(frozen=True, slots=True)
class SpeechStarted(RecurringEvent):
    """Voice activity began. The event is sent again if speech continues after the state machine has ended the turn,
    because the turn has reached its limit or because the person has typed a whole turn."""


@dataclass(frozen=True, slots=True)
class SpeechStopped(RecurringEvent):
    """Voice activity ended. `quiet_ms` is how long ago the voice fell silent."""

    quiet_ms: int = 0


@dataclass(frozen=True, slots=True)
class WordsHeard(RecurringEvent):
    """Facts about the transcript of a turn. The text itself stays outside the core."""

    turn: int
    words: int
    substantial: int
    final: bool = False
    chars: int = 0
    confidence_pct: int = 100
    content: int = 0
    presence: bool = False  # the whole text only asks whether the agent is there: "hello?"
    gist: int = 0  # id of the words of the turn; case and punctuation don't count

    def __post_init__(self) -> None:
        Event.__post_init__(self)
        if self.substantial > self.words:
            raise InvalidEvent(f"WordsHeard.substantial must be at most `words` ({self.words}), not {self.substantial}")


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """Turn-taking is sure that the person has finished this turn. `onset` is the `seq` of the newest
    speech onset that turn-taking had heard. If the person has spoken again since then, this event is stale."""

    turn: int
    onset: int


@dataclass(frozen=True, slots=True)
class TurnGuessed(Event):
    """Turn-taking thinks that the person may have finished this turn, with the words whose id is `gist`. `onset` is the
    `seq` of the newest onset, as in TurnEnded."""

    turn: int
    onset: int
    gist: int = 0


@dataclass(frozen=True, slots=True)
class SoundDismissed(Event):
    """Turn-taking is sure that the newest sound of this turn is noise, although the sound goes on. If the turn has no
    other sound, the whole turn was noise. `onset` is the `seq` of the onset that was judged."""

    turn: int
    onset: int


@dataclass(frozen=True, slots=True)
class AnswerOverheard(RecurringEvent):
    """The words of this turn were recorded as overheard, but turn-taking found that they answer the agent's question:
    the person said them while the agent was still speaking the end of the question."""

    turn: int


@dataclass(frozen=True, slots=True)
class QuestionMissed(RecurringEvent):
    """The line is back, but the person hasn't heard the agent's last question, because the line was lost before the
    question was played."""


@dataclass(frozen=True, slots=True)
class OverlapJudged(AboutVoice):
    """Turn-taking judged a sound that the person made while the agent's speech with this number (`voice`) was playing.
    `bid` says whether the sound is a bid for the floor (barge-in). `onset` is the `seq` of the onset of this sound. If
    the person has made another sound since then, a judgement that the earlier sound was harmless is ignored."""

    seq: int
    bid: bool
    onset: int


# -- What the session and the line reported


@dataclass(frozen=True, slots=True)
class SessionReady(AboutSession):
    """The requested session is open and accepts audio."""


@dataclass(frozen=True, slots=True)
class SessionFailed(AboutSession):
    """The requested session could not be opened."""

    error: ErrorClass


@dataclass(frozen=True, slots=True)
class SessionClosed(AboutSession):
    """The session is closed, as requested."""


@dataclass(frozen=True, slots=True)
class LinkWobbled(RecurringEvent):
    """The line is interrupted and may come back by itself. If the conversation was paused and the line is still
    interrupted when the conversation resumes, the event is sent again."""

    session: int


@dataclass(frozen=True, slots=True)
class LinkHealed(RecurringEvent):
    """The line came back by itself."""

    session: int


@dataclass(frozen=True, slots=True)
class LinkClosed(AboutSession):
    """The line is gone permanently."""


@dataclass(frozen=True, slots=True)
class SessionEnded(RecurringEvent):
    """The current session ended while the next session was still being opened. `session` is the number of the next
    session. It is 0 in journals of earlier versions of Duologue; the event then applies to any session."""

    session: int = UNNAMED_SESSION


@dataclass(frozen=True, slots=True)
class ServiceFailed(RecurringEvent):
    """A service failed outside a reply, and its own retries didn't help. `part` says whether it is the ears (STT), the
    voice (TTS) or the session."""

    part: FaultSource
    error: ErrorClass


# -- What the brain reported


@dataclass(frozen=True, slots=True)
class ReplyAccepted(AboutReply):
    """The brain has accepted the request."""


@dataclass(frozen=True, slots=True)
class TokenArrived(AboutReply):
    """The first token of the reply arrived."""


@dataclass(frozen=True, slots=True)
class AudioBuffered(AboutReply):
    """The first audio of the reply is buffered and ready to play."""


@dataclass(frozen=True, slots=True)
class ReplyFinished(AboutReply):
    """The reply ended without any audio: it was only text, it was empty, or it only made tool calls."""


@dataclass(frozen=True, slots=True)
class ReplyWasEmpty(AboutReply):
    """The reply ended without anything that could be heard or shown, although the person waits for an answer."""


@dataclass(frozen=True, slots=True)
class ReplyFailed(AboutReply):
    """The reply failed, in the brain (LLM) or in the voice (TTS)."""

    error: ErrorClass
    part: FaultSource = FaultSource.BRAIN


@dataclass(frozen=True, slots=True)
class ReplyBecameFirm(AboutReply):
    """From now on, speech of the person doesn't interrupt this reply."""


@dataclass(frozen=True, slots=True)
class ToolCalled(AboutReply):
    """The reply requests a tool call. Each tool call has a higher id than the one before it."""

    call: int
    cancellable: bool = False


# -- What the line reported about playback


@dataclass(frozen=True, slots=True)
class PlaybackProgressed(AboutVoice):
    """The person has heard `heard_ms` of this voice (stretch of the agent's speech) so far."""

    heard_ms: int


@dataclass(frozen=True, slots=True)
class PlaybackFinished(AboutVoice):
    """All audio of this voice (stretch of the agent's speech) was played, and no more will follow."""

    heard_ms: int


@dataclass(frozen=True, slots=True)
class PlaybackStopped(AboutVoice):
    """The line confirms that it is silent after a stop."""

    heard_ms: int


@dataclass(frozen=True, slots=True)
class VoicesPlayed(RecurringEvent):
    """A client that reconnected has played a voice (stretch of the agent's speech) that isn't in the saved state. The
    number of this voice and all lower numbers must not be used again."""

    played: int


@dataclass(frozen=True, slots=True)
class LastWordsHeard(RecurringEvent):
    """The words that tell the person why the conversation ends have been played."""


@dataclass(frozen=True, slots=True)
class PlaybackFailed(AboutVoice):
    """The line can't play this voice (stretch of the agent's speech)."""

    error: ErrorClass


# -- What the workers reported


@dataclass(frozen=True, slots=True)
class CallDelegated(AboutCall):
    """The tool call has become a long job that the conversation waits for."""


@dataclass(frozen=True, slots=True)
class CallDispatched(AboutCall):
    """The tool call has become a long job that runs in the background."""


@dataclass(frozen=True, slots=True)
class JobProgressed(AboutCall):
    """The worker reported progress."""

    seq: int


@dataclass(frozen=True, slots=True)
class JobAsked(AboutCall):
    """The worker needs an answer from the person."""

    seq: int


@dataclass(frozen=True, slots=True)
class JobFinished(AboutCall):
    """The work is done, and the runtime has stored its result. If `quiet` is set, the brain isn't asked to react to the
    result."""

    quiet: bool = False


@dataclass(frozen=True, slots=True)
class JobFailed(AboutCall):
    """The work failed. The brain is told about the failure."""

    error: ErrorClass = ErrorClass.TOOL_ERROR


# -- Time


@dataclass(frozen=True, slots=True)
class TimerFired(Event):
    """A deadline has passed. `due` is the time for which the deadline was set. If the deadline has been set again since
    then, this event is recognised as stale."""

    timer: Timer
    due: int
    call: int = 0


_ABSTRACT = (Event, RecurringEvent, AboutSession, AboutReply, AboutVoice, AboutCall)
EVENTS: tuple[type[Event], ...] = tuple(
    value
    for value in list(globals().values())
    if isinstance(value, type) and issubclass(value, Event) and value not in _ABSTRACT
)
