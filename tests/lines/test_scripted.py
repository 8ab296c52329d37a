"""The line of simulations: exact to the millisecond on the event loop's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from duologue.lines.scripted import ScriptedLine, Sounded
from duologue.ports.line import Closed, Finished, Healed, LineEvent, Played, Stopped, Wobbled
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated


def on_a_line(script: Callable[[ScriptedLine], Awaitable[None]]) -> tuple[ScriptedLine, list[LineEvent]]:
    line, events = ScriptedLine(), list[LineEvent]()

    async def run() -> None:
        await line.open(events.append)
        await script(line)

    run_simulated(run())
    return line, events


def test_progress_is_reported_every_100_ms_and_the_end_once() -> None:
    async def script(line: ScriptedLine) -> None:
        line.play(1, 1, Sound(250))
        line.finish(1)
        await asyncio.sleep(1)

    line, events = on_a_line(script)
    assert events == [Played(1, 100), Played(1, 200), Finished(1, 250)]
    assert line.played == {1: 250}


def test_a_hold_is_silent_at_that_millisecond_and_resume_continues_there() -> None:
    async def script(line: ScriptedLine) -> None:
        line.play(1, 1, Sound(250))
        line.finish(1)
        await asyncio.sleep(0.13)
        line.hold(1)
        assert not line.is_sounding
        await asyncio.sleep(5)
        assert line.heard_ms == 130
        line.resume(1)
        assert line.is_sounding
        await asyncio.sleep(0.2)

    assert on_a_line(script)[1][-1] == Finished(1, 250)


def test_a_clear_drops_the_rest_and_reports_what_was_heard() -> None:
    async def script(line: ScriptedLine) -> None:
        line.play(1, 1, Sound(1_000))
        await asyncio.sleep(0.14)
        line.clear(1)
        await asyncio.sleep(2)

    line, events = on_a_line(script)
    assert events == [Played(1, 100), Stopped(1, 140)]
    assert [(act.at_ms, act.what) for act in line.log] == [(0, "play"), (140, "clear")]


def test_a_gap_between_two_pieces_is_not_heard() -> None:
    async def script(line: ScriptedLine) -> None:
        line.play(1, 1, Sound(50))
        await asyncio.sleep(1)
        line.play(1, 2, Sound(50))
        line.finish(1)
        await asyncio.sleep(1)

    assert on_a_line(script)[1][-1] == Finished(1, 100)


def test_scripts_make_the_connection_fail_and_return() -> None:
    async def script(line: ScriptedLine) -> None:
        line.wobble()
        line.heal()
        line.drop()
        assert not line.is_open
        line.block()
        opening = asyncio.ensure_future(line.open(line.tell))
        await asyncio.sleep(1)
        assert not opening.done()
        line.unblock()
        await opening
        line.open_failures.append(ConnectionError("no network"))
        with pytest.raises(ConnectionError, match="no network"):
            await line.open(line.tell)
        assert line.opens == 3

    assert on_a_line(script)[1] == [Wobbled(), Healed(), Closed()]


# -- Cues


def test_a_cue_is_heard_and_listed_with_its_times_and_no_event_is_sent() -> None:
    async def script(line: ScriptedLine) -> None:
        await asyncio.sleep(1)
        line.play_cue(3, Sound(400))
        await asyncio.sleep(0.1)
        assert line.is_cue_sounding
        assert line.sounded == [Sounded("cue", 3, 1_000, 1_100)]
        await asyncio.sleep(1)
        assert not line.is_cue_sounding
        assert line.sounded == [Sounded("cue", 3, 1_000, 1_400)]

    _, events = on_a_line(script)
    assert events == []


def test_a_stopped_cue_is_silent_at_that_millisecond() -> None:
    async def script(line: ScriptedLine) -> None:
        line.play_cue(1, Sound(400))
        await asyncio.sleep(0.15)
        line.stop_cue()
        await asyncio.sleep(1)
        line.stop_cue()
        assert line.sounded == [Sounded("cue", 1, 0, 150)]

    on_a_line(script)


def test_the_first_sound_of_a_voice_silences_the_cue_and_a_held_voice_leaves_room_for_one() -> None:
    async def script(line: ScriptedLine) -> None:
        line.play_cue(1, Sound(400))
        await asyncio.sleep(0.1)
        line.play(1, 1, Sound(500))
        line.finish(1)
        await asyncio.sleep(0.2)
        line.play_cue(2, Sound(100))  # the voice is heard: dropped
        line.hold(1)
        line.play_cue(3, Sound(1_000))
        await asyncio.sleep(0.3)
        line.resume(1)
        await asyncio.sleep(1)
        assert line.sounded == [
            Sounded("cue", 1, 0, 100),
            Sounded("voice", 1, 100, 300),
            Sounded("cue", 3, 300, 600),
            Sounded("voice", 1, 600, 900),
        ]

    _, events = on_a_line(script)
    assert events[-1] == Finished(1, 500)


def test_more_of_a_cue_follows_it_and_another_number_replaces_it() -> None:
    async def script(line: ScriptedLine) -> None:
        line.play_cue(1, Sound(100))
        line.play_cue(1, Sound(100))
        await asyncio.sleep(0.15)
        line.play_cue(2, Sound(50))
        await asyncio.sleep(1)
        line.play_cue(2, Sound(50))
        await asyncio.sleep(1)
        assert line.sounded == [
            Sounded("cue", 1, 0, 150),
            Sounded("cue", 2, 150, 200),
            Sounded("cue", 2, 1_150, 1_200),
        ]

    on_a_line(script)


def test_a_voice_that_came_in_pieces_without_a_gap_is_listed_as_one() -> None:
    async def script(line: ScriptedLine) -> None:
        for _ in range(3):
            line.play(1, 1, Sound(100))
            await asyncio.sleep(0.05)
        await asyncio.sleep(1)
        line.play(1, 4, Sound(100))
        line.finish(1)
        await asyncio.sleep(1)
        assert line.sounded == [Sounded("voice", 1, 0, 300), Sounded("voice", 1, 1_150, 1_250)]

    on_a_line(script)


def test_on_a_line_that_is_gone_no_cue_is_heard() -> None:
    async def script(line: ScriptedLine) -> None:
        line.play_cue(1, Sound(400))
        await asyncio.sleep(0.1)
        line.drop()
        line.play_cue(2, Sound(400))
        await asyncio.sleep(1)
        assert line.sounded == [Sounded("cue", 1, 0, 100)]

    on_a_line(script)


def test_the_ambient_sound_is_known() -> None:
    async def script(line: ScriptedLine) -> None:
        line.set_ambient(Sound(900))
        assert line.ambient == Sound(900)
        assert line.sounded == []

    on_a_line(script)


def test_after_a_drop_the_line_reports_what_was_played_and_says_if_that_is_not_certain() -> None:
    for knows_heard in (True, False):
        told: list[LineEvent] = []

        async def scene(knows_heard: bool = knows_heard, told: list[LineEvent] = told) -> None:
            line = ScriptedLine()
            line.knows_heard = knows_heard
            await line.open(told.append)
            line.play(1, 1, Sound(500))
            await asyncio.sleep(0.3)
            line.drop()
            line.clear(1)
            await asyncio.sleep(0)

        run_simulated(scene())
        assert told[-1] == Stopped(1, 300, is_exact=knows_heard)
