"""Works out what another policy would have decided in the pauses and overlaps of a recorded call.

What the ears reported and what the agent did is taken from the recorded call. Only the hearing machine, which decides
about turns, runs again. Rule: nothing is claimed about what the user would have done. A pause counts as the end of a
turn only if the agent was heard in it, or nothing came after it. If the user went on before the agent was heard, the
turn wasn't over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from duologue.core import events as ev
from duologue.core.effects import ResumePlayback, StartPlayback, StopPlayback
from duologue.core.leaves import ACTIVE, AWAY, SOUNDING
from duologue.core.step_record import StepRecord
from duologue.hearing.inputs import CoreStepped, Input, Typed, Woke
from duologue.hearing.intents import Intent, JudgeOverlap
from duologue.hearing.machine import step
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.state import DEAF, HearingState, initial_hearing, is_settling, newest_of, next_due
from duologue.hearing.words import SaidWords
from duologue.replay.ears_file import EarsJournal
from duologue.replay.journal import Journal

from .other_end import OtherEnd

REACTION_MS = 200  # a voice that begins this soon after the agent's first sound isn't a reaction to it
WAKES_MAX = 10
_BY_HAND = (ev.SendPressed, ev.TextTyped, ev.PttPressed, ev.InterruptRequested)
_LOST = (*AWAY, *DEAF)


class DecidedPause(NamedTuple):
    """A pause of the user, and when a policy ends the turn in this pause."""

    turn: int
    silent_at: int  # when the voice fell silent
    resumed_at: int | None  # when the user spoke again; None: not any more
    answered_at: int | None  # when the recorded agent's sound began; None: it wasn't heard in this pause
    is_end: bool  # the agent was heard in it, or nothing came after it
    ended_at: int | None  # when the policy ends the turn; None: not before the pause was over

    @property
    def is_cut_in(self) -> bool:
        """Does the policy end the turn although the user goes on before the agent is heard?"""
        return not self.is_end and self.ended_at is not None

    @property
    def wait_ms(self) -> int | None:
        """How many milliseconds the user waits until the policy ends the turn. None if the user wasn't finished in this
        pause, or if the policy doesn't end the turn in it."""
        return self.ended_at - self.silent_at if self.is_end and self.ended_at is not None else None

    @property
    def is_unknown(self) -> bool:
        """Is the wait unknown? Yes, if the user was finished, but spoke again, acted or hung up before this policy
        ended the turn. What the user would have done without the recorded answer isn't known."""
        return self.is_end and self.ended_at is None

    @property
    def is_assumed(self) -> bool:
        """Does the policy end the turn only after the user has heard the recorded answer? The measured wait then rests
        on an assumption: that the user would have stayed silent without the answer, too."""
        return self.wait_ms is not None and self.answered_at is not None and (self.ended_at or 0) > self.answered_at


class DecidedOverlap(NamedTuple):
    """A sound over the agent's speech, and the policy's verdict."""

    serial: int
    began_at: int
    judged_at: int | None = None
    bid: bool | None = None  # None: undecided while the agent was speaking
    stopped_at: int | None = None  # when the recorded agent was stopped

    @property
    def is_unknown(self) -> bool:
        """Was the recorded agent stopped before the policy decided? If so, it isn't known what the policy would have
        decided."""
        return self.bid is None and self.stopped_at is not None


class DecidedCall(NamedTuple):
    """Everything that a policy decides in one recorded call."""

    pauses: tuple[DecidedPause, ...]
    overlaps: tuple[DecidedOverlap, ...]


def decide(journal: Journal, records: tuple[StepRecord, ...], ears: EarsJournal, policy: HearingPolicy) -> DecidedCall:
    """What this policy would have decided in a recorded call."""
    pauses, overlaps = _Pauses(policy), _Overlaps()
    s = initial_hearing(journal.first, ears.words)
    at = 0
    for i in _inputs(records, ears):
        s = _pass_time(policy, s, i.at, overlaps)
        before = s
        s, intents = step(policy, s, i)
        pauses.note(before, s, i)
        pauses.words = s.words
        overlaps.note(s, i, intents)
        at = i.at
    pauses.close(at, None)
    return DecidedCall(tuple(pauses.found), tuple(overlaps.found.values()))


def _inputs(records: tuple[StepRecord, ...], ears: EarsJournal) -> Iterator[Input]:
    """Every input of the hearing machine, in the order of the recorded call."""
    left = list(reversed(ears.entries))
    for count, record in enumerate(records):
        while left and left[-1].events <= count:
            yield left.pop().input
        if record.after is not record.before:
            yield CoreStepped(record.event.at, record)
    for entry in reversed(left):
        yield entry.input


