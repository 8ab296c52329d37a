"""Faults: retry, dismissal and their end. Silence: check-ins, goodbye and greeting."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.core.leaves import Ask, ErrorClass
from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import Request, ServiceError, ToolCall
from duologue.runtime.agent import Phrases
from duologue.testing import Fail, Hang, ScriptedBrain, scripted_tool
from tests.runtime.runtime_fakes import Stage, play

FAILS = [Fail(ErrorClass.SERVER_ERROR), Fail(ErrorClass.SERVER_ERROR)]  # retried once, then a fault
HANGS_UP = profile("confirm", dead_air_ms=20_000, check_ins_max=2, hangs_up=True)


async def _soon(holds: Any) -> bool:
    await asyncio.sleep(0.01)
    return bool(holds())


@pytest.mark.req("L-13", "L-20.recover", "M-08.again")
def test_a_retry_after_a_fault_answers_what_is_still_owed() -> None:
    brain = ScriptedBrain([*FAILS, "Good day."])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.state == "faulted")
        stage.conversation.recover()
        await stage.rest()
        assert stage.heard == ["Good day."]
        assert stage.lost == []
        assert next(recovered.source for recovered in stage.told(sg.Recovered)) == "fault"

    play(scene, brain)


@pytest.mark.req("L-13", "M-08.dismissed")
def test_a_fault_that_is_dismissed_reports_what_was_lost() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.state == "faulted")
        before = stage.now_ms
        stage.conversation.dismiss()
        await stage.until(lambda: stage.state == "listening")
        assert stage.now_ms - before < 100
        assert stage.lost == ["hello there"]

    play(scene, ScriptedBrain(FAILS))


@pytest.mark.req("L-13", "M-08.again")
def test_a_fault_that_is_not_dismissed_is_over_after_ten_seconds_and_the_question_is_asked_again() -> None:
    brain = ScriptedBrain([*FAILS, "Good day."])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.state == "faulted")
        await stage.until(lambda: stage.state != "faulted")
        assert stage.conversation.entered_at - stage.told(sg.Failed)[0].at == 10_000
        await stage.rest()
        assert stage.heard == ["Good day."]
        assert stage.lost == []
        assert len(brain.requests) == 3

    play(scene, brain)


@pytest.mark.req("L-13", "M-08.again")
def test_speaking_during_a_fault_is_not_made_to_wait_and_both_questions_are_answered() -> None:
    brain = ScriptedBrain([*FAILS, "Good day."])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.state == "faulted")
        failed_at = stage.told(sg.Failed)[0].at
        await stage.say("and the weather")
        await stage.rest()
        assert stage.heard == ["Good day."]
        assert stage.lost == []
        assert "hello there" in brain.requests[-1].text
        assert "and the weather" in brain.requests[-1].text
        assert stage.now_ms - failed_at < 10_000

    play(scene, brain)


@pytest.mark.req("L-13", "M-08.again")
def test_a_question_that_is_no_use_to_ask_again_is_told_to_be_lost_with_an_apology_in_the_same_step() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.state == "faulted")
        assert stage.lost == ["hello there"]
        assert [cue.cue for cue in stage.told(sg.CueGiven)] == ["apology"]
        assert stage.told(sg.CueGiven)[0].text

    play(scene, ScriptedBrain([Fail(ErrorClass.UNKNOWN)]))


@pytest.mark.req("C-PAT-004", "M-19", "C-AC-006")
def test_three_faults_within_a_minute_end_the_conversation() -> None:
    async def scene(stage: Stage) -> None:
        for _ in range(3):
            await stage.say("hello there")
            await stage.until(lambda: stage.state in ("faulted", "idle", "terminating"))
            if stage.state == "faulted":
                stage.conversation.dismiss()
                await stage.sleep(50)
        async with asyncio.timeout(10):
            await stage.conversation.wait()
        assert [fault.fatal for fault in stage.told(sg.Failed)] == [False, False, True]

    play(scene, ScriptedBrain(lambda request: Fail(ErrorClass.UNKNOWN)))


@pytest.mark.req("M-04")
def test_a_fault_cancels_the_tool_that_it_waits_for() -> None:
    worker = scripted_tool("work", Hang())

    async def scene(stage: Stage) -> None:
        await stage.say("please do it")
        await stage.sleep(500)
        stage.ears.fail(ServiceError(ErrorClass.UNKNOWN))
        await stage.until(lambda: stage.state == "faulted")
        assert worker.cancelled == 1 or await _soon(lambda: worker.cancelled == 1)
        assert [output.outcome.value for output in stage.outputs] == ["cancelled"]

    play(scene, ScriptedBrain([ToolCall("work"), "Done."]), tools=[worker])


@pytest.mark.req("V-07.words", "V-07.bounded", "L-17")
def test_silence_is_broken_twice_in_different_words_and_then_ends_politely() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        async with asyncio.timeout(200):
            await stage.conversation.wait()
        assert stage.heard == [
            "Good day.",
            "Are you still there?",
            "Hello? Can you hear me?",
            "I will hang up now. Goodbye!",
        ]
        assert stage.state == "idle"

    play(scene, ScriptedBrain(["Good day."]), profile=HANGS_UP)


@pytest.mark.req("V-07", "L-17")
def test_in_a_browser_the_agent_asks_once_after_five_minutes_and_never_hangs_up() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        answered_at = stage.now_ms
        await stage.until(lambda: len(stage.heard) == 2, 400)
        assert stage.now_ms - answered_at >= 300_000
        await stage.sleep(850_000 - stage.now_ms)
        assert stage.heard == ["Good day.", "Are you still there?"]
        assert stage.state == "listening"

    play(scene, ScriptedBrain(["Good day."]))


@pytest.mark.req("V-07")
def test_an_answer_to_a_check_in_keeps_the_call_open() -> None:
    async def scene(stage: Stage) -> None:
        for _ in range(4):
            await stage.until(lambda: stage.heard[-1:] == ["Are you still there?"], 60)
            await stage.say("yes I am")
            await stage.rest()
            assert stage.heard[-1] == "I see."
        assert stage.state == "listening"

    play(scene, ScriptedBrain(), profile=HANGS_UP)


@pytest.mark.req("V-07")
def test_a_word_against_the_goodbye_keeps_the_call_open() -> None:
    async def scene(stage: Stage) -> None:
        await stage.until(lambda: any(m.after.ask is Ask.GOODBYE for m in stage.records[-3:]), 200)
        await stage.until(lambda: stage.state == "speaking")
        await stage.sleep(300)
        await stage.say("wait please do not go")
        await stage.rest()
        assert stage.state == "listening"
        assert stage.heard[-1] == "I see."

    play(scene, ScriptedBrain(), profile=HANGS_UP)


@pytest.mark.req("V-01")
@pytest.mark.parametrize("greeting", ["", "Welcome to the bank."])
def test_in_the_profile_words_the_agent_greets_first(greeting: str) -> None:
    def reply(request: Request) -> str:
        return "Hello from the brain." if not request.text else "I see."

    async def scene(stage: Stage) -> None:
        await stage.rest()
        assert stage.heard == [greeting or "Hello from the brain."]
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard[-1] == "I see."

    play(scene, reply, profile="words", phrases=Phrases(greeting=greeting))


@pytest.mark.req("V-01")
def test_a_greeting_is_not_said_again_after_a_reconnect() -> None:
    async def scene(stage: Stage) -> None:
        await stage.rest()
        stage.line.drop()
        await stage.rest()
        await stage.sleep(2_000)
        assert stage.heard == ["Welcome."]

    play(scene, ScriptedBrain(), profile="words", phrases=Phrases(greeting="Welcome."))
