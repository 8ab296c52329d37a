"""Measures how long the caller of a finished call waited in silence.

The sound is what the line really played, with its times. Words are samples that the voice has made. Whether the caller
waited follows from what the caller said and heard, and from what the services did for the agent. Rule: nothing here
reads the state, the events or the effects of the conversation machine, so that a mistake of the machine is found here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from duologue.lines.scripted import LineAct
from duologue.observe import signals as sg

from .audible_sounds import AudibleSound
from .caller_account import OPEN_MS, CallerAccount, TimeSpan, Uttered

FIRST_MS_MAX = 4_000  # to the first sign
WORDS_MS_MAX = 8_000  # to words: of the answer, or words that say what is going on
GAP_MS_MAX = 10_000  # between two signs
TALKED_ON_MS = 300  # an agent that speaks for this long after the caller's words has not yielded
DELIVERED_MS_MAX = 8_000  # ears report a text within this time after it was said
LOST_END_MS_MAX = 10_000  # after this long, the agent must have noticed that the ears missed the end of a sound
NOISE_MS_MAX = 600  # after the end of a sound without words, the agent must have noticed that it was noise
RETRY_MS_MAX = 4_000  # the longest pause before a service is tried again
TOLD_MS_MAX = 4_000  # from the signal that the caller is told something until its sound begins
VOICE_MS_MAX = 1_400  # a voice that has made no sound of a cue within this time has failed
# What the caller is told when no answer, or no more of it, will come.
FINAL_CUES = ("apology", "empty", "call_made", "broken_off", "ended")


class Silence(NamedTuple):
    """The longest silences of one call while the caller waited, in ms: until the first sign of life, until the first
    words, and from one sign of life to the next."""

    first_ms: int = 0
    words_ms: int = 0
    gap_ms: int = 0

    def worst(self, other: Silence) -> Silence:
        return Silence(*map(max, self, other))


@dataclass(frozen=True, slots=True)
class HeardCall:
    """What the caller could hear and see in one call: the sounds of the line, when it was connected, the cues with
    their texts, and the times at which an answer was shown instead of spoken."""

    sounded: Sequence[AudibleSound]
    connections: Sequence[LineAct]
    cues: Sequence[sg.CueGiven] = ()
    shown: Sequence[int] = field(default=())

    @property
    def voices(self) -> list[TimeSpan]:
        """One span for each voice (utterance of the agent), from its first sound to its last."""
        spans: dict[int, TimeSpan] = {}
        for one in self.sounded:
            if one.what == "voice" and one.is_speech:
                known = spans.get(one.number, TimeSpan(one.start_ms, one.end_ms))
                spans[one.number] = TimeSpan(min(known.start_ms, one.start_ms), max(known.end_ms, one.end_ms))
        return sorted(spans.values())

    def told(self, account: CallerAccount) -> list[int]:
        """The times at which the caller heard that no answer will come."""
        begins = [one.start_ms for one in self.sounded if one.what == "cue" and self.has_words(one, account)]
        given = [one.at for one in self.cues if one.cue in FINAL_CUES]
        return [start for at in given for start in begins if at <= start <= at + TOLD_MS_MAX]

    def has_words(self, sound: AudibleSound, account: CallerAccount) -> bool:
        """Did the caller hear words? If the voice failed to say the words of a cue, a sound stands in for them, because
        the screen shows them."""
        newest = max((one for one in self.cues if one.at <= sound.start_ms), key=lambda one: one.at, default=None)
        if sound.is_speech or newest is None or not newest.text:
            return sound.is_speech
        asked = [one for one in account.voiced if newest.at - 1 <= one.start_ms <= sound.start_ms < one.first_ms]
        has_failed = any(of == "voice" and newest.at <= at <= sound.start_ms for at, of in account.failed)
        return bool(asked) and (has_failed or asked[0].start_ms + VOICE_MS_MAX <= sound.start_ms)


def measure(account: CallerAccount, heard: HeardCall) -> Silence:
    """The longest silences while the caller waited and could have heard something. A sound without words that the
    caller makes doesn't end a silence: its own time is left out, and the silence goes on after it."""
    clock = _ClockWithoutNoise(account)
    sounds = sorted(
        _HeardSound(clock.at(one.start_ms), clock.at(one.end_ms), heard.has_words(one, account))
        for one in heard.sounded
    )
    found = Silence()
    for wait in waits(account, heard):
        found = found.worst(_within(TimeSpan(*map(clock.at, wait)), sounds))
    return found


