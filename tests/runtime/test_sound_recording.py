"""A conversation is recorded only if that was asked for, and never if it is private."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from duologue import Agent, Context, Hooks
from duologue.observe import signals as sg
from duologue.ports.ears import Frame
from duologue.ports.sound import Sound
from duologue.replay.journal import read_journal
from duologue.testing import Call
from tests.observe.test_call_recording import PER_MS, loud
from tests.observe.test_stereo_file import samples_of


class Tone:
    """A voice with samples: each sentence is a second of sound."""

    async def speak(self, _: str) -> AsyncIterator[Sound]:
        for _ in range(10):
            yield Sound(100, array("h", [500] * 100 * PER_MS).tobytes(), 16_000)


def agent(private: bool = False) -> Agent:
    return Agent(lambda _: "Good day.", voice=Tone(), private=private)


def test_both_sides_have_the_milliseconds_of_the_journal(tmp_path: Path) -> None:
    with Call(agent(), journal=tmp_path / "call.jsonl", own_voice=True) as call:
        assert call.conversation.engine.sound_recording.start(tmp_path / "call.wav")
        began = call.now_ms
        call.waits(300)
        call.does(lambda: call.line.tell(Frame(array("h", [900] * 20 * PER_MS).tobytes())))
        spoke_at = call.now_ms - began
        call.user("hello").expect_heard("Good day.")
        (sounded,) = call.line.sounded
    left, right = samples_of(tmp_path / "call.wav")
    assert loud(left) == (spoke_at - 20, spoke_at)
    assert abs(loud(right)[0] - (sounded.start_ms - began)) <= 2
    assert abs(loud(right)[1] - (sounded.end_ms - began)) <= 2
    with (tmp_path / "call.jsonl").open() as lines:
        assert read_journal(lines).complete


def test_what_was_cut_off_is_not_in_the_recording(tmp_path: Path) -> None:
    with Call(Agent(lambda _: "One. Two. Three.", voice=Tone()), own_voice=True) as call:
        call.conversation.engine.sound_recording.start(tmp_path / "call.wav")
        call.user("hello").interrupts("no wait stop", after_ms=700)
        call.settles()
        heard_ms = sum(call.line.played.values())
    _, right = samples_of(tmp_path / "call.wav")
    assert abs(sum(bool(one) for one in right) // PER_MS - heard_ms) <= 5
    assert heard_ms < 6_000  # two answers of three seconds


def test_a_secret_answer_is_silence_in_the_recording(tmp_path: Path) -> None:
    spoken = Frame(array("h", [900] * 20 * PER_MS).tobytes())
    answers: list[str] = []

    async def ask(context: Context[Any]) -> None:
        answers.append(await context.ask("What is the number of your card?", secret=True))

    with Call(Agent(lambda _: "Good day.", voice=Tone(), hooks=Hooks(on_start=ask)), own_voice=True) as call:
        call.conversation.engine.sound_recording.start(tmp_path / "call.wav")
        start = call.now_ms
        call.settles().does(lambda: call.line.tell(spoken))
        call.user("four one one one").until(lambda: answers)
        began = call.settles().now_ms - start
        call.does(lambda: call.line.tell(spoken)).waits(100)
    left, _ = samples_of(tmp_path / "call.wav")
    assert answers == ["four one one one"]
    assert abs(loud(left)[0] - began) <= 25


def test_a_private_conversation_is_never_recorded(tmp_path: Path) -> None:
    with Call(agent(private=True), own_voice=True) as call:
        assert not call.conversation.engine.sound_recording.start(tmp_path / "call.wav")
        assert not call.conversation.engine.sound_recording.is_on
        call.user("hello").expect_heard("Good day.")
    assert list(tmp_path.iterdir()) == []


def test_without_being_asked_nothing_is_recorded() -> None:
    with Call(agent(), own_voice=True) as call:
        call.user("hello").expect_heard("Good day.")
        assert not call.conversation.engine.sound_recording.is_on


def test_a_frame_that_cant_be_recorded_ends_the_recording_and_not_the_call(tmp_path: Path) -> None:
    with Call(agent(), own_voice=True) as call:
        call.conversation.engine.sound_recording.start(tmp_path / "call.wav")
        call.does(lambda: call.line.tell(Frame(b"odd")))
        assert not call.conversation.engine.sound_recording.is_on
        call.user("hello").expect_heard("Good day.")
        assert any(isinstance(one, sg.Problem) and one.where == "recording" for one in call.signals)
