"""A seat holds one conversation at a time."""

from __future__ import annotations

import asyncio

import pytest

from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.runtime.conversation import Conversation, StartRefused
from duologue.runtime.seats import SeatTaken
from duologue.testing import ScriptedBrain, ScriptedSession
from tests.runtime.runtime_fakes import Stage, others, play


@pytest.mark.req("C-CON-002")
def test_a_seat_holds_one_conversation_at_a_time_and_is_free_after_its_end() -> None:
    async def scene(stage: Stage) -> None:
        second = Conversation(stage.agent, ScriptedLine(), seat="desk", seats=stage.seats)
        with pytest.raises(SeatTaken, match="desk"):
            await second.start()
        assert second.phase == "idle"
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day."]
        await stage.conversation.end("enough")
        await second.start()
        assert second.phase == "listening"
        await second.end("enough")
        assert len(stage.seats) == 0

    play(scene, ScriptedBrain(["Good day."]), seat="desk")


@pytest.mark.req("C-CON-002")
def test_a_seat_is_free_after_a_start_that_failed_for_good() -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(StartRefused):
            await stage.conversation.start()
        assert len(stage.seats) == 0
        assert stage.told(sg.Failed)[-1].fatal

    failures: list[BaseException | None] = [ConnectionError() for _ in range(9)]
    play(scene, ScriptedBrain(), start=False, seat="desk", session=lambda: ScriptedSession(failures=failures))


@pytest.mark.req("C-CON-002")
def test_a_seat_is_free_after_a_session_that_can_not_even_say_whether_it_is_active() -> None:
    class Broken(ScriptedSession):
        @property
        def active(self) -> bool:  # type: ignore[override]
            raise RuntimeError("no idea")

        @active.setter
        def active(self, value: bool) -> None:
            pass

    async def scene(stage: Stage) -> None:
        with pytest.raises((StartRefused, RuntimeError)):
            await stage.conversation.start()
        assert len(stage.seats) == 0

    play(scene, ScriptedBrain(), start=False, seat="desk", session=Broken)


@pytest.mark.req("C-CON-002")
def test_a_start_that_is_cancelled_gives_its_seat_back() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await stage.conversation.start()
        await stage.sleep(1_500)
        assert len(stage.seats) == 0
        assert others() == []

    play(scene, ScriptedBrain(), start=False, seat="desk")


@pytest.mark.req("C-CON-002")
def test_a_seat_is_free_after_a_crash_inside_async_with() -> None:
    async def scene(stage: Stage) -> None:
        async def crash() -> None:
            async with stage.conversation:
                await stage.say("hello there")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await crash()
        assert len(stage.seats) == 0
        assert stage.state == "idle"

    play(scene, ScriptedBrain(["Good day."]), start=False, seat="desk")
