"""The line of simulations: exact to the millisecond on the event loop's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from duologue.lines.scripted import ScriptedLine
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
