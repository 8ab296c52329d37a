"""The intents: what the hearing machine tells the conversation machine. Each intent becomes one event.

Rule: an intent contains the number of what it is about, such as the number of the turn. The driver adds only the time,
the sequence number and the number of the agent's current speech (`voice`).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeAlias

from duologue.core import events as ev


@dataclass(frozen=True, slots=True)
class BeginSpeech:
    """Speech begins, or goes on in the next turn."""


@dataclass(frozen=True, slots=True)
class StopSpeech:
    """Speech ends. `quiet_ms` is how long ago the voice fell silent."""

    quiet_ms: int = 0


@dataclass(frozen=True, slots=True)
class PressButton:
    """The user presses the push-to-talk button, and so takes the floor (the right to speak)."""


@dataclass(frozen=True, slots=True)
class ReleaseButton:
    """The user releases the push-to-talk button, and so ends the turn."""


@dataclass(frozen=True, slots=True)
class HearWords:
    """The text of a turn has changed."""

    turn: int
    words: int
    substantial: int
    final: bool
    chars: int
    confidence_pct: int
    content: int
    presence: bool = False  # the text only asks whether the agent is there
    gist: int = 0  # the id of the turn's words; it doesn't depend on case and punctuation


@dataclass(frozen=True, slots=True)
class TakeTyped:
    """The user typed a whole turn."""

    content: int


@dataclass(frozen=True, slots=True)
class EndTurn:
    """The user has finished this turn."""

    turn: int
    onset: int
    reasons: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class GuessTurn:
    """The user may have finished this turn, so the brain can be asked early. `gist` is the id of the words in the
    turn."""

    turn: int
    onset: int
    gist: int
    reasons: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class JudgeOverlap:
    """Says whether a sound over the agent's speech is a bid for the floor (an attempt to interrupt). `onset` is the
    number of the onset of this sound; 0 means the newest onset."""

    bid: bool
    onset: int
    reasons: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class DismissSound:
    """The sound of this turn is noise: a voice would have had words by now."""

    turn: int
    onset: int
    reasons: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class TakeAnswer:
    """The words of this turn were recorded as overheard, but they need an answer and become the next turn: the user
    said them over the end of the agent's question, or after the agent's sound had ended."""

    turn: int
    reasons: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class RepeatQuestion:
    """The line was lost before the agent's question was heard, and is back now. The question should be asked again."""


Verdict: TypeAlias = EndTurn | GuessTurn | JudgeOverlap | DismissSound | TakeAnswer
Intent: TypeAlias = (
    BeginSpeech | StopSpeech | PressButton | ReleaseButton | HearWords | TakeTyped | RepeatQuestion | Verdict
)

_PLAIN: dict[type[Any], type[ev.Event]] = {
    BeginSpeech: ev.SpeechStarted,
    PressButton: ev.PttPressed,
    ReleaseButton: ev.PttReleased,
    RepeatQuestion: ev.QuestionMissed,
}


# The events that only the hearing machine causes: `event_of` returns one of them for each intent.
HEARING_EVENTS: tuple[type[ev.Event], ...] = (
    *_PLAIN.values(),
    ev.SpeechStopped,
    ev.WordsHeard,
    ev.TextTyped,
    ev.TurnEnded,
    ev.TurnGuessed,
    ev.OverlapJudged,
    ev.SoundDismissed,
    ev.AnswerOverheard,
)


_WORDS_OF = attrgetter(*HearWords.__slots__)


def event_of(intent: Intent) -> tuple[type[ev.Event], dict[str, Any]]:
    """The class of the event that this intent becomes, and the fields of this event that come from the intent."""
    match intent:
        case HearWords():
            return ev.WordsHeard, dict(zip(HearWords.__slots__, _WORDS_OF(intent), strict=True))
        case StopSpeech(quiet_ms=quiet_ms):
            return ev.SpeechStopped, {"quiet_ms": quiet_ms}
        case TakeTyped(content=content):
            return ev.TextTyped, {"content": content}
        case EndTurn(turn=turn, onset=onset):
            return ev.TurnEnded, {"turn": turn, "onset": onset}
        case GuessTurn(turn=turn, onset=onset, gist=gist):
            return ev.TurnGuessed, {"turn": turn, "onset": onset, "gist": gist}
        case JudgeOverlap(bid=bid, onset=onset):
            return ev.OverlapJudged, {"bid": bid, "onset": onset} if onset else {"bid": bid}
        case DismissSound(turn=turn, onset=onset):
            return ev.SoundDismissed, {"turn": turn, "onset": onset}
        case TakeAnswer(turn=turn):
            return ev.AnswerOverheard, {"turn": turn}
    return _PLAIN[type(intent)], {}


def verdict_name(intent: Verdict) -> str:
    """The name of this verdict in signals and reports."""
    match intent:
        case JudgeOverlap(bid=bid):
            return "barge_in" if bid else "resume"
        case EndTurn():
            return "end_of_turn"
        case GuessTurn():
            return "asked_early"
        case DismissSound():
            return "noise"
        case TakeAnswer():
            return "early_answer"