def _pass_time(policy: HearingPolicy, s: HearingState, at: int, overlaps: _Overlaps) -> HearingState:
    """Wake the hearing machine at each of its due times before `at`. The wake-ups in the recorded call can't be used,
    because they belong to the recorded policy."""
    for _ in range(WAKES_MAX):
        due = next_due(policy, s)
        if due is None or due >= at:
            break
        woke = Woke(due)
        s, intents = step(policy, s, woke)
        overlaps.note(s, woke, intents)
    return s


class _Pauses:
    """Finds the pauses of the recorded call, and what the policy decides in each."""

    def __init__(self, policy: HearingPolicy) -> None:
        self.found: list[DecidedPause] = []
        self.words = SaidWords()  # as known before the newest input
        self._policy = policy
        self._other: OtherEnd | None = None  # None: no pause is open
        self._turn = self._serial = self._silent_at = 0
        self._answered_at: int | None = None

    def note(self, before: HearingState, s: HearingState, i: Input) -> None:
        if self._other is not None:
            self._go_on(self._other, before, s, i)
        if self._other is None and is_settling(s) and s.newest != self._serial and s.core.voice not in SOUNDING:
            self._turn, self._serial, self._silent_at = s.core.turn, s.newest, s.ended_at
            self._answered_at = None
            self._other = OtherEnd(self._policy, s)

    def _go_on(self, other: OtherEnd, before: HearingState, s: HearingState, i: Input) -> None:
        if s.newest != self._serial or (s.speaking and not before.speaking):
            self.close(s.began_at, s.began_at)
        elif isinstance(i, Typed) or s.button or s.core.link not in ACTIVE:
            self.close(i.at, None)
        elif isinstance(i, CoreStepped) and s.core.link in _LOST:
            self._other = None  # what was said meanwhile isn't known
        elif isinstance(i, CoreStepped):
            if isinstance(i.record.event, _BY_HAND):
                self.close(i.at, None)
            elif self._answered_at is None and _sounds(i.record):
                self._answered_at = i.at
        if self._other is not None:
            other.take(i)

    def close(self, at: int, resumed_at: int | None) -> None:
        """Close the pause at this time. `resumed_at` is the time at which the user spoke again; None if the user
        didn't."""
        if self._other is None:
            return
        other, self._other = self._other, None
        if not self.words.text_of(self._turn):
            return  # a sound without words isn't a turn
        other.pass_time(at)
        answered_at = self._answered_at
        if resumed_at is not None and answered_at is not None and resumed_at < answered_at + REACTION_MS:
            answered_at = None
        is_end = answered_at is not None or resumed_at is None
        self.found.append(
            DecidedPause(self._turn, self._silent_at, resumed_at, answered_at, is_end, other.ended_at)
        )  # fmt: skip


def _sounds(record: StepRecord) -> bool:
    return any(type(effect) in (StartPlayback, ResumePlayback) for effect in record.effects)


class _Overlaps:
    """Finds the sounds over the agent's speech, and the policy's verdict about each."""

    def __init__(self) -> None:
        self.found: dict[int, DecidedOverlap] = {}

    def note(self, s: HearingState, i: Input, intents: tuple[Intent, ...]) -> None:
        newest = newest_of(s)
        is_over = newest is not None and s.core.voice in SOUNDING and newest.turn > s.core.floor_turn
        if newest is not None and is_over and s.speaking:
            self.found.setdefault(newest.serial, DecidedOverlap(newest.serial, s.began_at))
        for intent in intents:
            if isinstance(intent, JudgeOverlap):
                self._judge(s, i.at, intent)
        if isinstance(i, CoreStepped) and any(type(effect) is StopPlayback for effect in i.record.effects):
            for serial, known in self.found.items():
                if known.stopped_at is None and (newest is None or serial == newest.serial):
                    self.found[serial] = known._replace(stopped_at=i.at)

    def _judge(self, s: HearingState, at: int, intent: JudgeOverlap) -> None:
        """Note a verdict about a sound. One verdict that the sound is a bid (an attempt to take the turn) is enough for
        an interruption."""
        serial = next((one.serial for one in reversed(s.known) if one.onset == intent.onset), s.newest)
        known = self.found.get(serial)
        if known is not None and known.bid is not True and (intent.bid or known.bid is None):
            self.found[serial] = known._replace(judged_at=at, bid=intent.bid)
