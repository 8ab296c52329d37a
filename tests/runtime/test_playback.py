"""Lines that report wrong things: the history contains what was heard, and nothing hangs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.core.leaves import FaultSource
from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import Finished, LineEvent, Played, Sound, Stopped, Unplayable
from duologue.ports.ears import SpeechBegan, SpeechEnded
from duologue.ports.history import AgentSaid
from duologue.ports.store import StoreFailed
from duologue.runtime.agent import Agent
from duologue.runtime.checkpoint_writer import CheckpointWriter
from duologue.runtime.conversation import Conversation
from duologue.runtime.simulated_clock import run_simulated
from duologue.store.memory import MemoryStore
from duologue.testing import ScriptedBrain, ScriptedVoice
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


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
def test_a_line_that_stops_unasked_does_not_lose_the_reply() -> None:
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
        super().clear(voice)
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


WRITE_S = 1.5


class Slow(MemoryStore):
    """Takes its time, and notes the voice whose beginning is safe."""

    safe_voice = 0

    async def write(self, *given: Any) -> int:
        await asyncio.sleep(WRITE_S)
        done = await super().write(*given)
        kept = await self.read("call")
        assert kept is not None
        self.safe_voice = kept.parts["machine"]["state"]["voice_id"]
        return done


@pytest.mark.req("D-13")
@pytest.mark.parametrize("cough_ms", [100, 300, 600])
def test_a_cough_before_the_first_sound_does_not_let_it_begin_before_it_is_safe(cough_ms: int) -> None:
    """Held and let go before it began: it begins when it is safe, and is heard to its end."""

    async def scene() -> None:
        store, line, ears = Slow(), ScriptedLine(), ScriptedEars()
        lease, kept = await store.claim("call", "node", 600_000)
        agent = Agent(ScriptedBrain(["Good day to you."]), voice=ScriptedVoice(), ears=ears)
        talk = Conversation(agent, line, conversation_id="call")
        talk.engine.save_with(CheckpointWriter(store, lease, kept.revision, lambda: None, lambda problem: None))
        early: list[int] = []
        play = line.play

        def noting(voice: int, *given: Any) -> None:
            if store.safe_voice < voice:
                early.append(voice)
            play(voice, *given)

        line.play = noting  # type: ignore[method-assign]
        await talk.start()
        talk.type("hello there")
        while talk.phase != "speaking":
            await asyncio.sleep(0.01)
        ears.tell(SpeechBegan(1))
        await asyncio.sleep(cough_ms / 1000)
        ears.tell(SpeechEnded(1))
        async with asyncio.timeout(30):
            while talk.phase != "listening":
                await asyncio.sleep(0.01)
        assert early == []
        heard = [item.text for item in talk.history if isinstance(item, AgentSaid) and item.text]
        assert heard == ["Good day to you."]
        await talk.end()

    run_simulated(scene())


class Away(Slow):
    """Fails until this time, then takes its time."""

    def __init__(self, until_s: float) -> None:
        super().__init__()
        self.until_s = until_s

    async def write(self, *given: Any) -> int:
        if asyncio.get_running_loop().time() < self.until_s:
            raise StoreFailed("away")
        return await super().write(*given)


@pytest.mark.req("D-13")
@pytest.mark.parametrize(("away_s", "is_held"), [(0.0, True), (2.0, True), (60.0, False)])
def test_a_sound_is_held_while_the_store_is_away_for_a_short_time_and_played_if_it_stays_away(
    away_s: float, is_held: bool
) -> None:
    async def scene() -> None:
        loop = asyncio.get_running_loop()
        store, line = Away(loop.time() + away_s), ScriptedLine()
        lease, kept = await store.claim("call", "node", 600_000)
        talk = Conversation(
            Agent(ScriptedBrain(["Good day to you."]), voice=ScriptedVoice()), line, conversation_id="call"
        )
        talk.engine.save_with(CheckpointWriter(store, lease, kept.revision, lambda: None, lambda problem: None))
        safe: list[bool] = []
        play = line.play

        def noting(voice: int, *given: Any) -> None:
            safe.append(store.safe_voice >= voice)
            play(voice, *given)

        line.play = noting  # type: ignore[method-assign]
        await talk.start()
        talk.type("hello there")
        async with asyncio.timeout(30):
            while not any(isinstance(item, AgentSaid) and item.text for item in talk.history):
                await asyncio.sleep(0.01)
        assert safe
        assert set(safe) == {is_held}
        assert [item.text for item in talk.history if isinstance(item, AgentSaid)] == ["Good day to you."]
        await talk.end()

    run_simulated(scene())
