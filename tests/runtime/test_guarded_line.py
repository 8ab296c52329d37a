"""A line that raises: the failure becomes an event, and the conversation continues."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.core.leaves import FaultSource
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import Sound
from duologue.runtime.guarded_line import GuardedLine
from duologue.testing import ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


class RaisingLine(ScriptedLine):
    """Raises in one of its methods, for as long as it is told to."""

    def __init__(self, method: str, times: int, after: int = 0) -> None:
        super().__init__()
        self.method, self.times, self.after = method, times, after

    def act(self, method: str) -> None:
        if method != self.method:
            return
        if self.after:
            self.after -= 1
        elif self.times:
            self.times -= 1
            raise RuntimeError("the line broke")

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self.act("play")
        super().play(voice, chunk, sound)

    def finish(self, voice: int) -> None:
        self.act("finish")
        super().finish(voice)

    def hold(self, voice: int) -> None:
        self.act("hold")
        super().hold(voice)

    def resume(self, voice: int) -> None:
        self.act("resume")
        super().resume(voice)

    def clear(self, voice: int) -> None:
        self.act("clear")
        super().clear(voice)


@pytest.mark.req("L-05")
@pytest.mark.parametrize("after", [0, 3])
def test_a_line_that_raises_while_it_plays_is_a_fault_and_nothing_unplayed_is_history(after: int) -> None:
    line = RaisingLine("play", times=1, after=after)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.state in ("faulted", "listening"), 20)
        heard_ms = 200 * after
        longest = " ".join(stage.heard)
        assert len(longest) <= heard_ms / 60 + 1, f"heard was {heard_ms} ms, history says {longest!r}"
        assert [fault.part for fault in stage.told(sg.Failed)] == [FaultSource.VOICE]
        await stage.rest()
        await stage.say("and again")
        await stage.rest()
        assert stage.heard[-1] == "Once more."

    play(scene, ScriptedBrain({"hello": TWO, "again": "Once more."}), line=line)


@pytest.mark.req("L-05", "M-06")
def test_a_line_that_raises_in_finish_is_a_fault() -> None:
    async def scene(stage: Stage) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: escaped.append(context))
        await stage.say("hello there")
        await stage.until(lambda: stage.state in ("faulted", "listening"), 20)
        assert escaped == []
        await stage.rest()
        await stage.say("and again")
        await stage.rest()
        assert stage.heard[-1] == "Once more."

    escaped: list[Any] = []
    brain = ScriptedBrain({"hello": TWO, "again": "Once more."})
    play(scene, brain, line=RaisingLine("finish", times=1))


@pytest.mark.req("C-REQ-007", "C-PER-002")
def test_a_line_that_can_not_be_cleared_does_not_keep_the_person_waiting() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(500)
        before = stage.now_ms
        stage.conversation.interrupt()
        await stage.until(lambda: stage.state == "listening")
        assert stage.now_ms - before <= 400
        await stage.say("and again")
        await stage.rest()
        assert stage.heard[-1] == "Once more."

    brain = ScriptedBrain({"hello": TWO, "again": "Once more."})
    play(scene, brain, line=RaisingLine("clear", times=9))


@pytest.mark.req("L-05", "V-02")
@pytest.mark.parametrize("method", ["hold", "resume"])
def test_a_line_that_can_not_hold_or_resume_does_not_end_the_conversation(method: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(500)
        stage.conversation.suspend("for a moment")
        await stage.sleep(500)
        stage.conversation.resume()
        await stage.rest()
        await stage.say("and again")
        await stage.rest()
        assert stage.heard[-1] == "Once more."

    brain = ScriptedBrain({"hello": TWO, "again": "Once more."})
    play(scene, brain, line=RaisingLine(method, times=1))


class DeafLine(ScriptedLine):
    """Can't play cues or ambient sound."""

    def play_cue(self, cue: int, sound: Sound) -> None:
        raise RuntimeError(f"no cue {cue} of {sound.ms} ms")

    def stop_cue(self) -> None:
        raise RuntimeError("no cue to stop")

    def set_ambient(self, sound: Sound | None) -> None:
        raise RuntimeError("no ambient sound")


def test_a_line_that_can_not_play_a_cue_is_reported_and_is_no_fault_of_the_voice() -> None:
    failed: list[str] = []

    class SilentDriver:
        def post(self, *event: Any, **fields: Any) -> None:
            raise AssertionError("a cue is no event of the machine")

    driver: Any = SilentDriver()
    line = GuardedLine(DeafLine(), driver, lambda part, failure: failed.append(f"{part}: {failure}"))
    assert not line.play_cue(1, Sound(300))
    assert not line.stop_cue()
    assert not line.set_ambient(None)
    assert failed == ["line: no cue 1 of 300 ms", "line: no cue to stop", "line: no ambient sound"]
