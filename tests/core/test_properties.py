"""Properties of every conversation, tested with random events: new, late and repeated.

An example is a seed and a length: the seed says what happens, looked up against the current state so
that ids are current or stale on purpose; a failure is shrunk to the shortest conversation that shows
it. The same examples are drawn in every run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.codec import digest, event_from_json, event_to_json, restore, snapshot
from duologue.core.leaves import TIMER_INDEX, ErrorClass, FaultSource, JobKind, Link, Outcome, Timer
from duologue.core.machine import MACHINE, step
from duologue.core.settings import PROFILES, Settings, profile
from duologue.core.state import UNFROZEN, State, armed, initial, is_at_rest, next_deadline
from duologue.core.views import VIEWS
from duologue.lab.check.core.laws import CheckedStep, check_state, check_step

STEPS_TO_REST_MAX = 120
TRIES_MAX = 20  # to find something that matters here

# How often each kind is tried; what is not listed here, twice.
OFTEN: dict[type[ev.Event], int] = {
    ev.EndRequested: 1,
    ev.SuspendRequested: 1,
    ev.LinkClosed: 1,
    ev.LinkWobbled: 1,
    ev.ReconnectRequested: 1,
    ev.ServiceFailed: 1,
    ev.SessionFailed: 1,
    ev.PlaybackFailed: 1,
    ev.SpeechStarted: 8,
    ev.SpeechStopped: 8,
    ev.WordsHeard: 12,
    ev.TurnEnded: 8,
    ev.ReplyAccepted: 4,
    ev.TokenArrived: 4,
    ev.AudioBuffered: 8,
    ev.PlaybackProgressed: 4,
    ev.PlaybackFinished: 4,
    ev.PlaybackStopped: 6,
    ev.OverlapJudged: 6,
    ev.ToolCalled: 6,
    ev.SessionReady: 20,
    ev.TimerFired: 0,  # deadlines fire when they are due
}
KINDS = tuple(kind for kind in ev.EVENTS for _ in range(OFTEN.get(kind, 2)))
CANCELS = (ev.InterruptRequested, ev.CancelRequested, ev.TurnTaken)  # by these, an answer is given up or taken

EXAMPLES = "DUOLOGUE_TEST_EXAMPLES"  # an environment variable: how many examples of each property
MANY = 1_000
few = examples(max_examples=int(os.environ.get(EXAMPLES, "100")), deadline=None, derandomize=True, database=None)
SETTINGS = st.sampled_from(tuple(profile(name, jobs_max=2) for name in PROFILES))
SEEDS = st.integers(0, 2**32 - 1)
LENGTHS = st.integers(0, 60)


def make(kind: type[ev.Event], rng: Random, s: State, at: int, seq: int) -> ev.Event:
    """An event of this kind with current ids, or with slightly old ones."""
    late = rng.choice((0, 0, 0, 0, 0, 0, 0, 1, 2))
    jobs = [job.call for job in s.jobs] or [s.call_id]
    words = rng.randint(0, 3)
    values: dict[str, Any] = {
        "at": at,
        "seq": max(0, seq - 3 * late),
        "session": max(0, s.session_id - late),
        "reply": max(0, s.reply_id - late),
        "voice": max(0, s.voice_id - late),
        "turn": max(1, s.turn - late),
        "onset": max(0, s.onset - late),
        "played": max(0, s.voice_id + 1 - late),
        "call": max(0, s.call_id + 1 - late) if kind is ev.ToolCalled else rng.choice(jobs),
        "error": rng.choice(tuple(ErrorClass)),
        "part": rng.choice(tuple(FaultSource)),
        "bid": rng.random() < 0.5,
        "cancellable": rng.random() < 0.5,
        "heard_ms": s.heard_ms + rng.choice((0, 40, 200)),
        "words": words,
        "substantial": rng.randint(0, words),
        "final": rng.random() < 0.5,
        "session_active": rng.random() < 0.8,
        "audio_primed": rng.random() < 0.8,
    }
    names = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in names})


class Play:
    """A random conversation, determined by its seed."""

    def __init__(self, settings: Settings, seed: int, without: tuple[type[ev.Event], ...] = ()) -> None:
        self.kinds = tuple(kind for kind in KINDS if kind not in without)
        self.rng = Random(seed)
        self.state = initial(settings)
        self.at = 0
        self.seq = 1
        self.steps: list[CheckedStep] = []
        self.give(ev.StartRequested(0, 1))
        self.give(ev.SessionReady(0, 1))

    def give(self, event: ev.Event) -> CheckedStep:
        before = self.state
        self.state, effects = step(before, event)
        self.at = max(self.at, event.at)
        self.steps.append(CheckedStep(before, event, self.state, effects))
        return self.steps[-1]

    def fire(self) -> CheckedStep:
        """The next deadline."""
        deadline = next_deadline(self.state)
        assert deadline is not None, "nothing will ever happen any more"
        return self.give(ev.TimerFired(max(self.at, deadline.due), deadline.timer, deadline.due, deadline.call))

    def go_on(self) -> CheckedStep:
        """Time passes, but not beyond the next deadline; then a deadline fires, or a repeated or new event comes."""
        deadline = next_deadline(self.state)
        later = self.at + self.rng.choice((0, 0, 1, 20, 400, 3_000))
        self.at = max(self.at, min(later, deadline.due)) if deadline else later
        self.seq += 1
        way = self.rng.random()
        if way < 0.05:
            return self.give(replace(self.rng.choice(self.steps).event, at=self.at))
        if way < 0.25 and deadline:
            return self.fire()
        kinds = self.kinds if self.state.turn else tuple(kind for kind in self.kinds if kind is not ev.WordsHeard)
        for _ in range(TRIES_MAX):
            event = make(self.rng.choice(kinds), self.rng, self.state, self.at, self.seq)
            if MACHINE.accepts(self.state, event):
                break
        return self.give(event)


def played(settings: Settings, seed: int, length: int) -> Iterator[tuple[Play, CheckedStep]]:
    """The conversation after each event."""
    play = Play(settings, seed)
    for _ in range(length):
        yield play, play.go_on()


def play_out(settings: Settings, seed: int, length: int, without: tuple[type[ev.Event], ...] = ()) -> Play:
    play = Play(settings, seed, without)
    for _ in range(length):
        play.go_on()
    return play


def come_to_rest(play: Play, answers: list[bool]) -> None:
    """Let time pass and answer for the session until nothing is armed."""
    left = list(answers)
    for _ in range(STEPS_TO_REST_MAX):
        s = play.state
        if s.link is Link.IDLE or (s.link is Link.UP and is_at_rest(s)):
            return
        if s.link in (Link.PREPARING, Link.RECONNECTING) and left:
            ready = left.pop()
            failed = ev.SessionFailed(play.at, s.session_id, ErrorClass.SERVER_ERROR)
            play.give(ev.SessionReady(play.at, s.session_id) if ready else failed)
        else:
            play.fire()
    raise AssertionError(f"no rest after {STEPS_TO_REST_MAX} steps")


# -- Safety


@pytest.mark.req("C-GUD-004", "L-20")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_no_sequence_of_events_raises_or_breaks_a_law(settings: Settings, seed: int, length: int) -> None:
    for _, done in played(settings, seed, length):
        assert list(check_state(done.after)) == []
        if done.after is not done.before:
            assert list(check_step(done)) == []


@pytest.mark.req("C-INT-005")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_what_is_answered_was_asked_was_said_was_begun(settings: Settings, seed: int, length: int) -> None:
    for _, done in played(settings, seed, length):
        s = done.after
        assert 0 <= s.answered <= s.asked <= s.said <= s.turn
        assert s.answered >= done.before.answered
        assert s.turn >= done.before.turn


@pytest.mark.req("C-GUD-004")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_an_event_that_was_applied_does_nothing_the_second_time(settings: Settings, seed: int, length: int) -> None:
    for _, done in played(settings, seed, length):
        if done.after is not done.before:
            again, effects = step(done.after, done.event)
            assert again is done.after
            assert effects == ()


@pytest.mark.req("C-GUD-004")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_an_event_about_the_past_does_nothing(settings: Settings, seed: int, length: int) -> None:
    for play, _ in played(settings, seed, length):
        s = play.state
        for late in stale(s, play.at):
            assert step(s, late) == (s, ())


def stale(s: State, at: int) -> Iterator[ev.Event]:
    """One late event for each id that an event can carry."""
    old = s.seq
    yield ev.SpeechStarted(at, old)
    yield ev.EndRequested(at, old)
    yield ev.LinkWobbled(at, old, s.session_id)
    if s.turn:
        yield ev.WordsHeard(at, old, s.turn, words=3, substantial=3, final=True)
        yield ev.TurnEnded(at, s.turn - 1, s.onset)
    if s.session_id:
        yield ev.LinkClosed(at, s.session_id - 1)
        yield ev.SessionReady(at, s.session_id - 1)
    if s.reply_id:
        yield ev.AudioBuffered(at, s.reply_id - 1)
        yield ev.ReplyFailed(at, s.reply_id - 1, ErrorClass.SESSION_EXPIRED)
        yield ev.ToolCalled(at, s.reply_id - 1, s.call_id + 1)
    if s.voice_id:
        yield ev.PlaybackFinished(at, s.voice_id - 1, 9_000)
        yield ev.OverlapJudged(at, s.voice_id - 1, old + 1, bid=True, onset=s.onset)
    yield ev.ToolCalled(at, s.reply_id, s.call_id)
    yield ev.JobFinished(at, s.call_id + 1)
    for due, timer, call in armed(s):
        yield ev.TimerFired(max(at, due), timer, due + 1, call)


@pytest.mark.req("L-01", "C-REQ-001")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_every_view_makes_only_moves_that_its_table_allows(settings: Settings, seed: int, length: int) -> None:
    for _, done in played(settings, seed, length):
        for view in VIEWS.values():
            move = view.see(done.before), view.see(done.after)
            assert move[0] == move[1] or move in view.allowed(), (view.name, move)


# -- Nothing is lost


@pytest.mark.req("L-07", "M-16", "M-20")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_every_call_gets_one_output_and_every_dispatched_job_one_end(
    settings: Settings, seed: int, length: int
) -> None:
    play = play_out(settings, seed, length)
    play.give(ev.EndRequested(play.at, play.seq + 1))
    did = [effect for done in play.steps for effect in done.effects]
    run = [effect.call for effect in did if isinstance(effect, fx.RunCall)]
    refused = [effect.call for effect in did if effect == fx.PostOutput(getattr(effect, "call", 0), Outcome.REFUSED)]
    outputs = [effect.call for effect in did if isinstance(effect, fx.PostOutput)]
    assert sorted(outputs) == sorted(run + refused)
    dispatched = {job.call for done in play.steps for job in done.after.jobs if job.kind is JobKind.DISPATCHED}
    news = [e for e in did if isinstance(e, fx.PostNews) and e.outcome is not Outcome.NEEDS_INPUT]
    assert sorted(effect.call for effect in news) == sorted(dispatched)


@pytest.mark.req("L-06", "M-09", "M-15", "M-18")
@few
@given(SETTINGS, SEEDS, LENGTHS, st.lists(st.booleans(), max_size=4))
def test_words_are_asked_overheard_reported_lost_or_taken_back(
    settings: Settings, seed: int, length: int, answers: list[bool]
) -> None:
    play = play_out(settings, seed, length, without=CANCELS)
    come_to_rest(play, answers)
    waiting: dict[int, ev.Event] = {}
    for done in play.steps:
        heard = done.event
        if isinstance(heard, ev.WordsHeard) and heard.substantial and done.after is not done.before:
            is_late_part = not heard.final and heard.turn <= done.before.answered
            waiting |= {} if is_late_part else {heard.turn: heard}
        for turn in _settled(done, tuple(waiting)):
            del waiting[turn]
    assert waiting == {}


def _settled(done: CheckedStep, turns: tuple[int, ...]) -> list[int]:
    """Those of the turns whose fate this step decides."""
    if isinstance(done.event, ev.WordsHeard) and done.event.final and not done.event.words:
        return [turn for turn in turns if turn == done.event.turn == done.before.turn]  # nothing was said after all
    said = [effect for effect in done.effects if isinstance(effect, fx.StartReply | fx.ReportLost)]
    overheard = {effect.turn for effect in done.effects if isinstance(effect, fx.RecordOverheard)}
    return [turn for turn in turns if turn in overheard or any(e.first <= turn <= e.last for e in said)]


@pytest.mark.req("L-06", "C-AC-004")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_sound_starts_only_in_silence_and_stops_once(settings: Settings, seed: int, length: int) -> None:
    sounding: int | None = None
    for _, done in played(settings, seed, length):
        for effect in done.effects:
            if isinstance(effect, fx.StartPlayback):
                assert sounding is None
                sounding = effect.voice
            elif isinstance(effect, fx.StopPlayback):
                assert effect.voice == sounding
                sounding = None
        if isinstance(done.event, ev.PlaybackFinished) and done.event.voice == sounding:
            sounding = None
        elif isinstance(done.event, ev.VoicesPlayed) and sounding is not None:
            sounding = done.after.voice_id  # a saved voice takes the number that the client knows


# -- Liveness


@pytest.mark.req("C-AC-008", "M-19")
@few
@given(SETTINGS, SEEDS, LENGTHS, st.lists(st.booleans(), max_size=6))
def test_left_alone_every_conversation_comes_to_rest(
    settings: Settings, seed: int, length: int, answers: list[bool]
) -> None:
    play = play_out(settings, seed, length)
    come_to_rest(play, answers)
    assert play.state.said == play.state.answered
    assert play.state.jobs == ()


@pytest.mark.req("C-AC-008", "M-19")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_without_a_person_and_without_services_every_conversation_ends(
    settings: Settings, seed: int, length: int
) -> None:
    play = play_out(replace(settings, session_ms_max=0, session_warning_ms=0), seed, length)
    for _ in range(STEPS_TO_REST_MAX):
        if next_deadline(play.state) is None:
            break
        play.fire()
    s = play.state
    assert s.link in (Link.IDLE, Link.SUSPENDED) or (s.link is Link.UP and is_at_rest(s) and not s.settings.hangs_up)


# -- Pausing, writing down, repeating


@pytest.mark.req("C-REQ-008", "C-AC-005")
@few
@given(SETTINGS, SEEDS, LENGTHS, st.integers(0, 2_000))
def test_a_pause_shifts_deadlines_and_changes_nothing_else(
    settings: Settings, seed: int, length: int, for_ms: int
) -> None:
    for play, _ in played(settings, seed, length):
        s = play.state
        overdue = any(due <= play.at for due, _, _ in armed(s))
        ticking = [due for due, timer, _ in armed(s) if timer in UNFROZEN and timer is not Timer.CUE]
        if s.link is not Link.UP or overdue or any(due < play.at + for_ms for due in ticking):
            continue
        paused, held = step(s, ev.SuspendRequested(play.at, play.seq + 1))
        resumed, went_on = step(paused, ev.ResumeRequested(play.at + for_ms, play.seq + 2))
        # A pause isn't a silence: the times from which silence counts move to its end.
        blank: dict[str, Any] = {"at": 0, "seq": 0, "due": (), "jobs": (), "quiet_at": 0, "sign_at": 0}
        assert resumed._replace(**blank) == s._replace(**blank)
        assert [one for one in armed(resumed) if one.timer is not Timer.CUE] == [
            (due if timer in UNFROZEN else due + for_ms, timer, call)
            for due, timer, call in armed(s)
            if timer is not Timer.CUE  # the next cue comes soon after the pause
        ]
        assert bool(resumed.due[TIMER_INDEX[Timer.CUE]]) == bool(s.due[TIMER_INDEX[Timer.CUE]])
        assert {type(effect) for effect in held} <= {fx.HoldPlayback, fx.StopCue}
        assert {type(effect) for effect in went_on} <= {fx.ResumePlayback}


@pytest.mark.req("L-20", "C-API")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_a_snapshot_restores_the_same_state(settings: Settings, seed: int, length: int) -> None:
    play = Play(settings, seed)
    copy = play.state
    for _ in range(length):
        done = play.go_on()
        copy, effects = step(restore(snapshot(copy)), event_from_json(event_to_json(done.event)))
        assert effects == done.effects
    assert copy == play.state
    assert digest(copy) == digest(play.state)
    assert restore(snapshot(copy)) == copy
    assert hash(restore(snapshot(copy))) == hash(copy)


@pytest.mark.req("L-20")
@few
@given(SETTINGS, SEEDS, LENGTHS)
def test_the_same_events_lead_to_the_same_state(settings: Settings, seed: int, length: int) -> None:
    play = play_out(settings, seed, length)
    s = initial(settings)
    for done in play.steps:
        s, effects = step(s, done.event)
        assert effects == done.effects
    assert s == play.state


@pytest.mark.sweep
def test_the_properties_hold_in_many_more_conversations() -> None:
    command = [sys.executable, "-m", "pytest", "-m", "not sweep", "-p", "no:cacheprovider", __file__]
    subprocess.run(command, env={**os.environ, EXAMPLES: f"{MANY}"}, check=True)
