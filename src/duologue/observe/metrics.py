"""The metrics of one conversation: waits, interruptions, tool calls, errors.

The metrics are computed only from the steps, so a running conversation and its journal give the same numbers. Rule: an
event that the conversation machine ignored isn't counted. A rate without data is None, never 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from duologue.core.effects import (
    CancelReply,
    Effect,
    GuessReply,
    PostNews,
    PostOutput,
    RecordOverheard,
    ReportLost,
    RunCall,
    ShowFault,
    StartPlayback,
    StartReply,
)
from duologue.core.leaves import CLOSED, EARLY, ENDING, SOUNDING, Ask, Outcome, Words
from duologue.core.step_record import StepRecord

from .answer_wait import AnswerWait

_FAILURES = (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.REFUSED)


class Metrics(NamedTuple):
    """The metrics of one conversation. The time to the first token is the mean over all answers that had a token. The
    time to the first audio is the mean over all answers that had audio. Both times count from the first request for an
    answer, so retries are included. What the agent says on its own initiative isn't an answer."""

    first_token_ms: int | None = None
    first_audio_ms: int | None = None
    turns: int = 0  # complete turns of the person with words
    requests: int = 0
    sounds: int = 0  # replies that began to play
    interrupted: int = 0  # replies that the person or the program interrupted
    calls: int = 0  # made by the brain, including refused ones
    calls_done: int = 0
    calls_failed: int = 0  # failed, timed out or refused; a cancelled call is neither done nor failed
    errors: int = 0  # faults shown to the person
    check_ins: int = 0
    turns_lost: int = 0  # reported to the person as unanswered
    overheard: int = 0  # turns that were recorded but not answered
    switches: int = 0  # to another service, because one failed, was slow or is healthy again
    early: int = 0  # requests that were sent before the turn was certain to be over
    early_used: int = 0  # those that were answers: the turn ended with the same words
    early_dropped: int = 0
    early_ms: int = 0  # by how much the used ones were sent early, in total

    @property
    def interruption_rate(self) -> float | None:
        return _rate(self.interrupted, self.sounds)

    @property
    def call_success_rate(self) -> float | None:
        return _rate(self.calls_done, self.calls_done + self.calls_failed)

    def to_json(self) -> dict[str, Any]:
        return {
            **self._asdict(),
            "interruption_rate": self.interruption_rate,
            "call_success_rate": self.call_success_rate,
        }


class Meter:
    """Computes the metrics from step records. Don't pass steps that the conversation machine ignored."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(Metrics._fields[2:], 0)
        self._wait = AnswerWait()
        self._token_ms = _Mean()
        self._audio_ms = _Mean()
        self._early = (0, 0)  # the newest early request: its reply and its time
        self._said: list[int] = []  # turns that wait for an answer; not every turn id has words

    def add(self, record: StepRecord) -> None:
        """Count one step that changed something."""
        before, after = record.before, record.after
        if after.said > before.said and after.link not in CLOSED:  # closing increases `said` without words
            self._said.append(after.said)
            self._count("turns")
        self._count("interrupted", before.voice in SOUNDING and after.voice in ENDING)
        # A check-in is counted when the machine decides on it, so that a retried check-in counts once.
        self._count("check_ins", after.check_ins > before.check_ins and after.ask is Ask.CHECK_IN)
        waited = self._wait.follow(record)
        if waited.token_ms is not None:
            self._token_ms.add(waited.token_ms)
        if waited.audio_ms is not None:
            self._audio_ms.add(waited.audio_ms)
        for effect in record.effects:
            self._add_effect(effect, record)
        if after.answered > before.answered:
            self._said = [turn for turn in self._said if turn > after.answered]

    def note_switch(self) -> None:
        """Count a switch from one service to another."""
        self._count("switches")

    def dump(self) -> dict[str, Any]:
        """All counts so far, as JSON values."""
        return {
            "counts": dict(self._counts),
            "token_ms": self._token_ms.dump(),
            "audio_ms": self._audio_ms.dump(),
            "said": list(self._said),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Continue with the counts that `dump` returned. If a count is missing because an earlier version of Duologue
        wrote the data, it is 0. Raises KeyError, TypeError or ValueError for invalid data."""
        counts = {name: _whole(data["counts"].get(name, 0)) for name in self._counts}
        token_ms, audio_ms = _Mean.load(data["token_ms"]), _Mean.load(data["audio_ms"])
        said = [_whole(turn) for turn in data["said"]]
        self._counts, self._token_ms, self._audio_ms, self._said = counts, token_ms, audio_ms, said

    @property
    def interrupted(self) -> int:
        """How many replies were interrupted so far."""
        return self._counts["interrupted"]

    def metrics(self) -> Metrics:
        return Metrics(self._token_ms.value, self._audio_ms.value, **self._counts)

    def _add_effect(self, effect: Effect, record: StepRecord) -> None:
        match effect:
            case GuessReply():
                self._early = (effect.reply, record.event.at)
                self._count("early")
            case CancelReply() if effect.reply == self._early[0] and record.before.reply in EARLY:
                self._count("early_dropped")
            case StartReply():
                self._count("requests")
                if effect.reply == self._early[0]:
                    self._count("early_used")
                    self._count("early_ms", record.event.at - self._early[1])
            case StartPlayback():
                self._count("sounds")
            case RunCall():
                self._count("calls")
            case PostOutput() | PostNews():
                self._count("calls", effect.outcome is Outcome.REFUSED)  # a refused call has no RunCall
                self._count("calls_done", effect.outcome is Outcome.DONE)
                self._count("calls_failed", effect.outcome in _FAILURES)
            case ShowFault():
                self._count("errors")
            case RecordOverheard():
                self._count("overheard")
            case ReportLost():
                self._count("turns_lost", self._lost(effect, record))

    def _lost(self, effect: ReportLost, record: StepRecord) -> int:
        """How many turns of the person this effect reports as lost. Only turns with words count. The person needn't
        have finished such a turn."""
        s = record.before
        unfinished = s.turn if s.words is not Words.NONE and s.turn not in self._said else 0
        return sum(effect.first <= turn <= effect.last for turn in (*self._said, unfinished) if turn)

    def _count(self, name: str, by: int = 1) -> None:
        self._counts[name] += by


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"a count must be a whole number, not {value!r}")
    return value


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class _Mean:
    """Computes a mean from a count and a sum, without storing the single values."""

    def __init__(self, sum_ms: int = 0, count: int = 0) -> None:
        self._sum, self._count = sum_ms, count

    def dump(self) -> list[int]:
        return [self._sum, self._count]

    @classmethod
    def load(cls, data: list[int]) -> _Mean:
        sum_ms, count = data
        return cls(_whole(sum_ms), _whole(count))

    def add(self, ms: int) -> None:
        self._sum += ms
        self._count += 1

    @property
    def value(self) -> int | None:
        return round(self._sum / self._count) if self._count else None
