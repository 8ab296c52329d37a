"""How the turn that is being said sounds: what is known when it pauses.

Keeps the levels and the last seconds of a turn, and asks the end-of-turn model about them. Rule: a turn lasts from its
first voice to `forget`, over all pauses in it; what lay before it is none of its sound.
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

ASK_MS = 64  # of silence, before the model is asked
LEAD_SAMPLES = RATE_HZ // 2  # of what lies before the first voice: the model wants to hear where it begins
_PITCH_LEAD = 3 * FRAME_SAMPLES
_PITCH_SAMPLES = RATE_HZ


@dataclass(frozen=True, slots=True)
class PauseQuestion:
    """A pause, and the sound that a model needs to say more about it."""

    known: PauseFeatures
    sound: Samples
    is_doubt: bool = False  # was that a voice at all?


class TurnSound:
    """One turn at a time."""

    def __init__(self) -> None:
        self._voicing = Voicing(FRAME_MS)
        self._ring = RingBuffer(WINDOW_SAMPLES + LEAD_SAMPLES)
        self._first = 0

    def forget(self) -> None:
        """The turn is over."""
        self._voicing.forget()

    @property
    def quiet_ms(self) -> int:
        return self._voicing.silence_ms

    @property
    def is_voiced(self) -> bool:
        return self._voicing.voiced

    def feed(self, samples: Samples, probability: float, level_db: float) -> PauseQuestion | None:
        """The next frame, and what is to be asked now."""
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
        """What the voice of this turn has shown so far."""
        return PauseFeatures(self._voicing.voiced_ms, self._voicing.evidence)

    def _sound(self, lead: int) -> Samples:
        return self._ring.read(self._first - lead, self._ring.end)


def answer(question: PauseQuestion, model: SmartTurn | None) -> PauseFeatures:
    """What is known after asking. Takes a tenth of a second, so it is for a thread."""
    if question.is_doubt:
        return replace(question.known, pitched_ms=steady_pitch_ms(question.sound.tolist()))
    if model is None:
        return question.known
    judged = model.hear(question.sound)
    return replace(question.known, turn_logit=judged.logit, turn_embedding=judged.embedding)


def joined(before: PauseFeatures | None, now: PauseFeatures) -> PauseFeatures:
    """Two answers about the same pause."""
    if before is None:
        return now
    if now.pitched_ms is None:
        return replace(now, pitched_ms=before.pitched_ms)
    return replace(before, pitched_ms=now.pitched_ms)
