"""Voices that break and lines that lie: history holds what was heard, and nothing hangs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass, FaultSource
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import Finished, LineEvent, Played, ServiceError, Sound, Stopped, Unplayable
from duologue.ports.history import AgentSaid
from duologue.testing import ScriptedBrain, ScriptedVoice
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


class Voice:
    """Speaks like a scripted voice, but for what a test does to each sentence."""

    def __init__(self, spoil: Callable[[int], AsyncIterator[Any]] | None = None) -> None:
        self.spoil = spoil
        self.sentences: list[str] = []

    async def speak(self, text: str) -> AsyncIterator[Any]:
        self.sentences.append(text)
        if self.spoil is not None:
            async for sound in self.spoil(len(self.sentences)):
                yield sound
            return
        async for sound in ScriptedVoice().speak(text):
            yield sound


async def hear_answer(stage: Stage) -> None:
    await stage.say("hello there")
    await stage.rest()


# -- Voices


@pytest.mark.req("L-12", "L-13")
def test_a_voice_that_fails_before_its_first_sound_is_tried_again() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        if count == 1:
            raise ServiceError(ErrorClass.SERVER_ERROR)
        yield Sound(400)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["Good day."]

    play(scene, ScriptedBrain(["Good day.", "Good day."]), voice=Voice(spoil))


@pytest.mark.req("L-12", "C-SEC-003")
def test_a_voice_that_refuses_our_key_is_named_in_the_hint() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        raise ServiceError(ErrorClass.AUTH_FAILURE)
        yield Sound(400)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: bool(stage.told(sg.Failed)))
        fault = stage.told(sg.Failed)[0]
        assert fault.part is FaultSource.VOICE, f"the person is sent to the wrong service: {fault.hint}"
        assert "voice" in fault.hint

    play(scene, ScriptedBrain(["Good day."]), voice=Voice(spoil))


@pytest.mark.req("M-05", "L-06")
def test_of_a_voice_that_fails_in_mid_speech_the_history_holds_what_was_heard() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        yield Sound(600)
        if count == 2:
            raise ServiceError(ErrorClass.SERVER_ERROR)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard[0].startswith("Here is the first sentence.")
        assert "longer" not in stage.heard[0]

    play(scene, ScriptedBrain([TWO]), voice=Voice(spoil))


@pytest.mark.req("V-01", "V-05")
def test_a_voice_without_a_sound_does_not_pass_for_an_answer() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        for _ in ():
            yield Sound(1)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        noticed = bool(stage.told(sg.Failed) or stage.problems or stage.lost)
        assert noticed or stage.heard, "the person heard nothing, saw nothing, and nobody was told"

    play(scene, ScriptedBrain(["Good day."]), voice=Voice(spoil))


@pytest.mark.req("L-06")
def test_a_sentence_without_a_sound_is_not_heard() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        if count != 2:
            yield Sound(500)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["First. Third."]

    play(scene, ScriptedBrain(["First. Second. Third."]), voice=Voice(spoil))


@pytest.mark.req("L-12")
@pytest.mark.parametrize("garbage", [None, 5, b"pcm", "text"])
def test_a_voice_that_yields_garbage_becomes_a_fault_and_the_turn_is_reported(garbage: object) -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        yield garbage

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.told(sg.Failed)
        assert stage.lost == ["hello there"]
        assert stage.state == "listening"

    play(scene, ScriptedBrain(["Good day."] * 3), voice=Voice(spoil))


@pytest.mark.req("M-06")
def test_a_voice_that_hangs_in_mid_speech_is_not_waited_for_for_ever() -> None:
    async def spoil(count: int) -> AsyncIterator[Any]:
        yield Sound(500)
        if count == 1:
            await asyncio.get_running_loop().create_future()

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.now_ms < 20_000
        await stage.say("and again")
        await stage.rest()
        assert stage.heard[-1] == "Once more."

    play(scene, ScriptedBrain([TWO, "Once more."]), voice=Voice(spoil))


@pytest.mark.req("C-INT-005", "V-05")
def test_a_voice_that_raises_a_cancel_of_its_own_does_not_pass_for_an_answer() -> None:
    """Libraries that build on other cancel scopes let CancelledError escape."""

    async def spoil(count: int) -> AsyncIterator[Any]:
        if count == 1:
            raise asyncio.CancelledError
        yield Sound(500)

    async def scene(stage: Stage) -> None:
        await hear_answer(stage)
        assert stage.heard == ["Good day."]

    play(scene, ScriptedBrain(["Good day."] * 3), voice=Voice(spoil))


def test_a_sound_of_no_length_can_not_be_made() -> None:
    for ms in (0, -5, 1.5, "5", None, True):
        with pytest.raises(ValueError, match="milliseconds"):
            Sound(ms)  # type: ignore[arg-type]


# -- Lines that raise


class RaisingLine(ScriptedLine):
    """Raises in one of its methods, for as long as it is told to."""

    def __init__(self, method: str, times: int, after: int = 0) -> None:
        super().__init__()
        self.method, self.times, self.after = method, times, after

    def _act(self, method: str) -> None:
        if method != self.method:
            return
        if self.after:
            self.after -= 1
        elif self.times:
            self.times -= 1
            raise RuntimeError("the line broke")

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self._act("play")
        super().play(voice, chunk, sound)

    def finish(self, voice: int) -> None:
        self._act("finish")
        super().finish(voice)

    def hold(self, voice: int) -> None:
        self._act("hold")
        super().hold(voice)

    def resume(self, voice: int) -> None:
        self._act("resume")
        super().resume(voice)

    def clear(self, voice: int) -> None:
        self._act("clear")
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
def test_a_line_that_raises_when_it_is_told_that_no_more_comes_is_a_fault() -> None:
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


@pytest.mark.req("L-12", "C-CON-002")
def test_a_line_that_can_not_be_opened_is_tried_again_after_the_fault() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.open_failures = [OSError("no route")]
        await stage.conversation.start()
        assert stage.state == "listening"
        assert [fault.error for fault in stage.told(sg.Failed)] == [ErrorClass.NETWORK_TIMEOUT]

    play(scene, ScriptedBrain(), start=False)


# -- Lines that lie


@pytest.mark.req("C-GUD-004", "V-01")
@pytest.mark.parametrize(
    "lie",
    [
        Played(99, 500),
        Played(1, -5),
        Played(1, "500"),  # type: ignore[arg-type]
        Played(1, 1.5),  # type: ignore[arg-type]
        Played(1, True),
        Played("1", 100),  # type: ignore[arg-type]
        Finished(99, 500),
        Stopped(99, 500),
        Stopped(1, None),  # type: ignore[arg-type]
        Unplayable(99),
        Unplayable(1, "nonsense"),  # type: ignore[arg-type]
        "nonsense",
        None,
        object,
    ],
    ids=str,
)
def test_nonsense_from_the_line_changes_nothing(lie: Any) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(300)
        stage.line.tell(lie)
        await stage.rest()
        assert stage.heard == [TWO]
        assert stage.told(sg.Failed) == []

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("V-01", "L-06")
def test_a_line_that_claims_more_than_there_is_is_believed_up_to_what_there_is() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(300)
        stage.line.tell(Played(1, 10**15))
        await stage.sleep(10)
        assert stage.conversation.context["audio_played_ms"] < 10_000
        await stage.rest()
        assert stage.heard == [TWO]

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("V-01", "L-05")
def test_a_line_that_claims_to_have_finished_what_it_never_got_is_not_believed() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.state == "speaking")
        await stage.sleep(300)
        stage.line.tell(Finished(1, 300))
        assert stage.state == "speaking"
        await stage.rest()
        assert len(stage.heard) == 1
        assert stage.heard[0] == "One two three four. Five six seven eight."

    brain = ScriptedBrain(["One two three four. Five six seven eight."], token_ms=300)
    play(scene, brain)


@pytest.mark.req("V-01", "L-06")
def test_a_line_that_finishes_far_too_early_does_not_make_unheard_words_history() -> None:
    """It was told that no more comes, and says at once that 300 ms of five seconds were all."""

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: any(act.what == "finish" for act in stage.line.log))
        await stage.sleep(200)
        stage.line.tell(Finished(1, 300))
        await stage.rest()
        assert "longer" not in " ".join(stage.heard)

    play(scene, ScriptedBrain([TWO]))


@pytest.mark.req("C-GUD-004")
def test_a_line_that_says_it_stopped_though_nobody_asked_does_not_lose_the_reply() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(300)
        stage.line.tell(Stopped(1, 300))
        await stage.rest()
        assert stage.heard == [TWO]

    play(scene, ScriptedBrain([TWO]))


class DoubleLine(ScriptedLine):
    """Says everything twice."""

    def tell(self, event: LineEvent) -> None:
        super().tell(event)
        super().tell(event)


@pytest.mark.req("C-GUD-004")
def test_a_line_that_says_everything_twice_changes_nothing() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(700)
        await stage.say("no stop it please")
        await stage.rest()
        said = [item for item in stage.conversation.history if isinstance(item, AgentSaid)]
        assert [item.interrupted for item in said] == [True, False]
        assert said[1].text == "Once more."

    play(scene, ScriptedBrain({"hello": TWO, "stop": "Once more."}), line=DoubleLine())


class MuteLine(ScriptedLine):
    """Never says what it played."""

    def tell(self, event: LineEvent) -> None:
        pass


@pytest.mark.req("M-06", "L-05")
def test_a_line_that_never_acknowledges_stalls_into_a_fault_and_not_for_ever() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: bool(stage.told(sg.Failed)), 20)
        assert stage.told(sg.Failed)[0].part is FaultSource.VOICE
        await stage.rest()
        assert stage.state == "listening"

    play(scene, ScriptedBrain([TWO]), line=MuteLine())


@pytest.mark.req("C-PER-002", "C-AC-004", "M-21")
def test_a_line_that_never_confirms_silence_gives_the_floor_back_in_four_hundred_ms() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(300)
        before = stage.now_ms
        stage.conversation.interrupt("button")
        assert stage.state == "interrupted"
        await stage.until(lambda: stage.state == "listening")
        assert stage.now_ms - before <= 400

    play(scene, ScriptedBrain([TWO]), line=MuteLine())


class PromptLine(ScriptedLine):
    """Tells from inside the very call that asks."""

    def clear(self, voice: int) -> None:
        heard_ms = self.heard_ms
        self._end_track()
        self._note("clear", voice)
        self.tell(Stopped(voice, heard_ms))

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        super().play(voice, chunk, sound)
        self.tell(Played(voice, self.heard_ms))


@pytest.mark.req("V-03", "V-08")
def test_a_line_that_answers_within_the_call_is_understood() -> None:
    async def scene(stage: Stage) -> None:
        for _ in range(3):
            await stage.say("hello there")
            await stage.sleep(700)
        stage.conversation.interrupt()
        await stage.rest()
        said = [item for item in stage.conversation.history if isinstance(item, AgentSaid)]
        assert len(said) == 3
        assert all(item.interrupted for item in said)
        assert stage.problems == []

    play(scene, ScriptedBrain([TWO] * 3), line=PromptLine())


@pytest.mark.req("V-03", "V-05")
def test_after_a_barge_in_no_piece_of_the_old_reply_leaves() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(400)
        await stage.say("no stop it please")
        await stage.rest()
        log = stage.line.log
        cleared = next(index for index, act in enumerate(log) if act.what == "clear")
        assert not [act for act in log[cleared:] if act.voice == log[cleared].voice and act.what == "play"]
        assert stage.heard[-1] == "Once more."

    play(scene, ScriptedBrain({"hello": TWO, "stop": "Once more."}, token_ms=100))
