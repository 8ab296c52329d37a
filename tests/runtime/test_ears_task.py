"""Ears that fail or stop are started again, and become a fault in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass, FaultSource
from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import ServiceError, SpeechBegan, SpeechEnded
from duologue.ports.ears import Incoming
from duologue.testing import ScriptedBrain, ScriptedEars, ScriptedLine, ScriptedSession
from tests.runtime.runtime_fakes import Stage, play


def echo(request: Any) -> str:
    return f"You said {request.text}."


@pytest.mark.req("L-12", "L-13")
def test_ears_that_break_are_started_again_after_one_two_and_four_seconds() -> None:
    starts: list[int] = []

    class Breaking(ScriptedEars):
        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Any]:
            starts.append(round(asyncio.get_running_loop().time() * 1000))
            if len(starts) < 4:
                raise ServiceError(ErrorClass.NETWORK_TIMEOUT)
            async for heard in super().listen(audio):
                yield heard

    async def scene(stage: Stage) -> None:
        await stage.sleep(8_000)
        assert starts == [0, 1_000, 3_000, 7_000]
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["You said hello there."]
        assert stage.told(sg.Failed) == []

    play(scene, ScriptedBrain(echo), ears=Breaking())


@pytest.mark.req("L-12", "M-19", "C-PAT-004", "C-REQ-003.later")
def test_ears_that_always_break_end_the_conversation_and_do_not_loop_for_ever() -> None:
    class Broken:
        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Any]:
            raise ServiceError(ErrorClass.NETWORK_TIMEOUT)
            yield

    async def scene(stage: Stage) -> None:
        async with asyncio.timeout(300):
            await stage.conversation.wait()
        assert {fault.part for fault in stage.told(sg.Failed)} == {FaultSource.EARS}
        assert stage.told(sg.Failed)[-1].fatal

    play(scene, ScriptedBrain(), ears=Broken())


@pytest.mark.req("L-12", "M-19")
@pytest.mark.parametrize("first", [(), (SpeechBegan(), SpeechEnded())])
def test_ears_that_always_report_nonsense_become_a_fault(first: tuple[Any, ...]) -> None:
    """Deaf for ever and silent about it is the worst of all."""

    class Garbling:
        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Any]:
            for heard in first:
                yield heard
            yield 5

    async def scene(stage: Stage) -> None:
        await stage.until(lambda: bool(stage.told(sg.Failed)), 120)
        assert stage.told(sg.Failed)[0].part is FaultSource.EARS

    play(scene, ScriptedBrain(), ears=Garbling(), profile=profile("confirm", dead_air_ms=0))


@pytest.mark.req("C-REQ-003.later")
def test_ears_that_just_stop_are_started_again() -> None:
    class Stopping(ScriptedEars):
        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Any]:
            if self.starts == 0:
                self.starts += 1
                return
            async for heard in super().listen(audio):
                yield heard

    async def scene(stage: Stage) -> None:
        await stage.sleep(1_100)
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["You said hello there."]

    play(scene, ScriptedBrain(echo), ears=Stopping())


@pytest.mark.req("C-REQ-003.later")
def test_while_the_ears_are_broken_what_the_user_types_is_answered() -> None:
    class BreakingOnce(ScriptedEars):
        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Any]:
            self.starts += 1
            raise ServiceError(ErrorClass.NETWORK_TIMEOUT)
            yield

    async def scene(stage: Stage) -> None:
        await stage.sleep(1_500)
        assert (stage.conversation.hearing, stage.state) == ("broken", "listening")
        stage.conversation.type("hello")
        await stage.until(lambda: stage.heard == ["You said hello."])

    play(scene, ScriptedBrain(echo), ears=BreakingOnce())


@pytest.mark.req("H-11.hearing", "C-REQ-003.later")
def test_ears_that_break_show_as_broken_and_as_on_only_after_they_listened_for_a_while() -> None:
    class BreakingOnce(ScriptedEars):
        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Any]:
            if self.starts == 0:
                self.starts += 1
                await asyncio.sleep(5)
                raise ServiceError(ErrorClass.NETWORK_TIMEOUT)
            async for heard in super().listen(audio):
                yield heard

    async def scene(stage: Stage) -> None:
        assert stage.conversation.hearing == "on"
        await stage.sleep(5_500)
        assert stage.conversation.hearing == "broken"
        await stage.sleep(900)
        assert stage.conversation.hearing == "loading", "started again, and not known to work"
        await stage.sleep(1_000)
        assert stage.conversation.hearing == "on"
        assert [changed.hearing for changed in stage.told(sg.HearingChanged)][-3:] == ["broken", "loading", "on"]

    play(scene, ScriptedBrain(echo), ears=BreakingOnce())


class SlowEars(ScriptedEars):
    """Ears that have to load first."""

    is_ready = False

    def __init__(self, load_ms: int) -> None:
        super().__init__()
        self._load_ms = load_ms

    async def prepare(self) -> None:
        await asyncio.sleep(self._load_ms / 1000)
        self.is_ready = True


def listens_at(stage: Stage) -> list[int]:
    entered = [signal for signal in stage.told(sg.StateEntered) if signal.view == "conversation"]
    return [signal.at for signal in entered if signal.state == "listening"]


@pytest.mark.req("C-REQ-003.start")
@pytest.mark.parametrize(
    ("line_ms", "session_ms", "ears_ms"), [(3_000, 0, 0), (0, 3_000, 0), (0, 0, 3_000), (400, 300, 200)]
)
def test_it_listens_when_capture_runs_and_the_session_and_the_ears_take_audio(
    line_ms: int, session_ms: int, ears_ms: int
) -> None:
    ready_ms = line_ms + session_ms + ears_ms

    async def scene(stage: Stage) -> None:
        starting = asyncio.ensure_future(stage.conversation.start())
        await stage.sleep(ready_ms - 1)
        assert stage.state == "preparing"
        await stage.sleep(1)
        await starting
        assert listens_at(stage) == [ready_ms]
        assert stage.line.is_open
        assert stage.conversation.hearing == "on"

    play(
        scene,
        ScriptedBrain(echo),
        ears=SlowEars(ears_ms),
        line=ScriptedLine(open_ms=line_ms),
        session=lambda: ScriptedSession(open_ms=session_ms),
        start=False,
    )


@pytest.mark.req("C-REQ-003.start")
def test_after_a_lost_line_it_listens_when_capture_runs_again() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.open_ms = 3_000
        stage.line.drop()
        lost_at = stage.now_ms
        await stage.sleep(3_900)
        assert stage.state != "listening"
        assert not stage.line.is_open
        await stage.rest()
        assert listens_at(stage)[-1] == lost_at + 1_000 + 3_000
        assert stage.line.is_open

    play(scene, ScriptedBrain(echo))


@pytest.mark.req("H-11.hearing", "C-REQ-003.start")
def test_ears_that_are_not_ready_keep_a_start_in_preparing() -> None:
    async def scene(stage: Stage) -> None:
        entered = [signal for signal in stage.told(sg.StateEntered) if signal.view == "phase"]
        assert [signal.state for signal in entered] == ["starting", "listening"]
        assert entered[1].at - entered[0].at == 4_000
        assert stage.conversation.hearing == "on"
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["You said hello there."]

    play(scene, ScriptedBrain(echo), ears=SlowEars(4_000))


def test_ears_that_cannot_be_made_ready_fail_as_ears_do() -> None:
    class Unloadable(SlowEars):
        async def prepare(self) -> None:
            raise OSError("no model")

        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Any]:
            raise ServiceError(ErrorClass.UNKNOWN)
            yield

    async def scene(stage: Stage) -> None:
        await stage.until(lambda: bool(stage.told(sg.Failed)), 60)
        assert stage.told(sg.Failed)[0].part is FaultSource.EARS
        assert stage.conversation.hearing == "broken"

    play(scene, ScriptedBrain(), ears=Unloadable(0))
