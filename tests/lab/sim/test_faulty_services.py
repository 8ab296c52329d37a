"""Faulty services: each fault happens when its rate says so, and none without rates."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from duologue.brains.scripted import ScriptedBrain
from duologue.core.errors import DuologueError
from duologue.lab.sim.caller_account import CallerAccount, VoiceRequest
from duologue.lab.sim.faulty_services import (
    NO_FAULTS,
    FaultDice,
    FaultRates,
    FaultyBrain,
    FaultyEars,
    FaultyLine,
    FaultySession,
    FaultyVoice,
    FaultyWorker,
)
from duologue.lines.scripted import ScriptedLine
from duologue.ports.brain import Request
from duologue.ports.ears import Final, Heard
from duologue.ports.failure import ServiceError
from duologue.ports.history import AgentSaid, UserSaid
from duologue.ports.line import LineEvent, Played
from duologue.ports.tool_call import ToolCall
from duologue.runtime.simulated_clock import run_simulated
from duologue.testing.scripted_session import ScriptedSession
from duologue.voice.scripted import ScriptedVoice
from duologue.workers.scripted import scripted_tool

ERRORS = (ServiceError, RuntimeError)


def dice(seed: int = 1, **rates: float) -> FaultDice:
    return FaultDice(random.Random(seed), FaultRates(**{**dict.fromkeys(FaultRates.__slots__, 0), **rates}))  # type: ignore[arg-type]


FINALS = [Final(str(number), utterance=number) for number in range(1, 101)]


class Ears:
    """Hears a hundred texts."""

    async def listen(self, audio: Any) -> AsyncIterator[Heard]:
        for final in FINALS:
            yield final


def heard(with_faults: FaultDice) -> list[Heard]:
    async def listen() -> list[Heard]:
        return [one async for one in FaultyEars(Ears(), with_faults).listen(None)]  # type: ignore[arg-type]

    return run_simulated(listen())


def test_without_rates_nothing_changes() -> None:
    assert FaultRates(0, 0, 0, 0, 0, 0, 0) == NO_FAULTS
    assert heard(FaultDice(random.Random(1), NO_FAULTS)) == FINALS


def test_ears_lose_texts() -> None:
    left = heard(dice(lose=0.2))
    assert 60 < len(left) < 95
    assert left == [final for final in FINALS if final in left]


def test_ears_repeat_and_swap_texts() -> None:
    more = heard(dice(duplicate=0.2))
    assert set(more) >= set(FINALS[:-1])
    assert len(more) > 105
    assert list(dict.fromkeys(more)) != FINALS[: len(set(more))]


def test_ears_fail() -> None:
    with pytest.raises(ERRORS):
        heard(dice(fail=1))


def test_ears_that_failed_know_nothing_of_earlier_utterances() -> None:
    class Stuttering:
        """Says more about an utterance that began before the failure, and then something new."""

        async def listen(self, audio: Any) -> AsyncIterator[Heard]:
            yield Final("again", utterance=1)
            yield Final("new", utterance=2)

    with_faults = dice(fail=8)
    ears = FaultyEars(Stuttering(), with_faults)  # type: ignore[arg-type]

    async def listen() -> list[Heard]:
        with pytest.raises(ERRORS):
            [one async for one in ears.listen(None)]  # type: ignore[arg-type]
        with_faults.rates = NO_FAULTS
        return [one async for one in ears.listen(None)]  # type: ignore[arg-type]

    assert run_simulated(listen()) == [Final("new", utterance=2)]


def test_the_same_seed_repeats_the_same_faults() -> None:
    assert heard(dice(5, lose=0.2, duplicate=0.2)) == heard(dice(5, lose=0.2, duplicate=0.2))
    assert heard(dice(5, lose=0.2, duplicate=0.2)) != heard(dice(6, lose=0.2, duplicate=0.2))


def test_a_brain_records_its_requests_even_if_it_fails() -> None:
    requests: list[Request] = []

    async def ask(with_faults: FaultDice) -> list[Any]:
        brain = FaultyBrain(ScriptedBrain(otherwise="Hello there."), with_faults, requests)
        return [part async for part in brain.reply(Request(1, "hi"))]

    assert "".join(run_simulated(ask(dice()))).strip() == "Hello there."
    with pytest.raises(ERRORS):
        run_simulated(ask(dice(fail=1)))
    assert requests == [Request(1, "hi")] * 2


def test_a_voice_yields_garbage_between_its_sounds() -> None:
    async def speak(with_faults: FaultDice) -> list[Any]:
        return [sound async for sound in FaultyVoice(ScriptedVoice(), with_faults).speak("One two three.")]

    sounds = run_simulated(speak(dice()))
    assert run_simulated(speak(dice(garbage=1)))[1::2] == sounds


def test_a_late_service_takes_at_most_the_given_time() -> None:
    async def work() -> float:
        began = asyncio.get_running_loop().time()
        await dice(late=1, late_ms_max=500).delay_or_fail()
        return asyncio.get_running_loop().time() - began

    assert 0 < run_simulated(work()) <= 0.5


def test_a_service_that_hangs_does_nothing() -> None:
    async def work() -> None:
        session = FaultySession(ScriptedSession(), dice(hang=1))
        async with asyncio.timeout(3_600):
            await session.open(None, lambda event: None)

    with pytest.raises(TimeoutError):
        run_simulated(work())


def test_a_session_and_a_worker_fail() -> None:
    session = ScriptedSession()

    async def renew() -> None:
        await FaultySession(session, dice(fail=1)).renew(None, lambda event: None)

    async def run() -> object:
        return await FaultyWorker(scripted_tool("look"), dice(fail=1)).run({}, None)  # type: ignore[arg-type]

    for work in (renew, run):
        with pytest.raises((*ERRORS, DuologueError)):
            run_simulated(work())
    assert session.renewals == 0
    assert FaultyWorker(scripted_tool("look"), dice()).tool.name == "look"


@pytest.mark.parametrize(
    ("rates", "count"), [({}, 1), ({"lose": 1}, 0), ({"duplicate": 1}, 2), ({"garbage": 1}, 2), ({"late": 1}, 1)]
)
def test_a_line_loses_repeats_and_invents_acknowledgements(rates: dict[str, float], count: int) -> None:
    async def open_line() -> list[LineEvent]:
        seen: list[LineEvent] = []
        inner = _Inner()
        line = FaultyLine(inner, dice(late_ms_max=100, **rates))
        await line.open(seen.append)
        inner.notify(Played(1, 20))
        await asyncio.sleep(1)
        return seen

    assert len(run_simulated(open_line())) == count


class _Inner(ScriptedLine):
    """A line whose acknowledgements the test makes."""

    async def open(self, notify: Any) -> None:
        self.notify = notify


@pytest.mark.parametrize(
    ("service", "work"),
    [
        ("tool", lambda bad, account: FaultyWorker(scripted_tool("look"), bad, account).run({}, None)),
        ("session", lambda bad, account: FaultySession(ScriptedSession(), bad, account).open(None, lambda event: None)),
        ("line", lambda bad, account: FaultyLine(ScriptedLine(), bad, account).open(lambda event: None)),
        ("close", lambda bad, account: FaultyLine(ScriptedLine(), bad, account).close()),
    ],
)
def test_services_note_that_they_failed(service: str, work: Callable[[FaultDice, CallerAccount], Any]) -> None:
    account = CallerAccount()

    async def fail() -> None:
        with pytest.raises(ERRORS):
            await work(dice(fail=1), account)

    run_simulated(fail())
    assert account.failed == [(0, service)]


def test_a_call_of_a_tool_that_does_not_exist_is_a_failure_of_the_tool() -> None:
    account = CallerAccount()

    async def ask(brain: ScriptedBrain) -> None:
        async for _ in FaultyBrain(brain, dice(), [], account).reply(Request(1, "hi")):
            pass

    run_simulated(ask(ScriptedBrain([[ToolCall("unknown")]])))
    assert account.failed == [(0, "tool")]


@pytest.mark.parametrize(
    ("request_", "awaits"),
    [
        (Request(1, ""), True),  # the greeting
        (Request(2, "hi", (AgentSaid(1, "hello", heard_ms=300),)), True),
        (Request(2, "", (AgentSaid(1, "hello", heard_ms=300),)), False),
        (Request(2, "", (AgentSaid(1, "hello"),)), True),  # nothing of the greeting was heard
        (Request(2, "", (UserSaid(1, "hi"),)), False),
    ],
)
def test_a_brain_notes_to_which_requests_the_caller_waits_for_an_answer(request_: Request, awaits: bool) -> None:
    account = CallerAccount()

    async def ask() -> None:
        async for _ in FaultyBrain(ScriptedBrain(otherwise="Hello."), dice(), [], account).reply(request_):
            pass

    run_simulated(ask())
    assert (request_.reply in account.answering) is awaits


def test_a_voice_notes_when_it_was_asked_when_it_began_and_what_it_made() -> None:
    account = CallerAccount()

    async def speak(faults: FaultDice) -> None:
        voice = FaultyVoice(ScriptedVoice(first_ms=80, rate_hz=8_000), faults, account)
        with contextlib.suppress(*ERRORS):
            async for _ in voice.speak("One."):
                pass

    run_simulated(speak(dice()))
    run_simulated(speak(dice(fail=1)))
    assert account.voiced == [VoiceRequest(0, 80), VoiceRequest(0)]
    assert len(account.speech) == 2, "a whole piece, and a shorter one"
