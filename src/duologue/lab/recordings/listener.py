"""Plays a recording to an agent, and records what the agent heard and decided: ends of turns, holds, barge-ins.

The agent is complete (ears, turn-taking, machine), but its brain returns empty replies. Rule: frames arrive at the pace
of the recording, so no decision can depend on later sound.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from duologue.audio.frames import Samples, UnusableAudio, to_pcm
from duologue.audio.levels import rms, to_dbfs
from duologue.audio.resample import resample
from duologue.audio.wav import read_audio
from duologue.core import effects as fx
from duologue.core.leaves import ACTIVE, User
from duologue.core.settings import Settings, with_changes
from duologue.core.step_record import StepRecord
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports.brain import Part, Request, Show
from duologue.ports.ears import Ears, Frame, Heard
from duologue.ports.sound import Sound
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.turns.endpoint import EndpointPolicy

RATE_HZ = 16_000
FRAME_MS = 32
LEAD_MS = 200  # from the start of the agent's speech to the start of the recording
AFTER_MS = 4_000  # of silence after the recording, so that its last turn can end
SPOKEN = "…"
ROUNDING = 1e-3  # milliseconds: the error of sums of floats


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of the agent, `t_ms` milliseconds after the beginning of the recording."""

    t_ms: int
    kind: str  # end_of_turn, hold, barge_in, resume or noise
    reasons: tuple[str, ...] = ()
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class TurnWords:
    """The words of a turn, as far as the agent knew them at `t_ms`."""

    t_ms: int
    turn: int
    text: str
    is_final: bool


@dataclass(frozen=True, slots=True)
class ListenResult:
    """What the agent decided and heard in one recording."""

    duration_ms: int
    decisions: tuple[Decision, ...]
    words: tuple[TurnWords, ...]
    levels_db: tuple[float, ...] = ()

    @property
    def turns(self) -> tuple[TurnWords, ...]:
        """For each turn that has words: its words as they were last known."""
        return tuple({said.turn: said for said in self.words if said.text}.values())


@dataclass(frozen=True)
class MuteBrain:
    """A brain whose greeting is a sound of `speaks_ms` milliseconds. Its answers are only shown on the screen, not
    spoken."""

    speaks_ms: int

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        yield Show("-") if request.text else Sound(self.speaks_ms, text=SPOKEN)


class RecordingLine(ScriptedLine):
    """A line whose microphone sends a recording."""

    async def play_in(self, heard: Samples, played: Samples) -> None:
        """Send the recording in frames at its own pace. Each frame is sent at the time when it ends. `heard` is what
        the microphone hears. `played` is what the agent plays at the same time; it may be empty."""
        size = FRAME_MS * RATE_HZ // 1000
        loop = asyncio.get_running_loop()
        began = loop.time()
        for place, at in enumerate(range(0, heard.size, size), 1):
            await asyncio.sleep(max(0.0, began + place * FRAME_MS / 1000 - loop.time()))
            echo = to_pcm(played[at : at + size]) if played.size else b""
            self._notify(Frame(to_pcm(heard[at : at + size]), RATE_HZ, echo))


def ends_turn(record: StepRecord) -> bool:
    """Did this step end a turn of the user that has words? Audio is also committed in the middle of a long turn, and
    that doesn't end the turn."""
    is_over = record.after.user not in (User.TALKING, User.SETTLING)
    return is_over and any(isinstance(effect, fx.CommitAudio) for effect in record.effects)


