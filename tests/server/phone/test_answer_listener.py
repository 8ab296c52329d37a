"""What an outgoing call hears first becomes inputs of its machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue.ears.scripted import ScriptedEars
from duologue.lab.sim.call_script import Beep
from duologue.lab.sim.offline_call import OfflineCall
from duologue.lab.sim.phone_speech import beep_sound
from duologue.lines.phone.call import inputs as on
from duologue.ports.ears import Final, Heard, Partial, SpeechBegan, SpeechEnded
from duologue.runtime.agent import Agent
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.phone.answer_listener import AnswerListener, screen_answer
from duologue.server.phone.phone_call import Opening
from duologue.voice.scripted import ScriptedVoice


def listened(heard: list[Heard], ears: Any = None, beeps: bool = False) -> list[on.CallInput]:
    """The inputs after these reports of scripted ears."""
    told: list[on.CallInput] = []

    async def run() -> None:
        call, scripted = OfflineCall(), ears or ScriptedEars()
        line = await call.connect()
        listener = AnswerListener(told.append, lambda: 5_000, scripted if ears != "none" else None)
        listening = asyncio.ensure_future(listener.listen(line))
        await asyncio.sleep(0.1)
        for report in heard:
            scripted.tell(report)
        if beeps:
            call.carrier.speak(beep_sound(Beep(1_000, 300)))
        await asyncio.sleep(1)
        assert not listening.done(), "it listens until it is cancelled"
        listening.cancel()

    run_simulated(run())
    return told


@pytest.mark.parametrize(
    ("heard", "wanted"),
    [
        (SpeechBegan(1), [on.GreetingBegan(5_000)]),
        (SpeechEnded(1, quiet_ms=300), [on.GreetingPaused(4_700)]),
        (Partial("please leave a message"), [on.MachineHeard(5_000)]),
        (Final("You have reached Ann."), [on.MachineHeard(5_000)]),
        (Final("Hello?"), [on.PersonSpoke(5_000)]),
        (Partial("Hello"), []),
        (Final("Miller and Sons."), []),
    ],
    ids=str,
)
def test_a_report_of_the_ears_is_one_input(heard: Heard, wanted: list[on.CallInput]) -> None:
    assert listened([heard]) == wanted


def test_a_beep_is_heard_once_also_without_ears(caplog: pytest.LogCaptureFixture) -> None:
    assert listened([], beeps=True) == [on.BeepHeard(5_000)]
    assert listened([], ears="none", beeps=True) == [on.BeepHeard(5_000)]
    assert "the agent has no ears" in caplog.text


class BrokenEars:
    async def listen(self, audio: Any) -> AsyncIterator[Heard]:
        raise OSError("no model")
        yield SpeechBegan()


def test_ears_that_fail_leave_the_beep(caplog: pytest.LogCaptureFixture) -> None:
    assert listened([], BrokenEars(), beeps=True) == [on.BeepHeard(5_000)]
    assert "are unknown: OSError" in caplog.text


class LazyEars(ScriptedEars):
    is_ready = False

    async def prepare(self) -> None:
        self.is_ready = True


def test_ears_that_need_loading_are_loaded_first() -> None:
    ears = LazyEars()
    assert listened([SpeechBegan()], ears) == [on.GreetingBegan(5_000)]
    assert ears.is_ready


def test_the_ears_of_a_speech_to_speech_model_are_not_used_before_its_session(caplog: pytest.LogCaptureFixture) -> None:
    class Model(ScriptedEars):
        async def reply(self, request: Any) -> AsyncIterator[str]:
            yield "?"

    class Call:
        def now(self) -> int:
            return 0

        def feed(self, given: on.CallInput) -> None:
            raise AssertionError(given)

        async def opening(self) -> Opening:
            await asyncio.sleep(1)
            return Opening.TALK

    async def run() -> Opening:
        line = await OfflineCall().connect()
        return await screen_answer(Call(), line, Agent(Model(), voice=ScriptedVoice()))  # type: ignore[arg-type]

    assert run_simulated(run()) is Opening.TALK
    assert "the agent has no ears" in caplog.text
