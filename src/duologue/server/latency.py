"""The latency of each stage of the newest answer, from the end of the user's speech to the first sound that was played.

Rule: latencies are computed from the machine's steps alone. A stage that didn't happen is None.
"""

from __future__ import annotations

from duologue.core.effects import StartPlayback, StartReply
from duologue.core.events import PlaybackProgressed, SpeechStopped, TextTyped, TokenArrived
from duologue.core.step_record import StepRecord

_NAMES = ("speechEndToText", "textToToken", "tokenToAudio", "audioToPlayed")


class LatencyStages:
    """Measures the four stages of each answer. `newest` holds the milliseconds of each stage of the newest answer."""

    def __init__(self) -> None:
        self._spoke_at: int | None = None
        self._asked_at: int | None = None
        self._token_at: int | None = None
        self._audio_at: int | None = None
        self.newest: dict[str, int | None] = dict.fromkeys(_NAMES)

    def follow(self, record: StepRecord) -> None:
        event = record.event
        if record.after is record.before:
            return
        kind = type(event)
        if kind is SpeechStopped or kind is TextTyped:
            self._spoke_at = event.at
        elif kind is TokenArrived and self._asked_at is not None and self._token_at is None:
            self._token_at = event.at
            self.newest["textToToken"] = event.at - self._asked_at
        elif kind is PlaybackProgressed and self._audio_at is not None:
            self.newest["audioToPlayed"] = event.at - self._audio_at
            self._audio_at = None
        for effect in record.effects:
            if type(effect) is StartReply:
                self._begin(event.at)
            elif type(effect) is StartPlayback:
                self._audio_at = event.at
                if self._token_at is not None:
                    self.newest["tokenToAudio"] = event.at - self._token_at

    def _begin(self, at: int) -> None:
        self.newest = dict.fromkeys(_NAMES)
        if self._spoke_at is not None:
            self.newest["speechEndToText"] = at - self._spoke_at
        self._asked_at, self._spoke_at, self._token_at, self._audio_at = at, None, None, None
