"""The audio of the current turn, and how models judge it when the user pauses.

The last seconds of a stream are stored here. Rule: `stream` decides what is judged, and when. The code here only reads
the audio and runs the model.
"""

from __future__ import annotations

from dataclasses import replace

from duologue.audio.frames import RingBuffer
from duologue.turns.features import DOUBT_MS, PauseFeatures
from duologue.turns.pitch import steady_pitch_ms
from duologue.turns.voicing import STRETCH_GAP_MS

from .model_input import RATE_HZ, Samples
from .silero import FRAME_SAMPLES
from .smart_turn import WINDOW_SAMPLES, SmartTurn
from .stream_state import JudgePause

LEAD_SAMPLES = RATE_HZ // 2  # the model also gets this much audio before the first speech
_PITCH_LEAD = 3 * FRAME_SAMPLES
_PITCH_SAMPLES = RATE_HZ


class TurnSound:
    """The newest audio of one stream. Parts of it are found by their position in the stream."""

    def __init__(self) -> None:
        self._ring = RingBuffer(WINDOW_SAMPLES + LEAD_SAMPLES)

    def add(self, samples: Samples) -> None:
        """Add the next frame."""
        self._ring.write(samples)

    def of(self, question: JudgePause) -> Samples:
        """The audio that a model needs to judge this pause."""
        first, end = question.first * FRAME_SAMPLES, question.end * FRAME_SAMPLES
        if question.is_doubt:
            spoken = (question.known.stretch_ms + DOUBT_MS + STRETCH_GAP_MS) * RATE_HZ // 1000
            return self._ring.read(first - _PITCH_LEAD, end)[-min(_PITCH_SAMPLES, spoken) :]
        return self._ring.read(first - LEAD_SAMPLES, end)


def answer(question: JudgePause, sound: Samples, model: SmartTurn | None) -> PauseFeatures:
    """Let a model judge a pause, and return everything that is known about the pause. This takes a tenth of a second,
    so call this function in a thread."""
    if question.is_doubt:
        return replace(question.known, pitched_ms=steady_pitch_ms(sound.tolist()))
    if model is None:
        return question.known
    judged = model.hear(sound)
    return replace(question.known, turn_logit=judged.logit, turn_embedding=judged.embedding)
