"""The latency of each answer, from the end of the user's speech to the first sound that was played, in four stages.

The end of speech and the first sound are both reported a little late. So the real times are calculated from the
reports. A greeting or a check-in isn't measured, because it doesn't answer anything that the user said. If the brain
calls a tool first, the tool's time is part of the stage from the user's text to the brain's first token. Rule:
latencies are computed only from the steps of the state machine. A stage that didn't happen is None. The latency of an
answer is the sum of its stages, and the mean is taken over all answers.
"""

from __future__ import annotations

from duologue.core.effects import StartPlayback, StartReply
from duologue.core.events import (
    PlaybackFinished,
    PlaybackProgressed,
    PttReleased,
    SpeechStopped,
    TextTyped,
    TokenArrived,
)
from duologue.core.step_record import StepRecord

# Ears count silence in whole frames of 32 ms. On average, a voice ends in the middle of its last frame.
HALF_FRAME_MS = 16
_NAMES = ("speechEndToText", "textToToken", "tokenToAudio", "audioToPlayed")


class LatencyStages:
    """Measures the four stages of each answer. `newest` has the duration of each stage of the newest answer, in
    milliseconds. `mean_ms` is the mean latency of all answers; None until the first answer was heard."""

    def __init__(self) -> None:
        self._spoke_at: int | None = None
        self._asked_at: int | None = None
        self._token_at: int | None = None
        self._audio_at: int | None = None
        self._sum_ms = self._answers = 0
        self.newest: dict[str, int | None] = dict.fromkeys(_NAMES)

    @property
    def mean_ms(self) -> int | None:
        return round(self._sum_ms / self._answers) if self._answers else None

    def follow(self, record: StepRecord) -> None:
        event = record.event
        if record.after is record.before:
            return
        kind = type(event)
        if isinstance(event, SpeechStopped):
            self._spoke_at = event.at - event.quiet_ms - (HALF_FRAME_MS if event.quiet_ms else 0)
        elif kind is TextTyped or kind is PttReleased:
            self._spoke_at = event.at
        elif kind is TokenArrived and self._asked_at is not None and self._token_at is None:
            self._token_at = event.at
            self.newest["textToToken"] = event.at - self._asked_at
        elif isinstance(event, PlaybackProgressed | PlaybackFinished) and self._audio_at is not None:
            self._end(max(0, event.at - event.heard_ms - self._audio_at))
        for effect in record.effects:
            if type(effect) is StartReply:
                self._begin(event.at)
            elif type(effect) is StartPlayback and self._asked_at is not None:
                self._audio_at = event.at
                since = self._token_at if self._token_at is not None else self._asked_at
                self.newest["tokenToAudio"] = event.at - since

    def _begin(self, at: int) -> None:
        """Record that a request was sent to the brain. If the user has said nothing since the last request, no new
        measurement begins: the request is part of the answer that is being measured, if there is one."""
        self._token_at = self._audio_at = None
        if self._spoke_at is None:
            return
        self.newest = {**dict.fromkeys(_NAMES), "speechEndToText": at - self._spoke_at}
        self._asked_at, self._spoke_at = at, None

    def _end(self, ms: int) -> None:
        """End the measurement, because the first sound of the answer was played, `ms` milliseconds after its playback
        was started."""
        self.newest["audioToPlayed"] = ms
        self._sum_ms += sum(value or 0 for value in self.newest.values())
        self._answers += 1
        self._asked_at = self._audio_at = None
