"""Decides whether a better but slower model is fast enough to transcribe the final texts of conversations.

The decision uses measured times: how long the model took for how much audio, including the wait for a thread. Rule:
after one late answer, the model isn't used for utterances of that length. Each utterance that is transcribed without
the model makes it more likely that the model is tried again, because the computer may be less busy by then.
"""

from __future__ import annotations

from dataclasses import dataclass

LIMIT_MS = 300  # a final text that takes longer is late: turn-taking would wait for it
LENGTH_MS_MAX = 12_000  # longer utterances are transcribed in pieces, which the better model would have to do again
_SMOOTHING = 0.3
_FORGETTING = 0.95


@dataclass(frozen=True, slots=True)
class FinalPace:
    """What is known about the model's speed. `ms_per_s` is how many milliseconds the model takes for a second of audio;
    0 if this isn't known yet."""

    ms_per_s: float = 0.0

    @property
    def length_ms_max(self) -> int:
        """The length of the longest utterance for which the model is fast enough."""
        if self.ms_per_s <= 0:
            return LENGTH_MS_MAX
        return int(min(LENGTH_MS_MAX, 1000 * LIMIT_MS / self.ms_per_s))

    def ran(self, length_ms: int, took_ms: float) -> FinalPace:
        """The pace after the model took `took_ms` for an utterance of `length_ms`. If the model took too long, the
        greater of the new and the known value is kept. If it was fast enough, the known value moves towards the new
        one."""
        measured = 1000 * max(0.0, took_ms) / max(1, length_ms)
        if took_ms > LIMIT_MS or self.ms_per_s <= 0:
            return FinalPace(max(measured, self.ms_per_s))
        return FinalPace(self.ms_per_s + _SMOOTHING * (measured - self.ms_per_s))

    def skipped(self) -> FinalPace:
        """The pace after an utterance was transcribed without this model. The measured time is reduced a little, so
        that the model is tried again sooner."""
        return FinalPace(self.ms_per_s * _FORGETTING)
