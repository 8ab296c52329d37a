"""The audio of the current turn, and how models judge it when the user pauses.

The last seconds of a stream are stored here. Rule: `stream` decides what is judged, and when. The code here only reads
the audio and runs the model.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import islice

from duologue.turns.features import DOUBT_MS, PauseFeatures
from duologue.turns.pitch import steady_pitch_ms
from duologue.turns.voicing import STRETCH_GAP_MS

from .model_input import RATE_HZ, Samples, np
from .silero import FRAME_SAMPLES
from .smart_turn import WINDOW_SAMPLES, SmartTurn
from .stream_state import JudgePause

LEAD_SAMPLES = RATE_HZ // 2  # the model also gets this much audio before the first speech
_PITCH_LEAD = 3 * FRAME_SAMPLES
_PITCH_SAMPLES = RATE_HZ
_SAMPLES_MAX = WINDOW_SAMPLES + LEAD_SAMPLES  # how much audio is kept
_FRAMES_MAX = -(-_SAMPLES_MAX // FRAME_SAMPLES)


class TurnSound:
    """The newest audio of one stream. Parts of it are found by their position in the stream."""

    def __init__(self) -> None:
        self._frames: deque[Samples] = deque(maxlen=_FRAMES_MAX)
        self._end = 0  # the position after the newest frame, in samples

    def add(self, samples: Samples) -> None:
        """Add the next frame. It isn't copied."""
        self._frames.append(samples)
        self._end += FRAME_SAMPLES

    def of(self, question: JudgePause) -> Samples:
        """The audio that a model needs to judge this pause."""
        first, end = question.first * FRAME_SAMPLES, question.end * FRAME_SAMPLES
        if question.is_doubt:
            spoken = (question.known.stretch_ms + DOUBT_MS + STRETCH_GAP_MS) * RATE_HZ // 1000
            return self._read(first - _PITCH_LEAD, end)[-min(_PITCH_SAMPLES, spoken) :]
        return self._read(first - LEAD_SAMPLES, end)

    def _read(self, start: int, end: int) -> Samples:
        """The samples from `start` up to, but not including, `end`. Samples that were dropped are missing from the
        result."""
        start, oldest = max(start, 0, self._end - _SAMPLES_MAX), self._end - len(self._frames) * FRAME_SAMPLES
        first = (start - oldest) // FRAME_SAMPLES
        taken = list(islice(self._frames, first, -(-(end - oldest) // FRAME_SAMPLES)))
        whole = np.concatenate(taken) if taken else np.empty(0, np.float32)
        begin = oldest + first * FRAME_SAMPLES
        return whole[start - begin : end - begin]


def answer(question: JudgePause, sound: Samples, model: SmartTurn | None) -> PauseFeatures:
    """Let a model judge a pause, and return everything that is known about the pause. This takes a tenth of a second,
    so call this function in a thread."""
    if question.is_doubt:
        return replace(question.known, pitched_ms=steady_pitch_ms(sound.tolist()))
    if model is None:
        return question.known
    judged = model.hear(sound)
    return replace(question.known, turn_logit=judged.logit, turn_embedding=judged.embedding)
