"""What holds for every conversation, however mad: random events, fresh, late and repeated.

Each example is a list of acts that are turned into events against the current state, so that ids are
current or stale on purpose; most acts look for something that matters here, or little would happen.
The same examples are drawn in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from duologue.check.laws import Step, check_state, check_step
from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.codec import digest, event_from_json, event_to_json, restore, snapshot
from duologue.core.leaves import ErrorClass, Job, Link, Outcome, Part
from duologue.core.machine import MACHINE, step
from duologue.core.settings import PROFILES, Settings, profile
from duologue.core.state import UNFROZEN, State, armed, initial, is_at_rest, next_deadline
from duologue.core.views import VIEWS

ACTS_MIN, ACTS_MAX = 25, 60
STEPS_TO_REST_MAX = 120

# How often each kind happens; what is not listed here happens once.
OFTEN: dict[type[ev.Event], int] = {
    ev.SpeechStarted: 4,
    ev.SpeechStopped: 4,
    ev.WordsHeard: 6,
    ev.TurnEnded: 5,
    ev.TextTyped: 2,
    ev.ReplyAccepted: 3,
    ev.TokenArrived: 3,
    ev.AudioBuffered: 5,
    ev.ReplyFinished: 2,
    ev.PlaybackProgressed: 3,
    ev.PlaybackFinished: 3,
    ev.PlaybackStopped: 2,
    ev.OverlapJudged: 3,
    ev.ToolCalled: 3,
    ev.JobFinished: 2,
    ev.SessionReady: 4,
    ev.TimerFired: 12,
}
KINDS = tuple(kind for kind in ev.EVENTS for _ in range(OFTEN.get(kind, 1)))
STRIDE = 37  # how the next kind is looked for: far away, so that all get their turn
CANCELS = (ev.InterruptRequested, ev.CancelRequested)  # by these a person gives an answer up

few = examples(
    max_examples=120,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


class Act(NamedTuple):
    """One thing that happens, before it is known what is current."""

    kind: type[ev.Event]
    pick: int  # chooses among errors, counts of words, jobs and the like
    late: int  # 0: about what is current, else that many ids late
    how: int  # below 6: whatever matters here, 6: as it comes, 7: something that was said before
    after_ms: int


LATE = (0, 0, 0, 0, 0, 0, 0, 1, 2)
AFTER_MS = (0, 0, 1, 20, 400, 3_000)
PICKS, WAYS = 24, 8
CHOICES = len(KINDS) * PICKS * len(LATE) * WAYS * len(AFTER_MS)


def decode(number: int) -> Act:
    """One number holds all choices of an act: drawing one is much faster than drawing five."""
    number, kind = divmod(number, len(KINDS))
    number, pick = divmod(number, PICKS)
    number, late = divmod(number, len(LATE))
    number, how = divmod(number, WAYS)
    return Act(KINDS[kind], pick, LATE[late], how, AFTER_MS[number])


ACTS = st.integers(0, CHOICES - 1).map(decode)
SETTINGS = st.sampled_from(tuple(profile(name, jobs_max=2) for name in PROFILES))
CONVERSATIONS = st.lists(ACTS, min_size=ACTS_MIN, max_size=ACTS_MAX)


def make(act: Act, s: State, at: int, seq: int) -> ev.Event | None:
    """The event that this act is, here and now."""
    if act.kind is ev.TimerFired:
        deadline = next_deadline(s)
        if deadline is None:
            return None
        due = deadline.due + act.late  # a late one names another due time
        return ev.TimerFired(max(at, deadline.due), deadline.timer, due, deadline.call)
    jobs = [job.call for job in s.jobs] or [s.call_id]
    words = act.pick % 4
    values: dict[str, Any] = {
        "at": at,
        "seq": max(0, seq - 3 * act.late),
        "session": max(0, s.session_id - act.late),
        "reply": max(0, s.reply_id - act.late),
        "voice": max(0, s.voice_id - act.late),
        "turn": max(0, s.turn - act.late),
        "call": max(0, s.call_id + 1 - act.late) if act.kind is ev.ToolCalled else jobs[act.pick % len(jobs)],
        "error": list(ErrorClass)[act.pick % len(ErrorClass)],
        "part": list(Part)[act.pick % len(Part)],
        "bid": act.pick % 2 == 0,
        "cancellable": act.pick % 3 == 0,
        "heard_ms": s.heard_ms + (0, 40, 200)[act.pick % 3],
        "words": words,
        "substantial": words - (act.pick % 5 == 0 and words > 0),
        "final": act.pick % 2 == 0,
        "session_active": act.pick % 4 > 0,
        "audio_primed": act.pick % 5 > 0,
    }
    names = {field.name for field in fields(act.kind)}
    return act.kind(**{name: value for name, value in values.items() if name in names})


class Play:
    """A conversation that goes on act by act."""

    def __init__(self, settings: Settings, without: tuple[type[ev.Event], ...] = ()) -> None:
        self.without = without
        self.state = initial(settings)
        self.at = 0
        self.seq = 0
        self.steps: list[Step] = []

    def start(self) -> None:
        self.give(ev.StartRequested(self.at, 1))
        self.give(ev.SessionReady(self.at, 1))
        self.seq = 1

    def give(self, event: ev.Event) -> Step:
        before = self.state
        self.state, effects = step(before, event)
        self.at = max(self.at, event.at)
        self.steps.append(Step(before, event, self.state, effects))
        return self.steps[-1]

    def act(self, act: Act) -> Step | None:
        """Time passes, but not beyond what is due; then it happens."""
        deadline = next_deadline(self.state)
        self.at = max(self.at, min(self.at + act.after_ms, deadline.due if deadline else self.at + act.after_ms))
        self.seq += 1
        if act.how == 7:
            return self.give(replace(self.steps[act.pick % len(self.steps)].event, at=self.at))
        first = KINDS.index(act.kind)
        for offset in range(len(KINDS) if act.how < 6 else 1):
            kind = KINDS[(first + offset * STRIDE) % len(KINDS)]
            event = make(act._replace(kind=kind), self.state, self.at, self.seq)
            if event is not None and kind not in self.without and (act.how == 6 or MACHINE.accepts(self.state, event)):
                return self.give(event)
        return None


def played(settings: Settings, acts: list[Act]) -> Iterator[tuple[Play, Step]]:
    """The conversation after each act that was an event."""
    play = Play(settings)
    play.start()
    for act in acts:
        done = play.act(act)
        if done is not None:
            yield play, done


def come_to_rest(play: Play, answers: list[bool]) -> int:
    """Let time pass and answer for the session, as often as it takes. Returns how often."""
    asked = 0
    for count in range(STEPS_TO_REST_MAX):
        s = play.state
        if s.link is Link.IDLE or (s.link is Link.UP and is_at_rest(s)):
            return count
        if s.link in (Link.PREPARING, Link.RECONNECTING) and asked < len(answers):
            asked += 1
            ready = answers[asked - 1]
            play.give(
                ev.SessionReady(play.at, s.session_id)
                if ready
                else ev.SessionFailed(play.at, s.session_id, ErrorClass.SERVER_ERROR)
            )
            continue
        deadline = next_deadline(s)
        assert deadline is not None, "nothing will ever happen any more"
        play.give(ev.TimerFired(max(play.at, deadline.due), deadline.timer, deadline.due, deadline.call))
    raise AssertionError(f"no rest after {STEPS_TO_REST_MAX} steps")


# -- Safety


@pytest.mark.req("C-GUD-004", "L-20")
@few
@given(SETTINGS, CONVERSATIONS)
def test_no_sequence_of_events_raises_or_breaks_a_law(settings: Settings, acts: list[Act]) -> None:
    for _, done in played(settings, acts):
        assert list(check_state(done.after)) == []
        if done.after is not done.before:
            assert list(check_step(done)) == []


@pytest.mark.req("C-INT-005")
@few
@given(SETTINGS, CONVERSATIONS)
def test_what_is_answered_was_asked_was_said_was_begun(settings: Settings, acts: list[Act]) -> None:
    for _, done in played(settings, acts):
        s = done.after
        assert 0 <= s.answered <= s.asked <= s.said <= s.turn
        assert s.answered >= done.before.answered
        assert s.turn >= done.before.turn


@pytest.mark.req("C-GUD-004")
@few
@given(SETTINGS, CONVERSATIONS)
def test_an_event_that_was_applied_does_nothing_the_second_time(settings: Settings, acts: list[Act]) -> None:
    for _, done in played(settings, acts):
        if done.after is not done.before:
            again, effects = step(done.after, done.event)
            assert again is done.after
            assert effects == ()


@pytest.mark.req("C-GUD-004")
@few
@given(SETTINGS, CONVERSATIONS)
def test_an_event_about_the_past_does_nothing(settings: Settings, acts: list[Act]) -> None:
    for play, _ in played(settings, acts):
        s = play.state
        for late in stale(s, play.at):
            assert step(s, late) == (s, ())


def stale(s: State, at: int) -> Iterator[ev.Event]:
    """One late event for each id that an event can carry."""
    old = s.seq
    yield ev.SpeechStarted(at, old)
    yield ev.EndRequested(at, old)
    yield ev.WordsHeard(at, old, s.turn, words=3, substantial=3, final=True)
    yield ev.LinkWobbled(at, old, s.session_id)
    if s.turn:
        yield ev.TurnEnded(at, s.turn - 1)
    if s.session_id:
        yield ev.LinkClosed(at, s.session_id - 1)
        yield ev.SessionReady(at, s.session_id - 1)
    if s.reply_id:
        yield ev.AudioBuffered(at, s.reply_id - 1)
        yield ev.ReplyFailed(at, s.reply_id - 1, ErrorClass.SESSION_EXPIRED)
        yield ev.ToolCalled(at, s.reply_id - 1, s.call_id + 1)
    if s.voice_id:
        yield ev.PlaybackFinished(at, s.voice_id - 1, 9_000)
        yield ev.OverlapJudged(at, s.voice_id - 1, old + 1, bid=True)
    yield ev.ToolCalled(at, s.reply_id, s.call_id)
    yield ev.JobFinished(at, s.call_id + 1)
    for due, timer, call in armed(s):
        yield ev.TimerFired(max(at, due), timer, due + 1, call)


@pytest.mark.req("L-01", "C-REQ-001")
@few
@given(SETTINGS, CONVERSATIONS)
def test_every_view_makes_only_moves_that_its_table_allows(settings: Settings, acts: list[Act]) -> None:
    for _, done in played(settings, acts):
        for view in VIEWS.values():
            move = view.see(done.before), view.see(done.after)
            assert move[0] == move[1] or move in view.allowed(), (view.name, move)


# -- Nothing is lost


@pytest.mark.req("L-07", "M-16", "M-20")
@few
@given(SETTINGS, CONVERSATIONS)
def test_every_call_gets_one_output_and_every_dispatched_job_one_end(settings: Settings, acts: list[Act]) -> None:
    play = Play(settings)
    play.start()
    for act in acts:
        play.act(act)
    play.give(ev.EndRequested(play.at, play.seq + 1))
    did = [effect for done in play.steps for effect in done.effects]
    run = [effect.call for effect in did if isinstance(effect, fx.RunCall)]
    refused = [effect.call for effect in did if effect == fx.PostOutput(getattr(effect, "call", 0), Outcome.REFUSED)]
    outputs = [effect.call for effect in did if isinstance(effect, fx.PostOutput)]
    assert sorted(outputs) == sorted(run + refused)
    dispatched = {job.call for done in play.steps for job in done.after.jobs if job.kind is Job.DISPATCHED}
    news = [e for e in did if isinstance(e, fx.PostNews) and e.outcome is not Outcome.NEEDS_INPUT]
    assert sorted(effect.call for effect in news) == sorted(dispatched)


@pytest.mark.req("L-06", "M-09", "M-15", "M-18")
@few
@given(SETTINGS, CONVERSATIONS, st.lists(st.booleans(), max_size=4))
def test_words_are_asked_overheard_or_reported_lost(settings: Settings, acts: list[Act], answers: list[bool]) -> None:
    play = Play(settings, without=CANCELS)
    play.start()
    for act in acts:
        play.act(act)
    come_to_rest(play, answers)
    waiting: dict[int, ev.Event] = {}
    for done in play.steps:
        if isinstance(done.event, ev.WordsHeard) and done.event.substantial and done.after is not done.before:
            waiting[done.event.turn] = done.event
        for turn in _settled(done, tuple(waiting)):
            del waiting[turn]
    assert waiting == {}


def _settled(done: Step, turns: tuple[int, ...]) -> list[int]:
    """Of which of these turns does this step say what becomes of them?"""
    said = [effect for effect in done.effects if isinstance(effect, fx.StartReply | fx.ReportLost)]
    overheard = {effect.turn for effect in done.effects if isinstance(effect, fx.RecordOverheard)}
    return [turn for turn in turns if turn in overheard or any(e.first <= turn <= e.last for e in said)]


@pytest.mark.req("L-06", "C-AC-004")
@few
@given(SETTINGS, CONVERSATIONS)
def test_sound_starts_only_in_silence_and_stops_once(settings: Settings, acts: list[Act]) -> None:
    sounding: int | None = None
    for _, done in played(settings, acts):
        for effect in done.effects:
            if isinstance(effect, fx.StartPlayback):
                assert sounding is None
                sounding = effect.voice
            elif isinstance(effect, fx.StopPlayback):
                assert effect.voice == sounding
                sounding = None
        if isinstance(done.event, ev.PlaybackFinished) and done.event.voice == sounding:
            sounding = None


# -- Liveness


@pytest.mark.req("C-AC-008", "M-19")
@few
@given(SETTINGS, CONVERSATIONS, st.lists(st.booleans(), max_size=6))
def test_left_alone_every_conversation_comes_to_rest(
    settings: Settings, acts: list[Act], answers: list[bool]
) -> None:
    play = Play(settings)
    play.start()
    for act in acts:
        play.act(act)
    come_to_rest(play, answers)
    assert play.state.said == play.state.answered
    assert play.state.jobs == ()


@pytest.mark.req("C-AC-008", "M-19")
@few
@given(SETTINGS, CONVERSATIONS)
def test_with_nobody_on_either_side_every_conversation_ends(settings: Settings, acts: list[Act]) -> None:
    play = Play(replace(settings, session_ms_max=0, session_warning_ms=0))
    play.start()
    for act in acts:
        play.act(act)
    for _ in range(STEPS_TO_REST_MAX):
        deadline = next_deadline(play.state)
        if deadline is None:
            break
        play.give(ev.TimerFired(max(play.at, deadline.due), deadline.timer, deadline.due, deadline.call))
    assert play.state.link is Link.IDLE


# -- Pausing, writing down, repeating


@pytest.mark.req("C-REQ-008", "C-AC-005")
@few
@given(SETTINGS, CONVERSATIONS, st.integers(0, 2_000))
def test_a_pause_shifts_deadlines_and_changes_nothing_else(settings: Settings, acts: list[Act], for_ms: int) -> None:
    for play, _ in played(settings, acts):
        s = play.state
        overdue = any(due <= play.at for due, _, _ in armed(s))
        if s.link is not Link.UP or overdue or any(due < play.at + for_ms for due, t, _ in armed(s) if t in UNFROZEN):
            continue
        paused, held = step(s, ev.SuspendRequested(play.at, play.seq + 1))
        resumed, went_on = step(paused, ev.ResumeRequested(play.at + for_ms, play.seq + 2))
        blank: dict[str, Any] = {"at": 0, "seq": 0, "due": (), "jobs": ()}
        assert resumed._replace(**blank) == s._replace(**blank)
        assert armed(resumed) == [
            (due if timer in UNFROZEN else due + for_ms, timer, call) for due, timer, call in armed(s)
        ]
        assert {type(effect) for effect in (*held, *went_on)} <= {fx.HoldPlayback, fx.ResumePlayback}


@pytest.mark.req("L-20", "C-API")
@few
@given(SETTINGS, CONVERSATIONS)
def test_a_snapshot_is_the_whole_truth(settings: Settings, acts: list[Act]) -> None:
    play = Play(settings)
    play.start()
    copy = play.state
    for act in acts:
        done = play.act(act)
        if done is not None:
            copy, effects = step(restore(snapshot(copy)), event_from_json(event_to_json(done.event)))
            assert effects == done.effects
    assert copy == play.state
    assert digest(copy) == digest(play.state)
    assert restore(snapshot(copy)) == copy
    assert hash(restore(snapshot(copy))) == hash(copy)


@pytest.mark.req("L-20")
@few
@given(SETTINGS, CONVERSATIONS)
def test_the_same_events_lead_to_the_same_state(settings: Settings, acts: list[Act]) -> None:
    play = Play(settings)
    play.start()
    for act in acts:
        play.act(act)
    s = initial(settings)
    for done in play.steps:
        s, effects = step(s, done.event)
        assert effects == done.effects
    assert s == play.state
