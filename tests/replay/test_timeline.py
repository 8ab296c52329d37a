"""The timeline of a conversation: states, lanes and transitions, and no words."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.events import EVENTS
from duologue.core.leaves import JobKind, Leaf, Link, Reply, Timer, User, Voice
from duologue.core.views import EVERY_VIEW, LIFECYCLE, PHONE, VIEWS
from duologue.lab.sim.stage import Stage
from duologue.observe.view_history import TRANSITIONS_MAX
from duologue.replay.journal import read_journal, replay
from duologue.replay.timeline import REGIONS, Timeline, Visit, read_timeline


def answered_question() -> Stage:
    """The session is ready at 200; a question at 1000, its answer is heard from 2450 to 3450."""
    stage = Stage()
    stage.happen(ev.StartRequested)
    stage.wait(200)
    stage.happen(ev.SessionReady)
    stage.wait(800)
    stage.say(for_ms=900)
    stage.think(for_ms=300)
    stage.speak(1_000)
    stage.finish()
    return stage


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from strings_in(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from strings_in(entry)
    elif isinstance(value, str):
        yield value


# -- States


@pytest.mark.req("L-22.timeline", "C-REQ-010")
def test_every_visit_tells_since_when_how_long_and_why() -> None:
    stage = answered_question()
    stage.wait(500)
    timeline = read_timeline(stage.records, LIFECYCLE, now_ms=stage.at)
    assert timeline.visits == (
        Visit("idle", 0, 1_000, "StartRequested"),
        Visit("listening", 1_000, 900, "SpeechStarted"),
        Visit("processing", 1_900, 550, "SpeechStopped"),
        Visit("speaking", 2_450, 1_000, "AudioBuffered"),
        Visit("idle", 3_450, 500, "PlaybackFinished"),
    )


@pytest.mark.req("L-22.states")
def test_the_current_and_the_previous_state_have_durations() -> None:
    stage = answered_question()
    timeline = read_timeline(stage.records, LIFECYCLE, now_ms=stage.at + 70)
    assert timeline.current == Visit("idle", 3_450, 70, "PlaybackFinished")
    assert timeline.previous == Visit("speaking", 2_450, 1_000, "AudioBuffered")
    assert timeline.turns == 1


def test_a_deadline_is_a_cause_by_its_own_name() -> None:
    stage = answered_question()
    stage.wait_for(Timer.DEAD_AIR)
    current = read_timeline(stage.records).current
    assert current is not None
    assert (current.state, current.cause) == ("thinking", "timer:dead_air")


@pytest.mark.parametrize("name", list(EVERY_VIEW))
def test_the_visits_of_every_view_follow_each_other_without_a_gap(name: str) -> None:
    stage = answered_question()
    stage.happen(ev.EndRequested)
    stage.wait(2_000)
    timeline = read_timeline(stage.records, EVERY_VIEW[name])
    assert timeline.visits[0].since_ms == 0
    assert all(old.end_ms == new.since_ms and old.state != new.state for old, new in pairwise(timeline.visits))
    assert timeline.visits[-1].end_ms == timeline.length_ms == stage.records[-1].event.at


def test_another_view_tells_the_same_call_in_its_own_words() -> None:
    timeline = read_timeline(answered_question().records, PHONE)
    assert timeline.view == "phone"
    assert [visit.state for visit in timeline.visits] == ["agent_idle", "agent_speaking", "agent_idle"]


@pytest.mark.req("L-22.session")
def test_the_session_time_ends_with_the_call_and_the_last_state_goes_on() -> None:
    stage = answered_question()
    stage.happen(ev.EndRequested)
    stage.wait(100)
    stage.happen(ev.SessionClosed)
    timeline = read_timeline(stage.records, now_ms=60_000)
    assert timeline.session_ms == 3_550
    assert timeline.length_ms == 60_000


def test_a_late_event_that_was_ignored_leaves_no_trace_in_the_states() -> None:
    stage = answered_question()
    stage.happen(ev.TokenArrived, reply=1)
    stage.give(ev.SessionClosed(at=5, session=1))  # older than anything, and meaningless here
    assert read_timeline(stage.records) == read_timeline(stage.records[:-2])


def test_without_a_start_the_timeline_is_empty() -> None:
    stage = Stage()
    stage.happen(ev.SpeechStarted)
    stage.happen(ev.StartRequested, audio_primed=False)  # refused
    timeline = read_timeline(stage.records)
    assert timeline == Timeline("phase")
    assert timeline.current is timeline.previous is None
    assert timeline.to_json()["state"] is None


# -- Lanes


@pytest.mark.req("L-22")
def test_every_region_has_a_lane_over_the_whole_call() -> None:
    timeline = read_timeline(answered_question().records)
    assert [lane.region for lane in timeline.lanes] == list(REGIONS)
    for lane in timeline.lanes:
        assert lane.visits[0].since_ms == 0
        assert sum(visit.duration_ms for visit in lane.visits) == timeline.length_ms
    leaves = {lane.region: [visit.state for visit in lane.visits] for lane in timeline.lanes}
    assert leaves["link"] == ["preparing", "up"]
    assert leaves["user"] == ["quiet", "talking", "settling", "quiet"]
    assert leaves["voice"] == ["silent", "playing", "silent"]
    assert leaves["reply"] == ["none", "committing", "waiting", "generating", "none"]
    assert leaves["jobs"] == ["none"]


def test_jobs_side_by_side_are_named_together_with_the_foremost_first() -> None:
    stage = Stage()
    stage.start()
    stage.say()
    stage.think()
    first = stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.wait(10)
    stage.call_tool()
    stage.wait(10)
    stage.happen(ev.JobFinished, call=first)
    jobs = read_timeline(stage.records).lanes[-1]
    assert [visit.state for visit in jobs.visits] == ["none", "tool", "dispatched", "tool+dispatched", "tool"]


# -- Transitions


@pytest.mark.req("C-REQ-010", "L-21")
def test_the_last_twenty_transitions_are_kept_and_each_names_its_cause() -> None:
    stage = answered_question()
    for _ in range(6):
        stage.wait(100)
        stage.say()
        stage.answer()
    timeline = read_timeline(stage.records)
    assert len(timeline.visits) > TRANSITIONS_MAX + 1
    assert len(timeline.transitions) == TRANSITIONS_MAX == 20
    newest = timeline.transitions[-1]
    assert (newest.source, newest.target, newest.cause) == ("speaking", "listening", "PlaybackFinished")
    assert newest.at_ms == stage.at
    assert all(old.target == new.source for old, new in pairwise(timeline.transitions))


@pytest.mark.req("C-CON-003.gone")
def test_a_new_conversation_knows_nothing_of_the_one_before() -> None:
    stage = answered_question()
    stage.happen(ev.EndRequested)
    stage.happen(ev.SessionClosed)
    stage.wait(5_000)
    began = stage.at
    stage.happen(ev.StartRequested)
    stage.wait(300)
    stage.happen(ev.SessionReady)
    timeline = read_timeline(stage.records, VIEWS["conversation"])
    assert began > 0
    assert [move.source for move in timeline.transitions] == ["preparing"]
    assert timeline.visits[0] == Visit("preparing", 0, 300, "StartRequested")
    assert timeline.session_ms == 300
    assert (timeline.turns, timeline.metrics.requests) == (0, 0)


@pytest.mark.req("C-SEC-001")
def test_nothing_in_a_timeline_but_names_of_the_machine_and_numbers() -> None:
    stage = answered_question()
    stage.happen(ev.TextTyped, content=987_654_321)
    stage.begin_talking()
    stage.hear_words(4, content=987_654_321)
    data = read_timeline(stage.records).to_json()
    leaves: list[Leaf] = [leaf for region in (Link, User, Voice, Reply, JobKind) for leaf in region]
    known = {leaf.value for leaf in leaves}
    known |= {kind.__name__ for kind in EVENTS} | {f"timer:{timer.value}" for timer in Timer}
    known |= {state for view in EVERY_VIEW.values() for state in view.states} | {*EVERY_VIEW, *REGIONS}
    known |= {*Timeline._fields, *Visit._fields, *read_timeline([]).metrics.to_json()}
    known |= {"previous", "turns", "transitions", "source", "target", "at_ms"}
    assert set(strings_in(data)) <= known
    assert "987654321" not in json.dumps(data)


# -- As data


@pytest.mark.req("C-GUD-002")
def test_a_timeline_survives_json() -> None:
    data = read_timeline(answered_question().records).to_json()
    assert json.loads(json.dumps(data)) == data
    assert data["previous"] == {"state": "speaking", "since_ms": 2_450, "duration_ms": 1_000, "cause": "AudioBuffered"}
    assert data["metrics"]["first_audio_ms"] == 300


def test_a_journal_gives_the_same_timeline_as_the_live_call() -> None:
    stage = answered_question()
    out = io.StringIO()
    stage.write_journal(out)
    out.seek(0)
    assert read_timeline(replay(read_journal(out))) == read_timeline(stage.records)
