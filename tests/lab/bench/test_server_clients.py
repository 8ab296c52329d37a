"""The clients of the server bench compute what a page would have played, and report a server that isn't there."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest

from duologue.lab.bench.server_clients import ACK_S, FRAME_BYTES, BenchClient, PagePlayer, SteadyTimer
from duologue.runtime.simulated_clock import run_simulated


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


class Unconnected(BenchClient):
    """A client that keeps what it sends."""

    def __init__(self) -> None:
        super().__init__(1, "seat-1", bytes(range(256)) * 12, random.Random(1))
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.sent: list[bytes] = []

    def send(self, text: str) -> None:
        said = json.loads(text)
        self.said.append((said["type"], said["payload"]))

    def send_sound(self, data: bytes) -> None:
        self.sent.append(data)

    def gets(self, kind: str, **payload: Any) -> None:
        self.take(json.dumps({"type": f"duologue.{kind}", "payload": payload}).encode())

    def hears(self, voice: int, ms: int) -> None:
        self.take_sound(struct.pack("<BBHII", 1, 0, 0, voice, 1) + bytes(ms * 48))


def alone(script: Callable[[Unconnected], None]) -> None:
    async def whole() -> None:
        script(Unconnected())

    asyncio.run(whole())


def test_a_client_reports_what_a_page_would_have_played(clock: Clock) -> None:
    def script(client: Unconnected) -> None:
        client.acknowledge()
        client.hears(4, 500)
        clock.now_s += 0.2
        client.acknowledge()
        client.gets("play", action="finish", voice=4, ms=0)
        clock.now_s += 1
        client.acknowledge()
        client.acknowledge()
        assert client.said == [("played", {"voice": 4, "ms": 200}), ("finished", {"voice": 4, "ms": 500})]

    alone(script)


def test_a_client_obeys_commands_about_the_voice_that_it_plays(clock: Clock) -> None:
    def script(client: Unconnected) -> None:
        client.hears(4, 500)
        clock.now_s += 0.1
        client.gets("play", action="hold", voice=3, ms=0)
        assert client.noted.holds_s == []
        client.gets("play", action="hold", voice=4, ms=0)
        clock.now_s += 0.1
        client.acknowledge()
        assert client.noted.holds_s == [pytest.approx(100.1)]
        client.gets("play", action="resume", voice=4, ms=0)
        clock.now_s += 0.1
        client.gets("play", action="clear", voice=4, ms=0)
        assert client.said == [("stopped", {"voice": 4, "ms": 200})]

    alone(script)


def test_a_client_speaks_waits_for_the_answer_and_speaks_again(clock: Clock) -> None:
    def script(client: Unconnected) -> None:
        frames = client.frames()
        silence = bytes(FRAME_BYTES)
        for _ in range(200):
            client.speak(next(frames))
        spoken = [frame for frame in client.sent if frame != silence]
        assert spoken == client.speech, "it waits for an answer"
        assert client.is_ready.is_set()
        clock.now_s += 0.7
        client.hears(1, 100)
        assert client.noted.turns_ms == [pytest.approx(700)]
        client.gets("play", action="clear", voice=1, ms=0)
        for _ in range(200):
            client.speak(next(frames))
        assert [frame for frame in client.sent if frame != silence] == client.speech * 2
        assert len(client.noted.sent_s) == 400

    alone(script)


def test_what_the_server_refuses_is_a_failure_in_the_notes() -> None:
    def script(client: Unconnected) -> None:
        client.gets("caption", text="the words duologue.play and duologue.error")
        client.gets("error", code="refused", message="too many")
        assert client.noted.failures == ["{'code': 'refused', 'message': 'too many'}"]

    alone(script)


def test_a_steady_timer_does_not_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> list[float]:
        loop, times = asyncio.get_running_loop(), list[float]()
        clock = Clock()
        monkeypatch.setattr(clock, "monotonic", loop.time)
        monkeypatch.setattr("duologue.lab.bench.server_clients.time", clock)
        timer = SteadyTimer(ACK_S, lambda: times.append(round(loop.time() - began, 3)), 0.01)
        began = loop.time()
        await asyncio.sleep(0.2)
        timer.stop()
        await asyncio.sleep(1)
        return times

    assert run_simulated(scene()) == [0.07, 0.13, 0.19]
