"""The parts of a conversation together: failing observers and effects, journals, and what problems may contain."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.observe.recorder import words_path
from duologue.ports import ToolCall
from duologue.ports.ears import Final
from duologue.replay.journal import read_journal, replay
from duologue.testing import Delay, Fail, ScriptedBrain, scripted_tool
from duologue.turns.endpoint import FixedSilence
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


async def talk(stage: Stage) -> None:
    """A whole life: a turn, an interruption, a tool, a fault."""
    await stage.say("hello there")
    await stage.sleep(700)
    await stage.say("no stop it please")
    await stage.rest()
    await stage.say("use the tool")
    await stage.rest()
    await stage.say("break down")
    await stage.rest()


def talker() -> tuple[ScriptedBrain, dict[str, Any]]:
    brain = ScriptedBrain([TWO, "Fine.", ToolCall("work"), "Used.", Fail(ErrorClass.UNKNOWN)])
    return brain, {"tools": [scripted_tool("work", Delay(1_000), "the tool's secret result")]}


@pytest.mark.req("C-SEC-001")
def test_the_journal_holds_no_word_of_the_conversation(tmp_path: Path) -> None:
    brain, agent = talker()
    play(talk, brain, journal=tmp_path / "call.jsonl", **agent)
    journal = (tmp_path / "call.jsonl").read_text()
    for word in ("hello", "please", "sentence", "Fine", "secret", "stop it"):
        assert word not in journal
    words = words_path(tmp_path / "call.jsonl").read_text()
    assert "hello there" in words
    assert "Here is the" in words


@pytest.mark.req("C-SEC-002")
def test_a_private_conversation_leaves_no_word_on_disk(tmp_path: Path) -> None:
    brain, agent = talker()
    play(talk, brain, journal=tmp_path / "call.jsonl", private=True, **agent)
    assert [path.name for path in tmp_path.iterdir()] == ["call.jsonl"]


@pytest.mark.req("C-SEC-001", "C-SEC-002")
@pytest.mark.parametrize("existed", [False, True])
def test_what_is_written_can_be_read_by_its_owner_alone(tmp_path: Path, existed: bool) -> None:
    paths = (tmp_path / "call.jsonl", tmp_path / "call.words.jsonl")
    if existed:
        for path in paths:
            path.write_text("old")
            path.chmod(0o644)
    brain, agent = talker()
    play(talk, brain, journal=paths[0], **agent)
    assert [oct(path.stat().st_mode & 0o777) for path in paths] == ["0o600", "0o600"]


@pytest.mark.req("C-SEC-001")
def test_a_journal_replays_to_the_very_state_in_which_the_conversation_ended(tmp_path: Path) -> None:
    brain, agent = talker()
    stage = play(talk, brain, journal=tmp_path / "call.jsonl", **agent)
    with (tmp_path / "call.jsonl").open() as lines:
        last = list(replay(read_journal(lines)))[-1]
    assert last.after == stage.conversation.machine_state


@pytest.mark.req("C-SEC-001")
def test_problems_contain_no_words_of_the_conversation() -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell("my secret sentence")  # type: ignore[arg-type]
        await stage.sleep(1_500)
        await talk(stage)
        told = " ".join(stage.problems)
        for word in ("secret", "hello", "sentence"):
            assert word not in told

    brain, agent = talker()
    play(scene, brain, **agent)


@pytest.mark.req("C-PAT-002")
@pytest.mark.parametrize("kind", [sg.Transitioned, sg.Caption, sg.TurnStarted])
def test_an_observer_that_raises_is_reported_and_costs_nothing(kind: type[sg.Signal]) -> None:
    async def scene(stage: Stage) -> None:
        def raises(signal: sg.Signal) -> None:
            raise RuntimeError("secret words")

        stage.conversation.on(kind, raises)
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day to you."]
        assert any(f"observer of {kind.__name__}" in problem for problem in stage.problems)
        assert not any("secret" in problem for problem in stage.problems)

    play(scene, ScriptedBrain(["Good day to you."]))


@pytest.mark.req("C-PAT-002")
@pytest.mark.parametrize("kind", [sg.Signal, sg.Problem])
def test_an_observer_that_raises_at_everything_costs_nothing_either(kind: type[sg.Signal]) -> None:
    async def scene(stage: Stage) -> None:
        def raises(signal: sg.Signal) -> None:
            raise RuntimeError

        stage.conversation.on(kind, raises)
        stage.conversation.on(sg.TurnStarted, raises)
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day to you."]

    play(scene, ScriptedBrain(["Good day to you."]))


@pytest.mark.req("C-PAT-002")
@pytest.mark.parametrize("kind", [ev.SpeechStarted, ev.TimerFired, ev.AudioBuffered, ev.PlaybackFinished])
def test_a_watcher_that_raises_costs_nothing(kind: type[ev.Event]) -> None:
    async def scene(stage: Stage) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)

        def raises(record: StepRecord) -> None:
            if type(record.event) is kind:
                raise RuntimeError("a watcher broke")

        stage.conversation.engine.watchers.insert(0, raises)
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day to you."]

    play(scene, ScriptedBrain(["Good day to you."]))


@pytest.mark.req("L-21")
@pytest.mark.parametrize("failing", ["add", "add_words", "close"])
def test_a_full_disk_does_not_cost_the_conversation(tmp_path: Any, failing: str) -> None:
    async def scene(stage: Stage) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)

        def full(*given: Any) -> None:
            raise OSError(28, "No space left on device")

        recorder = stage.conversation.engine.recorder
        assert recorder is not None
        setattr(recorder, failing, full)
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day to you."]
        async with asyncio.timeout(5):
            await stage.conversation.end("enough")

    play(scene, ScriptedBrain(["Good day to you."]), journal=tmp_path / "call.jsonl")


def test_an_effect_that_can_not_be_performed_is_reported_and_the_turn_is_still_answered() -> None:
    async def scene(stage: Stage) -> None:
        replies = stage.conversation.engine.replies
        start, broken = replies.start, [True]

        def start_later(*given: Any) -> None:
            if broken:
                broken.clear()
                raise RuntimeError("no reply today")
            start(*given)

        replies.start = start_later  # type: ignore[method-assign]
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day to you."]
        assert any(problem.startswith("StartReply") for problem in stage.problems)

    play(scene, ScriptedBrain(["Good day to you."]))


@pytest.mark.req("C-PAT-003")
def test_an_event_by_hand_that_makes_no_sense_leaves_the_conversation_as_it_was() -> None:
    async def scene(stage: Stage) -> None:
        conversation = stage.conversation
        for kind, given in ((ev.PlaybackProgressed, {"heard_ms": "five"}), (ev.SpeechStarted, {"loud": True})):
            with suppress(TypeError, ValueError):  # refusing it aloud is fine
                conversation.transition(kind, **given)
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["Good day to you."]

    play(scene, ScriptedBrain(["Good day to you."]))


def told(brain: ScriptedBrain) -> list[str]:
    return [request.text for request in brain.requests]


def certain() -> ScriptedBrain:
    return ScriptedBrain(lambda request: "Certainly.")


def test_words_that_a_handler_passes_on_inside_a_step_are_a_turn_of_their_own() -> None:
    brain = certain()

    async def scene(stage: Stage) -> None:
        done: list[int] = []

        def pass_on(signal: sg.TurnCompleted) -> None:
            if signal.turn.role == "assistant" and not done:
                done.append(1)
                stage.conversation.notify_transcript(Final("and a taxi", 0.9, 7))

        stage.conversation.on(sg.TurnCompleted, pass_on)
        await stage.say("book a table")
        await stage.sleep(8_000)

    play(scene, brain)
    assert told(brain) == ["book a table", "and a taxi"]


def test_an_observer_that_raises_a_cancel_can_not_keep_a_call_from_ending() -> None:
    async def scene(stage: Stage) -> None:
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        gone.cancel()
        stage.conversation.on(sg.StateEntered, lambda signal: gone.result() if signal.state == "idle" else None)
        async with asyncio.timeout(60):
            await stage.conversation.end()

    play(scene, certain())


def test_a_conversation_can_show_its_replies_instead_of_speaking_them() -> None:
    brain = ScriptedBrain(["It is sunny.", "And tomorrow it rains."])
    shown: list[int] = []

    async def scene(stage: Stage) -> None:
        engine = stage.conversation.engine
        engine.replies.on_shown = lambda: shown.append(1)
        engine.speak(False)
        await stage.say("what is the weather")
        await stage.rest()
        assert stage.line.played == {}
        assert stage.conversation.history[-1].text == "It is sunny."  # type: ignore[union-attr]
        engine.speak(True)
        await stage.say("and tomorrow")
        await stage.rest()
        assert sum(stage.line.played.values()) > 0

    play(scene, brain)
    assert shown == [1]


def test_the_end_of_turns_can_be_changed_during_a_call() -> None:
    async def scene(stage: Stage) -> None:
        engine = stage.conversation.engine
        engine.changes.update({"endpoint": FixedSilence(1_234)})
        assert engine.changes.newest.endpoint == FixedSilence(1_234)
        await stage.sleep(10)
        assert engine.hearing.policy.endpoint == FixedSilence(1_234)

    play(scene, certain())
