"""The audio of a conversation for one service after another."""

from __future__ import annotations

from collections.abc import AsyncIterator

from duologue.failover.audio_feed import KEPT_FRAMES_MAX, QUIET_FRAMES, AudioFeed
from duologue.ports.ears import Commit, Frame, Incoming
from duologue.runtime.simulated_clock import run_simulated


async def source(*items: Incoming) -> AsyncIterator[Incoming]:
    for item in items:
        yield item


def frames(count: int) -> list[Frame]:
    return [Frame(bytes([number % 250, 0])) for number in range(count)]


def test_of_silence_only_the_newest_frames_are_kept_and_of_speech_all() -> None:
    async def work() -> None:
        given = frames(200)
        feed = AudioFeed(source(*given))
        await feed.pump()
        assert [item async for item in feed.open()] == []
        feed.is_needed = True
        assert [item async for item in feed.open()] == given[-QUIET_FRAMES:]

    run_simulated(work())


def test_what_is_kept_is_bounded() -> None:
    async def work() -> None:
        feed = AudioFeed(source(*frames(KEPT_FRAMES_MAX + 500)))
        feed.is_needed = True
        await feed.pump()
        assert len([item async for item in feed.open()]) == KEPT_FRAMES_MAX

    run_simulated(work())


def test_after_a_cut_nothing_is_lost_and_markers_are_given_once() -> None:
    async def work() -> None:
        given: list[Incoming] = [*frames(3), Commit(1), *frames(3)]
        feed = AudioFeed(source(*given))
        feed.on_commit = feed.cut
        first = feed.open()
        await feed.pump()
        assert [item async for item in first] == given[:4]
        assert feed.is_cut
        assert [item async for item in feed.open()] == given[4:]

    run_simulated(work())
