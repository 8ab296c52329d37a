"""Whole conversations over the Live protocol: a real socket, the real driver, a strict scripted server.

At the end of every call the server fails the test if any message broke the protocol.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from duologue import Phrases, tool
from duologue.core.leaves import Outcome
from duologue.ports import AgentSaid, SpeechEnded, UserSaid
from duologue.replay.journal import read_journal, replay
from duologue.testing.gemini import CallTool, FallSilent, GeminiServer, Speak
from tests.brains.gemini_call import GeminiCall, converse

LONG = "There are two flights today and one of them leaves very early in the morning."


@tool
def look_up(place: str) -> str:
    """Look up the weather."""
    return f"sunny in {place}"


def kinds(call: GeminiCall) -> list[str]:
    """What the client sent, but for audio."""
    found = [next(iter(one.get("realtimeInput", one))) for one in call.server.received]
    return [kind for kind in found if kind != "audio"]


# -- Turns


@pytest.mark.req("L-24")
def test_a_spoken_turn_is_sent_as_one_activity_and_answered_once(tmp_path: Path) -> None:
    async def act(call: GeminiCall) -> None:
        await call.says("good morning")
        await call.rests()

    call = converse(act, GeminiServer([Speak("Good morning to you.")]), journal=tmp_path / "call.jsonl")
    assert (call.said, call.heard) == (["good morning"], ["Good morning to you."])
    assert kinds(call) == ["setup", "activityStart", "activityEnd"]
    assert call.server.session.heard_ms == 300
    assert call.troubles == []
    with (tmp_path / "call.jsonl").open(encoding="utf-8") as lines:
        assert len(list(replay(read_journal(lines)))) > 10


def test_the_server_never_decides_about_turns_and_gets_voice_instructions_and_tools() -> None:
    async def act(call: GeminiCall) -> None:
        await call.says("hello")
        await call.rests()

    call = converse(act, settings={"voice": "Kore", "language": "de-DE"}, instructions="Be brief.", tools=[look_up])
    (setup,) = call.server.got("setup")
    assert setup["realtimeInputConfig"]["automaticActivityDetection"] == {"disabled": True}
    speech = setup["generationConfig"]["speechConfig"]
    assert speech == {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}, "languageCode": "de-DE"}
    (update,) = call.server.got("contextUpdate")
    assert update["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    (declared,) = update["tools"]["tools"]
    assert [one["name"] for one in declared["functionDeclarations"]] == ["look_up"]


def test_typed_text_is_content_and_asks_for_an_answer() -> None:
    async def act(call: GeminiCall) -> None:
        call.conversation.type("hello in writing")
        await call.rests()

    call = converse(act)
    assert call.heard == ["I see."]
    (content,) = call.server.got("clientContent")
    expected = {"turns": [{"role": "user", "parts": [{"text": "hello in writing"}]}], "turnComplete": True}
    assert content == expected


def test_a_noise_never_reaches_the_server() -> None:
    async def act(call: GeminiCall) -> None:
        await call.begins("")
        call.ears.tell(SpeechEnded(call.spoken))
        await call.until(lambda: call.ears.discards)
        await call.says("hello")
        await call.rests()

    call = converse(act)
    assert call.heard == ["I see."]
    assert kinds(call) == ["setup", "activityStart", "activityEnd"]
    assert call.server.session.turns[0]["audio_ms"] < 600, "without the noise"


def test_the_greeting_is_spoken_on_its_own_connection_and_told_with_the_first_turn() -> None:
    async def act(call: GeminiCall) -> None:
        await call.until(lambda: call.heard)
        await call.rests()
        await call.says("hello")
        await call.rests()

    call = converse(act, phrases=Phrases(greeting="The museum, good day!"))
    assert call.heard == ["The museum, good day!", "I see."]
    aloud = [session for session in call.server.sessions if session.reads_aloud]
    assert [session.turns[0]["text"] for session in aloud] == ["The museum, good day!"]
    assert call.server.session.turns[0]["text"] == '[You said before: "The museum, good day!"]'


def test_late_ends_of_turns_belong_to_the_turn_before() -> None:
    """A server that waits until its sound was played ends a turn when the next one has begun."""

    async def act(call: GeminiCall) -> None:
        for number in range(3):
            call.conversation.type(f"question {number}")
            await call.until(lambda number=number: len(call.heard) == number + 1)
            await call.rests()

    call = converse(act, GeminiServer([Speak("One."), Speak("Two."), Speak("Three.")], plays=True))
    assert call.heard == ["One.", "Two.", "Three."]
    assert call.troubles == []


# -- Push-to-talk


def test_push_to_talk_needs_no_ears_and_uses_the_servers_transcript() -> None:
    async def act(call: GeminiCall) -> None:
        call.conversation.press()
        call.sound(400, rate_hz=16_000)
        await call.until(lambda: call.server.session.heard_ms >= 400)
        call.conversation.release()
        await call.until(lambda: call.said == ["hold the line"])
        await call.rests()

    call = converse(act, GeminiServer([Speak("I hold it.")], hears=["hold the line"]), has_ears=False)
    assert call.heard == ["I hold it."]
    assert kinds(call) == ["setup", "activityStart", "activityEnd"], "the answer began with the end of the turn"


def test_a_turn_without_a_transcript_is_answered_all_the_same() -> None:
    async def act(call: GeminiCall) -> None:
        call.conversation.press()
        call.sound(400, rate_hz=16_000)
        await call.until(lambda: call.server.session.heard_ms >= 400)
        call.conversation.release()
        await call.until(lambda: call.heard)
        await call.rests()

    call = converse(act, GeminiServer([Speak("Yes?")]), has_ears=False, settings={"transcript_ms_max": 50})
    assert (call.said, call.heard) == (["[not transcribed]"], ["Yes?"])


# -- Interruption


def cut_of(call: GeminiCall) -> AgentSaid:
    (cut,) = [item for item in call.conversation.history if isinstance(item, AgentSaid) and item.interrupted]
    return cut


@pytest.mark.req("L-06", "L-24")
@pytest.mark.parametrize("profile", ["confirm", "immediate"])
def test_a_barge_in_interrupts_the_server_and_tells_it_what_was_heard(profile: str) -> None:
    async def act(call: GeminiCall) -> None:
        await call.says("which flights are there")
        await call.until(lambda: call.line.heard_ms >= 700)
        await call.says("no wait only the late ones")
        await call.rests()

    server = GeminiServer([Speak(LONG, ms=3_000, paced=True), Speak("Only the late ones.")])
    call = converse(act, server, profile=profile)
    cut = cut_of(call)
    assert LONG.startswith(cut.text)
    assert 0 < len(cut.text) < len(LONG)
    assert call.heard[-1] == "Only the late ones."
    assert [one["interrupted"] for one in server.gave("serverContent") if "interrupted" in one] == [True]
    assert f'They heard only: "{cut.text}"' in server.session.turns[-2]["text"]
    assert call.said == ["which flights are there", "no wait only the late ones"]


def test_a_cough_over_the_agent_never_interrupts_the_server() -> None:
    async def act(call: GeminiCall) -> None:
        call.conversation.type("which flights")
        await call.until(lambda: call.line.heard_ms >= 200)
        await call.begins("")
        call.ears.tell(SpeechEnded(call.spoken))
        await call.rests()

    server = GeminiServer([Speak(LONG, ms=1_500, paced=True)])
    call = converse(act, server)
    assert call.heard == [LONG]
    assert kinds(call) == ["setup", "clientContent"]


def test_an_answer_that_was_never_heard_is_told_as_such() -> None:
    async def act(call: GeminiCall) -> None:
        call.conversation.type("one")
        await call.until(lambda: call.server.got("clientContent"))
        call.conversation.type("no, two")
        await call.rests()

    call = converse(act, GeminiServer([FallSilent(), Speak("Two.")]))
    assert call.heard == ["Two."]
    assert call.notes == ["[The person interrupts you.]"], "nothing was said, so there is nothing to correct"


# -- Work


@pytest.mark.req("L-07", "L-24")
def test_a_tool_is_called_and_its_response_goes_back() -> None:
    async def act(call: GeminiCall) -> None:
        await call.says("what is the weather like")
        await call.rests()

    server = GeminiServer([[Speak("One moment.", ms=200), CallTool("look_up", {"place": "Rome"})], Speak("Sunny.")])
    call = converse(act, server, tools=[look_up])
    assert call.heard == ["One moment.", "Sunny."]
    ((response,),) = [one["functionResponses"] for one in server.got("toolResponse")]
    assert (response["name"], response["response"]) == ("look_up", {"output": "sunny in Rome"})
    assert server.gave("toolCallCancellation") == []


@pytest.mark.req("L-08", "L-09")
def test_words_over_a_job_cancel_the_call_and_get_its_result_as_text() -> None:
    ready = asyncio.Event()

    @tool(mode="delegate")
    async def research() -> str:
        """Takes long."""
        await ready.wait()
        return "three hotels"

    async def act(call: GeminiCall) -> None:
        call.conversation.type("find hotels")
        await call.until(lambda: call.conversation.phase == "working")
        await call.says("and with breakfast please")
        await call.until(lambda: call.server.gave("toolCallCancellation"))
        assert call.server.got("realtimeInput", "activityEnd") == [], "not while the job runs"
        ready.set()
        await call.rests()

    server = GeminiServer([CallTool("research"), Speak("Three, with breakfast.")])
    call = converse(act, server, tools=[research])
    assert call.heard == ["Three, with breakfast."]
    assert server.got("toolResponse") == [], "the server doesn't wait for it any more"
    assert "three hotels" in server.session.turns[-2]["text"]
    assert call.model.counts["cancelled_calls"] == 1


@pytest.mark.req("L-09")
def test_news_of_a_dispatched_job_is_a_note() -> None:
    ready = asyncio.Event()

    @tool(mode="dispatch")
    async def research() -> str:
        """Runs during the conversation."""
        await ready.wait()
        return "three hotels"

    async def act(call: GeminiCall) -> None:
        call.conversation.type("find hotels")
        await call.until(lambda: call.server.got("toolResponse"))
        await call.until(lambda: call.line.is_sounding)
        ready.set()
        await call.rests()

    script = [CallTool("research"), Speak("I am on it.", ms=400, paced=True), Speak("Three hotels.")]
    call = converse(act, GeminiServer(script), tools=[research])
    assert call.heard == ["I am on it.", "Three hotels."]
    assert [output.outcome for output in call.outputs] == [Outcome.STARTED]
    assert any("three hotels" in one for one in call.notes)


def test_usage_is_counted() -> None:
    async def act(call: GeminiCall) -> None:
        call.conversation.type("hello")
        await call.rests()
        await call.until(lambda: call.model.usage.input_tokens)

    call = converse(act)
    assert (call.model.usage.input_tokens, call.model.usage.output_tokens) == (100, 20)


def test_overheard_and_answered_words_are_told_once(tmp_path: Path) -> None:
    async def act(call: GeminiCall) -> None:
        await call.says("first question")
        await call.rests()
        call.conversation.type("second question")
        await call.rests()

    call = converse(act)
    told: list[Any] = call.server.got("clientContent", "turns")
    assert [[part["text"] for turn in turns for part in turn["parts"]] for turns in told] == [["second question"]]
    assert [item.text for item in call.conversation.history if isinstance(item, UserSaid)] == [
        "first question",
        "second question",
    ]
