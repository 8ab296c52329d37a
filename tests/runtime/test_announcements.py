"""Signals about states, turns, captions, faults and recoveries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.leaves import ErrorClass
from duologue.core.views import PHASES
from duologue.observe import signals as sg
from duologue.observe.labels import LANGUAGES, WAITS, label
from duologue.ports import ToolCall, Unplayable
from duologue.ports.ears import Final, SpeechBegan
from duologue.testing import Delay, Fail, ScriptedBrain, scripted_tool
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


@pytest.mark.req("L-20.handlers", "L-21", "C-REQ-010")
def test_every_transition_sends_exit_transition_and_enter_in_this_order() -> None:
    async def scene(stage: Stage) -> None:
        await talk(stage)
        for view in ("conversation", "lifecycle"):
            moves = [
                s
                for s in stage.signals
                if isinstance(s, sg.StateExited | sg.Transitioned | sg.StateEntered) and s.view == view
            ]
            assert len(moves) % 3 == 0
            entered_at = 0
            for exited, moved, entered in zip(moves[::3], moves[1::3], moves[2::3], strict=True):
                assert isinstance(exited, sg.StateExited)
                assert isinstance(moved, sg.Transitioned)
                assert isinstance(entered, sg.StateEntered)
                assert exited.at == moved.at == entered.at
                assert (exited.state, entered.state) == (moved.source, moved.target)
                assert exited.duration_ms == moved.at - entered_at
                assert moved.cause
                assert entered.context["session"] >= 0
                entered_at = moved.at

    brain, agent = talker()
    play(scene, brain, **agent)


@pytest.mark.req("L-20.handlers", "L-21", "C-PAT-002")
def test_timeouts_errors_and_recoveries_are_on_the_bus() -> None:
    async def scene(stage: Stage) -> None:
        errors: list[sg.Failed] = []
        stage.conversation.on_error(errors.append)
        await talk(stage)
        assert [error.error for error in errors] == [ErrorClass.UNKNOWN]
        assert errors[0].hint
        assert "dismiss" in [signal.timer for signal in stage.told(sg.TimedOut)]
        assert "fault" in [signal.source for signal in stage.told(sg.Recovered)]
        times = [signal.at for signal in stage.signals]
        assert times == sorted(times)

    brain, agent = talker()
    play(scene, brain, **agent)


@pytest.mark.req("C-API.observers", "C-PAT-002")
def test_turns_of_both_sides_are_reported_from_start_to_end() -> None:
    async def scene(stage: Stage) -> None:
        turns: list[Any] = []
        off = stage.conversation.on_turn_event(turns.append)
        await stage.say("hello there")
        await stage.sleep(700)
        await stage.say("no stop it please")
        await stage.rest()
        off()
        told = [(type(signal).__name__, signal.turn.role) for signal in turns]
        assert told == [
            ("TurnStarted", "user"),
            ("TurnCompleted", "user"),
            ("TurnStarted", "assistant"),
            ("TurnStarted", "user"),
            ("TurnInterrupted", "assistant"),
            ("TurnCompleted", "user"),
            ("TurnStarted", "assistant"),
            ("TurnCompleted", "assistant"),
        ]
        assert turns[1].turn.transcript == "hello there"
        assert turns[1].turn.confidence == 0.9
        count = len(turns)
        await stage.say("and again")
        assert len(turns) == count

    play(scene, ScriptedBrain([TWO, "Fine."]))


@pytest.mark.req("C-INT-004", "C-UI")
def test_captions_follow_what_is_heard() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        captions = [caption for caption in stage.told(sg.Caption) if caption.role == "assistant"]
        lengths = [len(caption.text) for caption in captions]
        assert lengths == sorted(lengths)
        assert captions[-1].final
        assert captions[-1].text == TWO
        assert all(not caption.final for caption in captions[:-1])
        users = [caption.text for caption in stage.told(sg.Caption) if caption.role == "user"]
        assert users[:2] == ["hello", "hello there"]

    play(scene, ScriptedBrain([TWO]))


async def by_voice(stage: Stage) -> None:
    await stage.say("no wait please")


async def by_writing(stage: Stage) -> None:
    stage.conversation.type("no wait please")


async def by_a_button(stage: Stage) -> None:
    stage.conversation.interrupt("button")


async def by_the_program(stage: Stage) -> None:
    stage.conversation.interrupt()


async def by_an_event(stage: Stage) -> None:
    stage.conversation.transition(ev.InterruptRequested)


async def by_a_lost_line(stage: Stage) -> None:
    stage.line.drop()


async def by_a_line_that_fails(stage: Stage) -> None:
    stage.conversation.notify_voice(Unplayable(1, ErrorClass.UNKNOWN))


async def by_the_end(stage: Stage) -> None:
    await stage.conversation.end("closing time")


@pytest.mark.req("C-API.interrupted")
@pytest.mark.parametrize(
    ("interrupt", "by"),
    [
        (by_voice, "user"),
        (by_writing, "user"),
        (by_a_button, "button"),
        (by_the_program, "program"),
        (by_an_event, "program"),
        (by_a_lost_line, "line"),
        (by_a_line_that_fails, "fault"),
        (by_the_end, "end"),
    ],
)
def test_each_interruption_tells_who_or_what_it_was(interrupt: Callable[[Stage], Awaitable[None]], by: str) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(700)
        await interrupt(stage)
        await stage.until(lambda: bool(stage.told(sg.TurnInterrupted)))
        assert [told.by for told in stage.told(sg.TurnInterrupted)] == [by]

    play(scene, ScriptedBrain([TWO, "Fine."]))


@pytest.mark.req("C-API.interrupted")
def test_a_command_tells_nothing_about_a_later_interruption() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(700)
        stage.conversation.interrupt("button")
        await stage.until(lambda: stage.state == "listening")
        stage.conversation.interrupt("button")  # there is nothing to interrupt
        await stage.say("go on please")
        await stage.sleep(700)
        await stage.say("no wait please")
        await stage.until(lambda: len(stage.told(sg.TurnInterrupted)) == 2)
        assert [told.by for told in stage.told(sg.TurnInterrupted)] == ["button", "user"]

    play(scene, ScriptedBrain([TWO, TWO, TWO]))


@pytest.mark.req("L-03.logged")
def test_the_length_of_the_audio_ends_with_its_commit_and_not_with_its_text() -> None:
    async def scene(stage: Stage) -> None:
        await stage.sleep(500)
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(1_000)
        stage.conversation.send()
        await stage.sleep(400)
        stage.ears.tell(Final("hello there", 0.9, 1))
        await stage.rest()
        assert stage.told(sg.TurnAudioCommitted) == [sg.TurnAudioCommitted(1_500, 1, 1_000)]
        assert stage.told(sg.TurnCompleted)[0].turn.duration_ms == 1_400

    play(scene, ScriptedBrain(["Good day."]))


@pytest.mark.req("C-INT-003")
@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ja"])
def test_every_state_and_wait_has_a_label_of_its_own_in_five_languages(language: str) -> None:
    assert language in LANGUAGES
    texts = [label(key, language) for key in (*PHASES, *WAITS)]
    assert all(text and text not in (*PHASES, *WAITS) for text in texts)
    assert len(set(texts[: len(PHASES)])) == len(PHASES)
    assert label("idle", f"{language.upper()}-XX") == label("idle", language)