def measure_from_voice(account: CallerAccount, heard: HeardCall) -> Silence:
    """The same, but every silence counts from the moment at which the caller fell silent, also if the ears lost the
    report of it."""
    return measure(replace(account, ends=[(one.end_ms, at) for at, one in enumerate(account.uttered, 1)]), heard)


class _HeardSound(NamedTuple):
    """A sound with its times on the clock without noise."""

    start_ms: int
    end_ms: int
    has_words: bool


class _ClockWithoutNoise:
    """A clock that stands still while the caller makes a sound without words, and until the agent must have noticed
    that the sound was noise."""

    def __init__(self, account: CallerAccount) -> None:
        self.noises: list[TimeSpan] = []
        for one in sorted(account.uttered):
            if one.text or one.end_ms == OPEN_MS:
                continue
            span = TimeSpan(one.start_ms, _known_end_of(one, account) + NOISE_MS_MAX)
            if self.noises and span.start_ms <= self.noises[-1].end_ms:
                before = self.noises.pop()
                span = TimeSpan(before.start_ms, max(before.end_ms, span.end_ms))
            self.noises.append(span)

    def at(self, ms: int) -> int:
        return ms - sum(max(0, min(ms, noise.end_ms) - noise.start_ms) for noise in self.noises)


def _within(wait: TimeSpan, sounds: list[_HeardSound]) -> Silence:
    heard = [one for one in sounds if one.end_ms > wait.start_ms and one.start_ms < wait.end_ms]
    first = next((max(one.start_ms, wait.start_ms) for one in heard), wait.end_ms)
    worded = next((max(one.start_ms, wait.start_ms) for one in heard if one.has_words), wait.end_ms)
    gap_ms = 0
    begins = [*(one.start_ms for one in heard[1:]), wait.end_ms]
    for one, next_ms in zip(heard, begins, strict=False):
        gap_ms = max(gap_ms, min(next_ms, wait.end_ms) - max(one.end_ms, wait.start_ms))
    return Silence(first - wait.start_ms, worded - wait.start_ms, gap_ms)


# -- What the caller waited for


def questions(account: CallerAccount, heard: HeardCall) -> list[int]:
    """The times at which the caller began to wait for something: the end of each utterance that expects an answer, each
    typed message, and the end of each tool that the conversation waited for, because the caller must hear the
    result."""
    said = [one.end_ms for one in account.uttered if _is_question(one, account, heard.voices)]
    results = [
        one.end_ms
        for one in account.worked
        if one.service == "tool" and one.is_awaited and one.end_ms < OPEN_MS and not _gave_up(account, one.end_ms)
    ]
    return sorted([*said, *account.typed, *results])


def _is_question(one: Uttered, account: CallerAccount, voices: list[TimeSpan]) -> bool:
    """Does the caller wait for an answer to this utterance? No, if it had no words, if its words never reached the
    agent, or if the agent went on speaking after it."""
    if not one.text or not one.expects_answer or one.end_ms == OPEN_MS:
        return False
    words = set(one.text.split())
    failures = [at for at, of in account.failed if of == "ears" and at >= one.start_ms]  # nothing of it comes after one
    latest = min([*failures, one.end_ms + DELIVERED_MS_MAX])
    is_delivered = any(one.start_ms <= at <= latest and words & set(text.split()) for at, text in account.delivered)
    talked_on = any(voice.has(one.end_ms) and voice.end_ms > one.end_ms + TALKED_ON_MS for voice in voices)
    return is_delivered and not talked_on


