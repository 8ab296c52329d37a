"""How the current turn sounds, and what is known about the turn when the user pauses.

Stores the loudness and the last seconds of a turn's audio, and has the end-of-turn model judge them. Rule: a turn lasts
from its first speech until `forget` is called, across all pauses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from duologue.audio.frames import RingBuffer
from duologue.turns.features import DOUBT_MS, PauseFeatures, is_weak, shape_of
from duologue.turns.pitch import steady_pitch_ms
from duologue.turns.voicing import Voicing

from .model_input import RATE_HZ, Samples
from .silero import FRAME_MS, FRAME_SAMPLES
from .smart_turn import WINDOW_SAMPLES, SmartTurn

ASK_MS = 64  # the model runs after this much silence
LEAD_SAMPLES = RATE_HZ // 2  # the model also gets this much audio before the first speech
_PITCH_LEAD = 3 * FRAME_SAMPLES
_PITCH_SAMPLES = RATE_HZ


@dataclass(frozen=True, slots=True)
class PauseQuestion:
    """A pause, and the audio that a model needs to judge it."""

    known: PauseFeatures
    sound: Samples
    is_doubt: bool = False  # True: the question is whether the sound was speech; False: whether the turn is over


class TurnSound:
    """The sound of the current turn."""

    def __init__(self) -> None:
        self._voicing = Voicing(FRAME_MS)
        self._ring = RingBuffer(WINDOW_SAMPLES + LEAD_SAMPLES)
        self._first = 0

    def forget(self) -> None:
        """Forget the current turn, because it is over."""
        self._voicing.forget()

    @property
    def quiet_ms(self) -> int:
        """How long the current silence has lasted."""
        return self._voicing.silence_ms

    @property
    def is_voiced(self) -> bool:
        """Does the latest frame contain speech?"""
        return self._voicing.voiced

    def feed(self, samples: Samples, probability: float, level_db: float) -> PauseQuestion | None:
        """Add the next frame. Returns a question if a model should judge the pause now."""
        begun = self._voicing.begun
        self._voicing.update(probability, level_db)
        if self._voicing.begun and not begun:
            self._first = self._ring.end
        self._ring.write(samples)
        if not self._voicing.begun or self._voicing.voiced:
            return None
        if self._voicing.silence_ms == ASK_MS:
            known = self.known
            return PauseQuestion(
                replace(known, shape=shape_of(self._voicing.levels_db, FRAME_MS)), self._sound(LEAD_SAMPLES)
            )
        if self._voicing.silence_ms == DOUBT_MS and is_weak(known := self.known):
            return PauseQuestion(known, self._sound(_PITCH_LEAD)[-_PITCH_SAMPLES:], is_doubt=True)
        return None

    @property
    def known(self) -> PauseFeatures:
        """What is known about this turn's speech so far."""
        return PauseFeatures(self._voicing.voiced_ms, self._voicing.evidence)

    def _sound(self, lead: int) -> Samples:
        return self._ring.read(self._first - lead, self._ring.end)


def answer(question: PauseQuestion, model: SmartTurn | None) -> PauseFeatures:
    """What is known about the pause after a model has judged it. Takes a tenth of a second, so call it in a thread."""
    if question.is_doubt:
        return replace(question.known, pitched_ms=steady_pitch_ms(question.sound.tolist()))
    if model is None:
        return question.known
    judged = model.hear(question.sound)
    return replace(question.known, turn_logit=judged.logit, turn_embedding=judged.embedding)


def joined(before: PauseFeatures | None, now: PauseFeatures) -> PauseFeatures:
    """Merge two answers about the same pause: whether the sound was speech, and whether the turn is over."""
    if before is None:
        return now
    if now.pitched_ms is None:
        return replace(now, pitched_ms=before.pitched_ms)
    return replace(before, pitched_ms=now.pitched_ms)
