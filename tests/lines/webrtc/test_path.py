"""The path to a client: rows, all reachable, none stuck."""

from __future__ import annotations

from duologue.lines.webrtc.path import (
    CONNECT_MS_MAX,
    LOST_MS,
    QUIET_MS,
    ROWS,
    PacketCame,
    PathConnected,
    PathFailed,
    PathInput,
    PathLooked,
    PathPlace,
    PathState,
    step,
)


def after(*given: PathInput) -> PathPlace:
    state = PathState()
    for one in given:
        state = step(state, one)
    return state.place


def test_a_connection_that_is_not_made_in_time_is_lost() -> None:
    assert after(PathLooked(CONNECT_MS_MAX - 1)) is PathPlace.NEW
    assert after(PathLooked(CONNECT_MS_MAX)) is PathPlace.LOST


def test_a_path_without_packets_is_quiet_and_recovers_with_the_next() -> None:
    up = (PathConnected(0), PacketCame(10))
    assert after(*up, PathLooked(QUIET_MS)) is PathPlace.UP
    assert after(*up, PathLooked(QUIET_MS + 10)) is PathPlace.QUIET
    assert after(*up, PathLooked(QUIET_MS + 10), PacketCame(QUIET_MS + 20)) is PathPlace.UP
    assert after(*up, PathLooked(QUIET_MS + 10), PathLooked(LOST_MS + 10)) is PathPlace.LOST


def test_a_client_without_a_microphone_may_be_silent() -> None:
    assert after(PathConnected(0), PathLooked(LOST_MS * 2)) is PathPlace.UP


def test_every_place_but_the_last_ends_by_a_failure() -> None:
    for place in PathPlace:
        assert step(PathState(place), PathFailed(0)).place is PathPlace.LOST
    assert {row.target for row in ROWS} == set(PathPlace) - {PathPlace.NEW}
