"""The values of the state machine inside local ears: its inputs, its outputs, and what it remembers.

Positions count frames of 32 ms from the start of the stream. The audio itself is stored elsewhere, by position. Rule:
everything here is frozen and of limited size, and refers to no model, clock or task.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Commit, Discard, Heard, Sounding
from duologue.turns.features import PauseFeatures
from duologue.turns.voicing import Voicing

from .speech_gate import FRAME_MS, GateRule, VoiceGate


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """The transcript of an utterance so far."""

    text: str = ""
    confidence: float = 0.0
    stability: float = 0.0
    """How stable the words are, from 0 to 1: 1 if the last transcripts had the same words."""
    unchanged_ms: int = 0
    """How many milliseconds of audio have been added since the words last changed."""
    settled: int = 0
    """How many words, from the start, are fixed."""
    last_confidence: float | None = None
    """The confidence of the last word."""
    tokens: tuple[int, ...] = field(default=(), compare=False)
    """The model's tokens: a draft for another model that has the same vocabulary."""


@dataclass(frozen=True, slots=True)
class TextPace:
    """When partial transcripts are requested: the first one `first_ms` after the onset, then one every `every_ms`."""

    first_ms: int
    every_ms: int


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """The settings of one stream. `pace` says when partial transcripts are requested. While the agent speaks, `overlap`
    is used instead of `pace`, because the user's words then decide whether the agent is interrupted."""

    rule: GateRule = field(default_factory=GateRule)
    pace: TextPace = TextPace(144, 288)
    overlap: TextPace = TextPace(224, 64)
    preroll_ms: int = 300  # audio before an onset that belongs to the utterance: it often holds the first consonant
    after_ms: int = 64  # silence after speech that belongs to the utterance, because speech fades out
    utterance_ms_max: int = 60_000  # a longer utterance is split into two
    new_ms: int = 160  # the code that ends a turn may not know yet about an utterance younger than this
    margin_db: float = 10.0  # speech begins when it is this much louder than the agent's echo can be, ...
    margin_held_db: float = 4.0  # ... and goes on while it is this much louder; by then the playback is held
    refine_ms_max: int = 300  # how long a final text may wait for that of a better model, ...
    refine_doubtful_ms_max: int = 500  # ... how long if the sound may not be speech, ...
    refine_wordless_ms_max: int = 800  # ... and how long if the first model found no word in a clear voice
    waiting_max: int = 64  # utterances without their final text; with more, the stream fails
    finals_max: int = 8  # final texts that wait; with more, the oldest is reported as it is
    bad_frames_max: int = 50  # unusable frames in a row, before the stream fails
    deaf_frames_max: int = 32  # frames in a row that the voice detector couldn't judge, before the stream fails

    @property
    def kept_max(self) -> int:
        """How many frames may belong to an utterance although they came before its onset was reported."""
        return (self.preroll_ms + self.rule.onset_ms) // FRAME_MS


# -- Requests for model work


class TextWork(enum.Enum):
    """What the STT model should do for an utterance."""

    PARTIAL = "partial"
    SETTLE = "settle"  # fix the words of older audio, because longer open audio takes longer to transcribe
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class RequestText:
    """Transcribe an utterance. A newer request replaces an older one whose work has not been started. A partial
    transcript covers all audio that has arrived when the work starts. A final transcript covers the audio up to `end`;
    the speech in it ends at `voiced_end`."""

    utterance: int
    work: TextWork
    first: int
    end: int = 0
    voiced_end: int = 0
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class RefineText:
    """Ask the better model for the final text of an utterance. The audio of the utterance is between `first` and `end`.
    An answer that takes longer than `ms_max` is too late."""

    utterance: int
    first: int
    end: int
    ms_max: int
    draft: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class WithdrawText:
    """The newest request for a transcript isn't needed any more, because its utterance was discarded."""


@dataclass(frozen=True, slots=True)
class JudgePause:
    """Ask a model to judge a pause, from the sound of the turn between `first` and `end`. If `is_doubt` is set, the
    question is whether the sound was speech; otherwise, whether the turn is over."""

    pause: int
    known: PauseFeatures
    first: int
    end: int
    is_doubt: bool = False


@dataclass(frozen=True, slots=True)
class ResetVad:
    """Clear the voice detector's memory, because the detector has failed or its answers aren't probabilities."""


# -- What goes in, besides `Commit`, `Discard` and `Sounding`


class SoundFrame(NamedTuple):
    """The measurements of one frame. `excess_db` is how much louder the frame is than the agent's echo could be. If the
    voice detector failed, `probability` is NaN and `fault` says why."""

    probability: float
    energy: float
    level_db: float
    excess_db: float
    fault: str = ""


@dataclass(frozen=True, slots=True)
class SilentFrame:
    """The line has stopped sending audio. This input stands for the length of one frame without audio."""


@dataclass(frozen=True, slots=True)
class BadFrame:
    """The line sent a frame that can't be used."""

    why: str


@dataclass(frozen=True, slots=True)
class TextWritten:
    """The STT model has finished one piece of work for an utterance. Either it has transcribed the audio up to
    `covers`, or it has only made the text of older audio final; in the second case, `text` is None. `is_long` means
    that much audio has no final text yet, so making older text final should come next (see `dictation`)."""

    utterance: int
    work: TextWork
    text: Hypothesis | None = None
    covers: int = 0
    is_long: bool = False


@dataclass(frozen=True, slots=True)
class TextRefined:
    """The better model's text of an utterance. `text` is None if the model was too late or has failed."""

    utterance: int
    text: Hypothesis | None = None


@dataclass(frozen=True, slots=True)
class FinalModelOffer:
    """Whether a better model for final texts is ready, and the length of the longest utterance for which it is fast
    enough."""

    is_ready: bool = False
    length_ms_max: int = 0


