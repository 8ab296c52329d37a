"""Measures how long the caller of a finished call waited in silence.

The sound is what the line really played, with its times. Events and effects show whether the caller waited: a question
was complete, and neither an answer nor a report that the question was lost had come. Rule: nothing here uses the
machine's own notion of waiting, so that a mistake in that notion is found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import Link, Outcome, User, Voice
from duologue.core.step_record import StepRecord
from duologue.lines.scripted import LineAct, Sounded
from duologue.observe import signals as sg

FIRST_MS_MAX = 4_000  # to the first sign
WORDS_MS_MAX = 8_000  # to words: of the answer, or words that say what is going on
GAP_MS_MAX = 10_000  # between two signs


class WaitSpan(NamedTuple):
    start_ms: int
    end_ms: int


class Silence(NamedTuple):
    """The longest waits of one call, in ms: until the first sign of life, until the first words, and from one sign of
    life to the next."""

    first_ms: int = 0
    words_ms: int = 0
    gap_ms: int = 0

    def worst(self, other: Silence) -> Silence:
        return Silence(*map(max, self, other))


def measure(
    records: Iterable[StepRecord], sounded: Iterable[Sounded], acts: Iterable[LineAct], cues: Iterable[sg.CueGiven]
) -> Silence:
    """The longest silences while the caller waited and could have heard something."""
    sounds = sorted(sounded, key=lambda one: one.start_ms)
    wordless = {one.at for one in cues if not one.text}
    found = Silence()
    for wait in waits(records, acts):
        found = found.worst(_within(wait, sounds, wordless))
    return found


def _within(wait: WaitSpan, sounds: list[Sounded], wordless: set[int]) -> Silence:
    heard = [one for one in sounds if one.end_ms > wait.start_ms and one.start_ms < wait.end_ms]
    first = next((max(one.start_ms, wait.start_ms) for one in heard), wait.end_ms)
    worded = next((max(one.start_ms, wait.start_ms) for one in heard if not _is_plain(one, wordless)), wait.end_ms)
    gap_ms = 0
    begins = [*(one.start_ms for one in heard[1:]), wait.end_ms]
    for one, next_ms in zip(heard, begins, strict=False):
        gap_ms = max(gap_ms, min(next_ms, wait.end_ms) - max(one.end_ms, wait.start_ms))
    return Silence(first - wait.start_ms, worded - wait.start_ms, gap_ms)


def _is_plain(one: Sounded, wordless: set[int]) -> bool:
    """Is this a sound without words?"""
    return one.what == "cue" and one.start_ms in wordless


# -- When the caller waited


def waits(records: Iterable[StepRecord], acts: Iterable[LineAct]) -> Iterator[WaitSpan]:
    """Yield the spans of time in which the caller waited for something and could have heard it: the caller was quiet,
    and the line was connected."""
    since: int | None = None
    owed: set[int] = set()
    open_calls: set[int] = set()
    away = _away(acts)
    last_ms = 0
    for record in records:
        at = last_ms = record.event.at
        _follow(record, owed, open_calls)
        is_waiting = bool(owed or open_calls) and _could_hear(record)
        if is_waiting and since is None:
            since = at
        elif not is_waiting and since is not None:
            yield from _without(WaitSpan(since, at), away)
            since = None
    if since is not None:
        yield from _without(WaitSpan(since, last_ms), away)


def _follow(record: StepRecord, owed: set[int], open_calls: set[int]) -> None:
    """Update the two sets after this step: `owed` has the turns, and `open_calls` the tool calls, for which the caller
    waits."""
    before, after, event = record.before, record.after, record.event
    owed |= set(range(before.said + 1, after.said + 1))
    for effect in record.effects:
        match effect:
            case fx.RunCall():
                open_calls.add(effect.call)
            case fx.PostOutput() | fx.PostNews() if effect.outcome is not Outcome.STARTED:
                open_calls.discard(effect.call)
            case fx.PostOutput():
                open_calls.discard(effect.call)
            case fx.ReportLost():
                owed -= set(range(effect.first, effect.last + 1))
    heard = isinstance(event, ev.PlaybackFinished | ev.ReplyFinished | ev.InterruptRequested | ev.CancelRequested)
    if heard or any(isinstance(effect, fx.TruncateReply) and effect.heard_ms for effect in record.effects):
        owed -= set(range(1, after.answered + 1))
    if after.link in (Link.IDLE, Link.TERMINATING):
        owed.clear()
        open_calls.clear()


def _could_hear(record: StepRecord) -> bool:
    """Could the caller have heard something after this step? The caller must be quiet, the link must not be closed,
    paused or healing, and the agent's sound must not be held or stopped."""
    s = record.after
    is_there = s.link not in (Link.IDLE, Link.TERMINATING, Link.SUSPENDED, Link.HEALING)
    return s.user is User.QUIET and is_there and s.voice in (Voice.SILENT, Voice.PLAYING)


def _away(acts: Iterable[LineAct]) -> list[WaitSpan]:
    """The spans of time in which the line was disconnected."""
    spans: list[WaitSpan] = []
    since: int | None = 0
    for act in acts:
        if act.what == "away" and since is None:
            since = act.at_ms
        elif act.what == "open" and since is not None:
            spans.append(WaitSpan(since, act.at_ms))
            since = None
    return [*spans, WaitSpan(since, 1 << 60)] if since is not None else spans


def _without(wait: WaitSpan, away: list[WaitSpan]) -> Iterator[WaitSpan]:
    """The parts of a wait during which the line was connected. `away` has the spans in which it wasn't."""
    start = wait.start_ms
    for span in away:
        if span.end_ms <= start or span.start_ms >= wait.end_ms:
            continue
        if span.start_ms > start:
            yield WaitSpan(start, span.start_ms)
        start = span.end_ms
    if start < wait.end_ms:
        yield WaitSpan(start, wait.end_ms)
