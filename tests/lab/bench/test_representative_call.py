"""The call that is timed is a real one: the machine made it, and it has the scenes that it claims."""

from __future__ import annotations

from itertools import pairwise

import pytest

from duologue.core.events import PlaybackProgressed, TimerFired
from duologue.core.leaves import JobKind, Link, Reply, User, Voice
from duologue.core.machine import step
from duologue.core.state import State
from duologue.core.views import LIFECYCLE
from duologue.lab.bench.call_player import CallPlayer, EventKind, PlayedCall
from duologue.lab.bench.representative_call import LIFECYCLE_STATES, SCENES, build_call


@pytest.fixture(scope="module")
def call() -> PlayedCall:
    return build_call()


def leaves_seen(call: PlayedCall) -> set[object]:
    def leaves(s: State) -> tuple[object, ...]:
        return s.link, s.user, s.voice, s.reply, *(job.kind for job in s.jobs)

    return {leaf for moment in call.moments for leaf in leaves(moment.after)}


def test_the_events_alone_lead_from_the_first_state_to_the_last(call: PlayedCall) -> None:
    state = call.moments[0].before
    for event in call.events:
        state, _ = step(state, event)
    assert state == call.moments[-1].after


def test_a_call_begins_and_ends_idle_so_that_it_can_go_round(call: PlayedCall) -> None:
    assert call.moments[0].before.link is Link.IDLE
    assert call.moments[-1].after.link is Link.IDLE
    assert call.lifecycle[0][0] == call.lifecycle[-1][1] == "idle"


def test_the_call_visits_every_lifecycle_state_that_it_claims(call: PlayedCall) -> None:
    assert {LIFECYCLE.see(moment.after) for moment in call.moments} == set(LIFECYCLE_STATES)


def test_every_lifecycle_move_of_the_call_is_in_the_table_and_joins_the_one_before(call: PlayedCall) -> None:
    moves = call.lifecycle
    assert set(moves) <= LIFECYCLE.allowed()
    assert all(before[1] == after[0] for before, after in pairwise(moves))


@pytest.mark.parametrize(
    "leaf",
    [
        Link.SUSPENDED, Link.HEALING, User.TRANSCRIBING, Voice.HELD, Voice.STOPPING, Voice.HUSHED,
        Reply.READY, JobKind.TOOL, JobKind.DELEGATED,
    ],
)  # fmt: skip
def test_the_call_passes_through_the_awkward_leaves(call: PlayedCall, leaf: object) -> None:
    assert leaf in leaves_seen(call)


def test_the_call_has_stale_and_meaningless_events_and_timers_that_fire(call: PlayedCall) -> None:
    kinds = {moment.kind for moment in call.moments}
    fired = {moment.event.timer for moment in call.transitions if isinstance(moment.event, TimerFired)}
    assert kinds == set(EventKind)
    assert len(fired) >= 3


def test_time_never_runs_backwards_in_the_call(call: PlayedCall) -> None:
    times = [event.at for event in call.events]
    assert times == sorted(times)


def test_building_the_call_twice_gives_the_same_events(call: PlayedCall) -> None:
    assert build_call().events == call.events


def test_every_scene_but_the_last_leaves_an_open_floor() -> None:
    player = CallPlayer()
    for scene in SCENES[:-1]:
        scene(player)
        s = player.state
        assert (s.link, s.user, s.voice, s.reply, s.jobs) == (Link.UP, User.QUIET, Voice.SILENT, Reply.NONE, ())


def test_playback_progress_is_reported_several_times_for_each_sound(call: PlayedCall) -> None:
    progress = [moment for moment in call.transitions if isinstance(moment.event, PlaybackProgressed)]
    sounds = {moment.before.voice_id for moment in progress}
    assert len(progress) >= 3 * len(sounds)
