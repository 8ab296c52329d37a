"""The clients of the server bench compute what a page would have played, and report a server that isn't there."""

from __future__ import annotations

import asyncio
import random
import socket
import time

import pytest

from duologue.lab.bench.server_clients import FRAME_BYTES, BenchClient, PagePlayer


class Clock:
    """Stands where `time` would; the test sets it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("duologue.lab.bench.server_clients.time", made)
    return made


def test_sound_is_played_as_time_passes_and_never_more_than_has_come(clock: Clock) -> None:
    player = PagePlayer()
    player.add(1, 500)
    clock.now_s += 0.3
    assert player.move() == pytest.approx(300)
    player.is_complete = True
    clock.now_s += 9
    assert player.move() == pytest.approx(500)
    assert player.is_done
    assert player.gap_ms == 0


def test_sound_that_comes_too_late_leaves_a_gap(clock: Clock) -> None:
    player = PagePlayer()
    player.add(1, 100)
    clock.now_s += 0.17
    player.add(1, 100)
    assert player.gap_ms == pytest.approx(70)


def test_held_sound_waits_and_leaves_no_gap(clock: Clock) -> None:
    player = PagePlayer()
    player.add(1, 400)
    clock.now_s += 0.1
    player.hold(True)
    clock.now_s += 5
    assert player.move() == pytest.approx(100)
    player.hold(False)
    clock.now_s += 0.1
    assert player.move() == pytest.approx(200)
    assert player.gap_ms == 0


def test_another_voice_begins_from_nothing(clock: Clock) -> None:
    player = PagePlayer()
    player.add(1, 100)
    clock.now_s += 5
    player.add(2, 100)
    assert (player.voice, player.move(), player.gap_ms) == (2, 0, 0)


def test_a_server_that_refuses_is_a_failure_in_the_notes() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        port = taken.getsockname()[1]

        async def run() -> list[str]:
            client = BenchClient(port, "seat-1", bytes(FRAME_BYTES), random.Random(1))
            return (await client.run(time.monotonic() + 5)).failures

        failures = asyncio.run(run())
    assert len(failures) == 1
    assert "ConnectionRefusedError" in failures[0]
