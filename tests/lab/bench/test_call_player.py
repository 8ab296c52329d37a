"""The player of a scripted call: it records what the machine did, and refuses a script that doesn't fit the machine."""

from __future__ import annotations

import pytest

from duologue.core.events import SessionReady, SpeechStarted, SpeechStopped, StartRequested
from duologue.core.leaves import Link, Timer
from duologue.core.machine import step
from duologue.lab.bench.call_player import CallPlayer, EventKind, PlayedCall
from duologue.lab.bench.representative_call import SCENES, build_call


@pytest.fixture(scope="module")
def call() -> PlayedCall:
    return build_call()


def test_an_event_is_ignored_exactly_if_the_very_same_state_comes_back(call: PlayedCall) -> None:
    for moment in call.moments:
        after, effects = step(moment.before, moment.event)
        assert (after is moment.before) == (not moment.changed) == (moment.kind is not EventKind.CHANGE)
        assert moment.changed or not effects


def test_the_mix_adds_up(call: PlayedCall) -> None:
    mix = call.mix()
    assert mix["events"] == len(call.events) == mix["transitions"] + mix["ignored"]
    assert mix["ignored"] == mix["stale"] + mix["meaningless"]
    assert sum(mix["by_event"].values()) == mix["events"]


def test_a_script_that_misjudges_the_machine_fails_at_once() -> None:
    player = CallPlayer()
    with pytest.raises(AssertionError, match="isn't change"):
        player.change(SpeechStopped)
    with pytest.raises(AssertionError, match="isn't stale"):
        player.stale(StartRequested, seq=1)


def test_a_script_can_not_overlook_a_deadline() -> None:
    player = CallPlayer()
    SCENES[0](player)
    player.change(SpeechStarted)
    with pytest.raises(AssertionError, match="passed before"):
        player.wait(player.state.settings.talk_ms_max + 1)


def test_an_event_is_about_what_is_current_unless_a_field_is_given() -> None:
    player = CallPlayer()
    player.change(StartRequested)
    player.wait(700)
    player.stale(SessionReady, session=0)
    player.change(SessionReady)
    stale, ready = player.moments[-2:]
    assert (stale.event.session, ready.event.session, ready.event.at) == (0, player.state.session_id, 700)
    assert player.state.link is Link.UP
    assert [moment.changed for moment in player.moments] == [True, False, True]


def test_only_the_next_deadline_can_be_fired() -> None:
    player = CallPlayer()
    with pytest.raises(AssertionError, match="no deadline is armed"):
        player.fire(Timer.SETTLE)
    SCENES[0](player)
    player.change(SpeechStarted)
    player.change(SpeechStopped)
    with pytest.raises(AssertionError, match="comes before"):
        player.fire(Timer.LULL)
    player.fire(Timer.SETTLE)
    assert player.at == player.state.at