def _known_end_of(one: Uttered, account: CallerAccount) -> int:
    """The time from which the silence after this utterance counts. Normally this is the end of the utterance. But if
    the ears lost the report of this end, the agent couldn't know it. Then the silence counts from the first other
    report that shows the end: the text of this utterance, the end or the text of a later one, or a failure of the ears.
    If there is no such report, it counts from LOST_END_MS_MAX after the end."""
    if one.end_ms == OPEN_MS:
        return OPEN_MS
    number = account.uttered.index(one) + 1
    reports = [at for at, of in account.ends if of >= number and at >= one.end_ms]
    failures = [max(at, one.end_ms) for at, of in account.failed if of == "ears" and at >= one.start_ms]
    return min([*reports, *failures, one.end_ms + LOST_END_MS_MAX])


def _gave_up(account: CallerAccount, at_ms: int) -> bool:
    return any(at - 50 <= at_ms <= at + 1_000 for at in account.gave_up)


def answers(account: CallerAccount, heard: HeardCall) -> list[TimeSpan]:
    """The spans of everything that ends a wait: an answer that was spoken or shown, words that tell the caller that
    there is no answer, and a command by which the caller gives up the answer. Each of them ends the wait for everything
    that was asked before it began."""
    moments = [*heard.shown, *heard.told(account), *account.gave_up]
    return sorted([*heard.voices, *(TimeSpan(at, at) for at in moments)])


def waits(account: CallerAccount, heard: HeardCall) -> Iterator[TimeSpan]:
    """Yield the spans of time in which the caller waited for something and could have heard it: the caller was quiet,
    and the line was connected."""
    asked = [_wait_for(at, answers(account, heard)) for at in questions(account, heard)]
    given = [answer.start_ms for answer in answers(account, heard)]
    busy = _joined((TimeSpan(one.start_ms, one.end_ms) for one in account.worked if one.is_awaited), given)
    deaf = [
        *(TimeSpan(one.start_ms, _known_end_of(one, account)) for one in account.uttered if one.text),
        *account.pauses,
        *account.wobbles,
        *_away(heard.connections),
        *(TimeSpan(at, OPEN_MS) for at in account.hung_up[:1]),
    ]
    edges = sorted({edge for span in (*asked, *busy, *deaf) for edge in span if edge < OPEN_MS})
    since: int | None = None
    for edge, after in zip(edges, [*edges[1:], OPEN_MS], strict=True):
        is_waiting = any(span.has(edge) for span in (*asked, *busy)) and not any(span.has(edge) for span in deaf)
        if is_waiting and since is None:
            since = edge
        if since is not None and (not is_waiting or after == OPEN_MS):
            yield TimeSpan(since, edge)
            since = None


def _joined(spans: Iterable[TimeSpan], given: Sequence[int]) -> list[TimeSpan]:
    """The spans in which services worked, with the pauses between two attempts of a service included, because the
    caller waits meanwhile. A pause isn't included if the caller got an answer (at one of the times `given`) after the
    first attempt had begun."""
    found: list[TimeSpan] = []
    for span in sorted(spans):
        if found and span.start_ms <= found[-1].end_ms + RETRY_MS_MAX:
            before = found[-1]
            if not any(before.start_ms <= at <= span.start_ms for at in given):
                found.pop()
                span = TimeSpan(before.start_ms, max(before.end_ms, span.end_ms))
        found.append(span)
    return found


def _wait_for(asked_ms: int, given: list[TimeSpan]) -> TimeSpan:
    """The wait from a question to the end of the first answer that began after the question."""
    return TimeSpan(asked_ms, next((answer.end_ms for answer in given if answer.start_ms >= asked_ms), OPEN_MS))


def _away(acts: Iterable[LineAct]) -> list[TimeSpan]:
    """The spans of time in which the line was disconnected."""
    spans: list[TimeSpan] = []
    since: int | None = 0
    for act in acts:
        if act.what == "away" and since is None:
            since = act.at_ms
        elif act.what == "open" and since is not None:
            spans.append(TimeSpan(since, act.at_ms))
            since = None
    return [*spans, TimeSpan(since, OPEN_MS)] if since is not None else spans
