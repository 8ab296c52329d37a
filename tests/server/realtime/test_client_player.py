"""The client's loudspeaker, as the server reckons it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from duologue.lines.browser import BrowserLine
from duologue.ports.line import Finished, LineEvent, Played, Stopped
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.realtime.client_player import LATE_MS, ClientPlayer


class Stage:
    """A line with a player, and what both reported."""

    def __init__(self) -> None:
        self.line = BrowserLine()
        self.told: list[LineEvent] = []
        self.sent_ms = 0
        self.complete: list[int] = []
        self.cut: list[int] = []
        self.player = ClientPlayer(self.line, self._sound, self.complete.append, self.cut.append)

    def _sound(self, voice: int, pcm: bytes) -> None:
        self.sent_ms += len(pcm) // 48

    def of(self, kind: type) -> list[int]:
        return [event.heard_ms for event in self.told if isinstance(event, kind)]  # type: ignore[union-attr]


def on_stage(script: Callable[[Stage], Awaitable[None]]) -> None:
    async def whole() -> None:
        stage = Stage()
        stage.line.attach(stage.player)
        await stage.line.open(stage.told.append)
        stage.line.play(1, 1, Sound(3_000))
        await script(stage)
        await stage.line.close()
        stage.player.close()

    run_simulated(whole())


def test_sound_is_played_at_its_own_speed_and_reported_late() -> None:
    async def script(stage: Stage) -> None:
        assert stage.sent_ms == 1_000, "only a little is sent ahead"
        await asyncio.sleep(1.0)
        assert stage.player.played_ms(1) == 1_000
        assert stage.player.played_ms(2) is None
        assert stage.player.reported_ms(1) <= 1_000 - LATE_MS
        stage.line.finish(1)
        await asyncio.sleep(5)
        assert stage.complete == [1]
        assert stage.of(Finished) == [3_000]
        assert stage.of(Played) == sorted(stage.of(Played))

    on_stage(script)


def test_a_hold_sends_no_more_and_a_resume_goes_on() -> None:
    async def script(stage: Stage) -> None:
        await asyncio.sleep(0.3)
        stage.line.hold(1)
        sent_ms = stage.sent_ms
        await asyncio.sleep(3)
        assert stage.sent_ms == sent_ms
        assert stage.player.played_ms(1) == sent_ms, "the client plays on what it has"
        stage.line.resume(1)
        stage.line.finish(1)
        await asyncio.sleep(4)
        assert stage.sent_ms == 3_000
        assert stage.of(Finished) == [3_000]

    on_stage(script)


def test_a_cut_voice_waits_for_the_client_and_else_counts_as_played_so_far() -> None:
    async def truncates(stage: Stage) -> None:
        await asyncio.sleep(1.0)
        stage.line.clear(1)
        assert stage.cut == [1]
        await asyncio.sleep(0.1)
        assert not stage.player.stop(1, 900)
        assert stage.of(Stopped) == [900]

    async def says_nothing(stage: Stage) -> None:
        await asyncio.sleep(1.0)
        stage.line.clear(1)
        await asyncio.sleep(1.0)
        assert stage.of(Stopped) == [1_000]

    on_stage(truncates)
    on_stage(says_nothing)


def test_a_client_that_stops_by_itself_stops_the_agent() -> None:
    async def script(stage: Stage) -> None:
        await asyncio.sleep(1.0)
        assert stage.player.stop(1, 700), "the conversation must be told"
        stage.line.clear(1)
        stage.player.stop(1, 700)
        assert stage.of(Stopped) == [700]
        assert not stage.player.stop(9, 700)

    on_stage(script)
