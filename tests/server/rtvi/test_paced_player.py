"""The wire of a line whose client reports nothing, in simulated time."""

from __future__ import annotations

import asyncio
from typing import Any

from duologue.lines.browser import BrowserLine
from duologue.ports.line import Finished, Stopped
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.rtvi.paced_player import PacedPlayer
from duologue.server.rtvi.pacing import LEAD_MS


class Played:
    """A line with its player, what was sent, and what was reported."""

    def __init__(self) -> None:
        self.sent: list[tuple[float, bytes]] = []
        self.events: list[Any] = []
        self.given = 0
        self.line = BrowserLine()
        self.player = PacedPlayer(self.line, self._send, self._note)

    async def open(self) -> None:
        self.line.attach(self.player)
        await self.line.open(self.events.append)

    def _send(self, pcm: bytes) -> None:
        self.sent.append((asyncio.get_running_loop().time(), pcm))

    def _note(self) -> None:
        self.given += 1

    @property
    def pcm(self) -> bytes:
        return b"".join(piece for _, piece in self.sent)


def sound_of(ms: int) -> Sound:
    return Sound(ms, bytes(at % 251 for at in range(ms * 48)), 24_000)


def test_a_voice_is_sent_byte_for_byte_in_its_own_time_and_then_finished() -> None:
    async def whole() -> None:
        played = Played()
        await played.open()
        sound = sound_of(3_000)
        played.line.play(1, 1, sound)
        played.line.finish(1)
        await asyncio.sleep(1.0)
        assert 1_100 <= len(played.pcm) // 48 <= 1_000 + LEAD_MS
        await asyncio.sleep(4.0)
        assert played.pcm == sound.pcm
        assert [event.heard_ms for event in played.events if isinstance(event, Finished)] == [3_000]
        assert played.given >= 1

    run_simulated(whole())


def test_a_cleared_voice_stops_and_counts_as_far_as_it_was_sent() -> None:
    async def whole() -> None:
        played = Played()
        await played.open()
        played.line.play(1, 1, sound_of(3_000))
        await asyncio.sleep(0.5)
        sent_ms = len(played.pcm) // 48
        played.line.clear(1)
        await asyncio.sleep(1.0)
        assert len(played.pcm) // 48 == sent_ms
        assert [event.heard_ms for event in played.events if isinstance(event, Stopped)] == [sent_ms]
        played.line.play(2, 1, sound_of(100))
        await asyncio.sleep(0.5)
        assert len(played.pcm) // 48 == sent_ms + 100

    run_simulated(whole())


def test_a_closed_player_sends_nothing_more() -> None:
    async def whole() -> None:
        played = Played()
        await played.open()
        played.line.play(1, 1, sound_of(1_000))
        played.player.close()
        await asyncio.sleep(2.0)
        assert len(played.pcm) // 48 == LEAD_MS

    run_simulated(whole())
