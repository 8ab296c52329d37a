"""Questions about a state: which deadline is next, who has the floor, what is owed, what is at rest."""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.core.leaves import JobKind, Link, Reply, Timer, User, Voice
from duologue.core.settings import profile
from duologue.core.state import (
    UNFROZEN,
    JobRecord,
    State,
    armed,
    floor,
    floor_is_free,
    floor_is_open,
    has_foreground,
    initial,
    is_at_rest,
    is_owed,
    is_sounding,
    next_deadline,
    noise_blocks_request,
)
from tests.core.scenes import asked, in_a_call, speaking, up

UP = initial(profile("confirm"))._replace(link=Link.UP)


def test_a_conversation_that_has_not_begun_waits_for_nothing() -> None:
    s = initial(profile("confirm"))
    assert s.link is Link.IDLE
    assert next_deadline(s) is None
    assert not is_owed(s)


def test_the_next_deadline_is_the_earliest_of_all_armed_ones() -> None:
    s = in_a_call().state
    found = armed(s)
    assert len(found) > 1
    assert next_deadline(s) == min(found, key=lambda deadline: deadline.due)
    assert {deadline.call for deadline in found if deadline.timer is Timer.FEEDBACK} == {1}


def test_in_a_pause_only_the_time_of_the_session_goes_on() -> None:
    stage = in_a_call()
    running = {deadline.timer for deadline in armed(stage.state)}
    assert Timer.JOB in running
    stage.happen(ev.SuspendRequested)
    assert {deadline.timer for deadline in armed(stage.state)} <= set(UNFROZEN)


@pytest.mark.parametrize(
    ("user", "voice", "holder"),
    [
        (User.QUIET, Voice.SILENT, "open"),
        (User.TALKING, Voice.SILENT, "user"),
        (User.SETTLING, Voice.SILENT, "settling"),
        (User.TRANSCRIBING, Voice.SILENT, "settling"),
        (User.QUIET, Voice.PLAYING, "agent"),
        (User.TALKING, Voice.PLAYING, "contested"),
        (User.TALKING, Voice.HELD, "contested"),
        (User.TALKING, Voice.STOPPING, "interrupted"),
        (User.QUIET, Voice.HUSHED, "interrupted"),
    ],
)
def test_the_floor_follows_from_user_and_voice(user: User, voice: Voice, holder: str) -> None:
    assert floor(UP._replace(user=user, voice=voice)) == holder


@pytest.mark.parametrize(
    "taken",
    [
        {"user": User.TALKING},
        {"voice": Voice.PLAYING},
        {"reply": Reply.WAITING},
        {"jobs": (JobRecord(1, JobKind.TOOL, False, 5),)},
    ],
)
def test_the_floor_is_open_only_if_neither_side_does_anything(taken: dict[str, object]) -> None:
    assert floor_is_open(UP)
    assert not floor_is_open(UP._replace(**taken))


def test_the_floor_of_a_paused_session_is_open_but_not_free() -> None:
    paused = UP._replace(link=Link.SUSPENDED)
    assert floor_is_open(paused)
    assert not floor_is_free(paused)
    assert floor_is_free(UP)


def test_a_turn_is_owed_from_its_end_until_its_answer_is_heard() -> None:
    stage = asked()
    assert is_owed(stage.state)
    stage.answer()
    assert not is_owed(stage.state)
    assert is_owed(UP._replace(news=True))


def test_a_dispatched_job_is_not_waited_for_but_is_not_rest_either() -> None:
    working = UP._replace(jobs=(JobRecord(1, JobKind.DISPATCHED, False, 5),))
    assert not has_foreground(working)
    assert floor_is_open(working)
    assert not is_at_rest(working)
    assert is_at_rest(up().state)


def test_sound_is_heard_only_while_it_plays_on_a_link_that_is_up() -> None:
    playing = speaking().state
    assert is_sounding(playing)
    assert not is_sounding(playing._replace(link=Link.SUSPENDED))
    assert not is_sounding(playing._replace(voice=Voice.HELD))


def test_a_noise_blocks_a_request_only_if_something_is_owed() -> None:
    noise: State = UP._replace(user=User.TALKING)
    assert not noise_blocks_request(noise)
    assert noise_blocks_request(noise._replace(news=True))