class DecisionNotes:
    """Records the words of a conversation, and the agent's decisions with the reasons that turn-taking gives."""

    def __init__(self, conversation: Conversation, kinds: Mapping[type[fx.Effect], str]) -> None:
        self._kinds = kinds
        self.decisions: list[Decision] = []
        self.words: list[TurnWords] = []
        self._began = math.inf
        engine = conversation.engine
        engine.watchers.append(self._watch)
        engine.bus.on(sg.Decided, self._note_reason)
        engine.bus.on(sg.Caption, self._note_words)

    def begin(self) -> None:
        """Start to record: times are counted from now on."""
        self._began = asyncio.get_running_loop().time()

    @property
    def _now_ms(self) -> int:
        return math.ceil((asyncio.get_running_loop().time() - self._began) * 1000 - ROUNDING)

    def _note_reason(self, signal: sg.Decided) -> None:
        """Add the reasons in this signal to the newest decision of the same kind. The signal comes right after the
        decision that it explains."""
        for place in range(len(self.decisions) - 1, -1, -1):
            made = self.decisions[place]
            if made.kind == signal.decision:
                self.decisions[place] = replace(made, reasons=signal.reasons, confidence=signal.confidence)
                return

    def _note_words(self, caption: sg.Caption) -> None:
        if caption.role == "user" and self._began < math.inf:
            self.words.append(TurnWords(self._now_ms, caption.turn, caption.text, caption.final))

    def _watch(self, record: StepRecord) -> None:
        if self._began == math.inf or record.after.link not in ACTIVE:
            return  # the recording has not begun, or the call is over: its last stop isn't a barge-in
        for effect in record.effects:
            kind = self._kinds.get(type(effect))
            if kind is not None and (type(effect) is not fx.CommitAudio or ends_turn(record)):
                self.decisions.append(Decision(self._now_ms, kind, (type(record.event).__name__,)))


DECISIONS: dict[type[fx.Effect], str] = {
    fx.CommitAudio: "end_of_turn",
    fx.HoldPlayback: "hold",
    fx.StopPlayback: "barge_in",
    fx.ResumePlayback: "resume",
    fx.DiscardAudio: "noise",
}


def read(path: Path) -> Samples:
    """Read a recording and resample it to RATE_HZ. Raises `UnusableAudio`, whose message names the path, if the
    recording can't be resampled."""
    samples, rate_hz = read_audio(path)
    try:
        return resample(samples, rate_hz, RATE_HZ)
    except UnusableAudio as problem:
        raise UnusableAudio(f"{path}: {problem}") from None


def levels_of(samples: Samples) -> tuple[float, ...]:
    """The level of every frame in dBFS."""
    size = FRAME_MS * RATE_HZ // 1000
    return tuple(to_dbfs(rms(samples[at : at + size])) for at in range(0, samples.size, size))


@dataclass(frozen=True)
class Listener:
    """An agent that listens to recordings, one after the other."""

    ears: Ears
    endpoint: EndpointPolicy
    settings: Settings
    kinds: ClassVar[Mapping[type[fx.Effect], str]] = DECISIONS  # which effects are decisions

    async def listen(
        self,
        heard: Samples,
        played: Samples | None = None,
        tap: Callable[[Heard], object] | None = None,
        journal: Path | None = None,
    ) -> ListenResult:
        """Play a recording, and return what the agent decided and heard. `played` is the agent's own sound during the
        recording. `tap` is called with everything that the ears (STT and VAD) report. With `journal`, the conversation
        is recorded at this path, with its ear journal next to it."""
        speaks = played is not None and played.size > 0
        agent = self.agent(played.size * 1000 // RATE_HZ if speaks and played is not None else 0)
        line = RecordingLine()
        conversation = Conversation(agent, line, journal=journal)
        notes = DecisionNotes(conversation, self.kinds)
        await conversation.start()
        await asyncio.sleep(LEAD_MS / 1000)
        notes.begin()
        if tap is not None:
            conversation.engine.taps.append(tap)
        after = np.zeros(AFTER_MS * RATE_HZ // 1000, np.float32)
        everything = np.concatenate((heard, after))
        reference = np.zeros_like(everything) if speaks else np.empty(0, np.float32)
        if speaks and played is not None:
            reference[: played.size] = played[: everything.size]
        await line.play_in(everything, reference)
        await conversation.end()
        for trouble in conversation.engine.failures:
            if trouble.where == "ears":
                raise trouble.failure  # else the result would look like silence
        duration_ms = heard.size * 1000 // RATE_HZ
        return ListenResult(duration_ms, tuple(notes.decisions), tuple(notes.words), levels_of(heard))

    def agent(self, speaks_ms: int) -> Agent:
        """The agent that listens. It speaks for `speaks_ms` at the start. Its answers are shown, not spoken."""
        settings = with_changes(self.settings, greets=bool(speaks_ms), dead_air_ms=0)
        return Agent(MuteBrain(LEAD_MS + speaks_ms), ears=self.ears, profile=settings, endpoint=self.endpoint)