@dataclass(frozen=True, slots=True)
class PauseJudged:
    """A model judged a pause."""

    pause: int
    features: PauseFeatures


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """A model failed, or didn't answer in time."""

    request: RequestText | RefineText | JudgePause
    why: str


@dataclass(frozen=True, slots=True)
class AudioEnded:
    """No more audio follows."""


StreamInput: TypeAlias = (
    SoundFrame
    | SilentFrame
    | BadFrame
    | Commit
    | Discard
    | Sounding
    | TextWritten
    | TextRefined
    | FinalModelOffer
    | PauseJudged
    | ModelFailed
    | AudioEnded
)

# -- What comes out, besides reports and requests


@dataclass(frozen=True, slots=True)
class EarsWarning:
    """A line for the log: something has failed, but listening goes on."""

    line: str


@dataclass(frozen=True, slots=True)
class StreamBroken:
    """Listening can't go on."""

    line: str
    error: ErrorClass = ErrorClass.SERVER_ERROR


StreamOutput: TypeAlias = (
    Heard | RequestText | RefineText | WithdrawText | JudgePause | ResetVad | EarsWarning | StreamBroken
)

# -- What is remembered


class Utterance(NamedTuple):
    """An utterance whose final text isn't known yet. It begins with an onset. As long as it isn't over, it reaches up
    to the newest frame of the stream."""

    number: int
    first: int
    run_up: int  # how many of its frames came before the onset was reported
    due_ms: int  # the length at which the next partial transcript is requested
    every_ms: int
    wanted: int = 0  # a transcript was requested when the utterance ended here
    covered: int = 0  # the latest transcript covers the audio up to here
    end: int = 0  # where it ended, once it is over
    voiced_end: int = 0  # where its speech ended
    is_over: bool = False
    is_long: bool = False
    is_committed: bool = False  # its turn is over: its text is reported without asking whether it was speech
    failures: int = 0  # how often its final transcript has failed
    sound: PauseFeatures | None = None  # how it sounded, once it is over
    pause: int = 0  # the number of the pause after it
    latest: Hypothesis = Hypothesis()


@dataclass(frozen=True, slots=True)
class FinalText:
    """A final text that waits: for the better model, or until it is clear whether the sound was speech."""

    number: int
    said: Hypothesis  # the text by which it is decided whether the sound was speech
    is_committed: bool = False
    is_refining: bool = False
    refined: Hypothesis | None = None  # the better model's text; empty if it found no word, None if it isn't known
    sound: PauseFeatures | None = None  # how the utterance sounded
    pause: int = 0  # the number of the pause after it


class TurnHeard(NamedTuple):
    """The current turn. It begins with its first speech and ends with `Commit` or `Discard`; pauses don't end it."""

    is_on: bool = False
    voicing: Voicing = Voicing()
    first: int = 0  # where its first voice is
    pause: int = 0  # the number of the current pause: a judgement of an earlier pause is ignored
    known: PauseFeatures | None = None  # what models found out about the current pause

    @property
    def measured(self) -> PauseFeatures:
        """The features that were measured in the frames of this turn."""
        heard = self.voicing
        return PauseFeatures(
            heard.voiced_ms,
            heard.evidence,
            stretch_ms=heard.stretch_ms,
            stretch_evidence=heard.stretch_evidence,
        )


class StreamState(NamedTuple):
    """Everything that one stream remembers."""

    frames: int = 0  # the position after the newest frame
    kept: int = 0  # how many of the last frames belong to the next utterance
    gate: VoiceGate = VoiceGate()
    turn: TurnHeard = TurnHeard()
    number: int = 0  # the newest utterance
    utterances: tuple[Utterance, ...] = ()  # those without their final text, oldest first; only the last may be open
    asked: RequestText | None = None  # the newest request for a transcript that has no answer yet
    finals: tuple[FinalText, ...] = ()  # those that wait, oldest first
    offer: FinalModelOffer = FinalModelOffer()
    is_sounding: bool = False  # is the agent's voice playing?
    is_over: bool = False  # no more audio follows
    is_broken: bool = False
    bad_frames: int = 0  # unusable frames in a row
    deaf_frames: int = 0  # frames in a row that the voice detector couldn't judge

    def heard(self, kept: int, gate: VoiceGate, turn: TurnHeard, utterances: tuple[Utterance, ...]) -> StreamState:
        """The state after one more frame. All fields are passed, because `_replace` is slow."""
        return StreamState(
            self.frames + 1,
            kept,
            gate,
            turn,
            self.number,
            utterances,
            self.asked,
            self.finals,
            self.offer,
            self.is_sounding,
            self.is_over,
            self.is_broken,
            self.bad_frames,
            self.deaf_frames,
        )

    @property
    def open(self) -> Utterance | None:
        """The utterance that is being spoken; None if the user isn't speaking."""
        last = self.utterances[-1] if self.utterances else None
        return None if last is None or last.is_over else last

    def end_of(self, utterance: Utterance) -> int:
        """Where this utterance ends, as far as it was heard."""
        return utterance.end if utterance.is_over else self.frames

    def length_ms(self, utterance: Utterance) -> int:
        """How long this utterance is, as far as it was heard."""
        return (self.end_of(utterance) - utterance.first) * FRAME_MS

    @property
    def needed_from(self) -> int:
        """The position of the first audio that a transcript may still need. Older audio can be dropped."""
        return self.utterances[0].first if self.utterances else self.frames - self.kept

    @property
    def is_done(self) -> bool:
        """Has the audio ended, and has every final text been reported?"""
        return self.is_over and not self.utterances and not self.finals
