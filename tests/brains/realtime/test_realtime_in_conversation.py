"""Whole conversations over the Realtime protocol: a real socket, the real driver, a strict scripted server.

At the end of every call the server fails the test if any event broke the protocol.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from duologue import Phrases, tool
from duologue.core import effects as fx
from duologue.core.leaves import Outcome
from duologue.ears.scripted import ScriptedEars
from duologue.ports import AgentSaid, Final, Job, SpeechBegan, SpeechEnded, UserSaid
from duologue.replay.journal import read_journal, replay
from duologue.testing.realtime.server import CallTool, FallSilent, RealtimeServer, Speak, WriteText
from tests.brains.realtime_call import RealtimeCall, converse

LONG = "There are two flights today and one of them leaves very early in the morning."


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@tool
def look_up(place: str) -> str:
    """Look up the weather."""
    return f"sunny in {place}"


def kinds(call: RealtimeCall) -> list[str]:
    """What the client sent, but for audio."""
    return [event["type"] for event in call.server.received if event["type"] != "input_audio_buffer.append"]


def texts(call: RealtimeCall, role: str) -> list[str]:
    """What the client wrote into the conversation as this role."""
    items = [event["item"] for event in call.server.got("conversation.item.create")]
    return [item["content"][0]["text"] for item in items if item.get("role") == role]


# -- Turns


@pytest.mark.req("L-24", "C-AC-002", "C-AC-003")
def test_a_spoken_turn_is_heard_by_the_server_and_answered_once(tmp_path: Path) -> None:
    async def act(call: RealtimeCall) -> None:
        await call.says("good morning")
        await call.rests()

    call = converse(act, RealtimeServer([Speak("Good morning to you.")]), journal=tmp_path / "call.jsonl")
    assert (call.said, call.heard) == (["good morning"], ["Good morning to you."])
    assert kinds(call) == ["session.update", "session.update", "response.create"]
    assert call.troubles == []
    with (tmp_path / "call.jsonl").open(encoding="utf-8") as lines:
        assert len(list(replay(read_journal(lines)))) > 10


@pytest.mark.req("L-24")
def test_typed_text_becomes_an_item_and_instructions_go_with_the_session() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello in writing")
        await call.rests()
        call.conversation.type("and again")
        await call.rests()

    call = converse(act, instructions="Be brief.")
    assert texts(call, "user") == ["hello in writing", "and again"]
    sent = [event["session"].get("instructions") for event in call.server.got("session.update")]
    assert sent == [None, "Be brief."], "once, because they did not change"


def test_audio_of_another_rate_reaches_the_server_as_long_as_it_was() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.hears.append("hello")
        call.sound(400, rate_hz=16_000)
        call.sound(800, level=0, rate_hz=16_000)
        await call.until(lambda: call.said == ["hello"])
        await call.until(lambda: call.server.session.heard_ms >= 1_190)
        assert call.server.session.heard_ms <= 1_200
        await call.rests()

    converse(act)


@pytest.mark.parametrize("detection", ["server_vad", "semantic_vad"])
def test_turns_end_with_every_turn_detection_of_the_server(detection: str) -> None:
    async def act(call: RealtimeCall) -> None:
        await call.says("good morning")
        await call.rests()

    call = converse(act, settings={"turn_detection": detection})
    assert call.heard == ["I see."]


@pytest.mark.req("C-GUD-001")
def test_with_our_own_ears_the_audio_is_committed_at_the_end_of_the_turn() -> None:
    ears = ScriptedEars()

    async def act(call: RealtimeCall) -> None:
        call.sound(600, level=0)
        await call.until(lambda: ears.frames >= 30)
        assert call.server.got("input_audio_buffer.append") == [], "the user has not spoken yet"
        ears.tell(SpeechBegan(1))
        await call.until(lambda: call.conversation.machine_state.user.value == "talking")
        call.sound(300)
        await call.until(lambda: ears.frames >= 45)
        ears.tell(SpeechEnded(1))
        ears.tell(Final("book a table", utterance=1))
        await call.rests()

    call = converse(act, settings={"turn_detection": "none", "transcription": None}, ears=ears)
    assert call.heard == ["I see."]
    assert kinds(call) == ["session.update", "input_audio_buffer.commit", "session.update", "response.create"]
    assert 600 <= call.server.session.heard_ms <= 700, "from a little before the onset"


def test_a_noise_that_our_own_ears_heard_is_cleared() -> None:
    ears = ScriptedEars()

    async def act(call: RealtimeCall) -> None:
        ears.tell(SpeechBegan(1))
        await call.until(lambda: call.conversation.machine_state.user.value == "talking")
        call.sound(200)
        ears.tell(SpeechEnded(1))
        await call.until(lambda: call.server.got("input_audio_buffer.clear"))

    call = converse(act, settings={"turn_detection": "none"}, ears=ears)
    assert "response.create" not in kinds(call)


@pytest.mark.req("L-02", "L-03")
def test_push_to_talk_commits_at_the_release() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.hears.append("hold the line")
        call.conversation.press()
        call.sound(300)
        await call.until(lambda: call.server.session.heard_ms >= 300)
        call.conversation.release()
        await call.until(lambda: call.said == ["hold the line"])
        await call.rests()

    call = converse(act, settings={"turn_detection": "none"})
    assert call.heard == ["I see."]
    assert kinds(call).count("input_audio_buffer.commit") == 1


# -- Interruption


def cut_of(call: RealtimeCall) -> AgentSaid:
    (cut,) = [item for item in call.conversation.history if isinstance(item, AgentSaid) and item.interrupted]
    return cut


@pytest.mark.req("L-06", "L-24", "T-08", "V-04")
@pytest.mark.parametrize("profile", ["confirm", "immediate"])
def test_a_barge_in_cancels_the_response_and_cuts_its_item_at_what_was_heard(profile: str) -> None:
    async def act(call: RealtimeCall) -> None:
        await call.says("which flights are there")
        await call.until(lambda: call.line.heard_ms >= 700)
        await call.says("no wait only the late ones")
        await call.rests()

    script = [Speak(LONG, ms=6_000, paced=True), Speak("Only the late ones.")]
    call = converse(act, RealtimeServer(script), profile=profile)
    cut = cut_of(call)
    ((cancel,), (truncate,)) = call.server.got("response.cancel"), call.server.got("conversation.item.truncate")
    done = [event["response"] for event in call.server.gave("response.done")]
    assert [response["status"] for response in done] == ["cancelled", "completed"]
    assert cancel["response_id"] == done[0]["id"]
    assert truncate["item_id"] == done[0]["output"][0]["id"]
    assert truncate["audio_end_ms"] == cut.heard_ms == call.line.played[1] > 0
    assert call.server.session.audio_ms[truncate["item_id"]] == cut.heard_ms
    assert LONG.startswith(cut.text)
    assert cut.text != LONG
    assert call.heard[-1] == "Only the late ones."
    assert call.said == ["which flights are there", "no wait only the late ones"]
    assert call.server.gave("error") == []


@pytest.mark.req("L-06")
def test_a_barge_in_after_the_response_is_done_only_cuts() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("which flights")
        await call.until(lambda: call.server.gave("response.done"))
        await call.until(lambda: call.line.heard_ms >= 420)
        call.conversation.interrupt()
        await call.until(lambda: call.server.gave("conversation.item.truncated"))
        await call.rests()

    call = converse(act, RealtimeServer([Speak(LONG, ms=5_000)]))
    assert call.server.got("response.cancel") == []
    (truncate,) = call.server.got("conversation.item.truncate")
    assert truncate["audio_end_ms"] == cut_of(call).heard_ms == call.line.played[1]
    # The whole length is known by now, so the words are those that were heard.
    share = cut_of(call).heard_ms / 5_000
    assert abs(len(cut_of(call).text) - share * len(LONG)) <= 10


@pytest.mark.req("V-05")
def test_an_answer_that_was_never_heard_is_deleted_from_the_conversation() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("one")
        await call.until(lambda: call.server.gave("response.created"))
        call.conversation.type("no, two")
        await call.rests()

    call = converse(act, RealtimeServer([FallSilent(), Speak("Two.")]))
    assert call.heard == ["Two."]
    assert [event["response"]["status"] for event in call.server.gave("response.done")] == ["cancelled", "completed"]
    assert call.server.gave("error") == [], "the second request waited for the end of the first"


def test_several_interruptions_in_a_row_leave_the_conversation_in_order() -> None:
    async def act(call: RealtimeCall) -> None:
        for number in range(4):
            before = len(call.server.gave("response.created"))
            call.conversation.type(f"story {number}")
            await call.until(lambda before=before: len(call.server.gave("response.created")) > before)
            await call.until(lambda: call.line.is_sounding and call.line.heard_ms >= 420)
        call.conversation.interrupt()
        await call.rests()

    server = RealtimeServer([Speak(LONG, ms=3_000, paced=True)] * 4)
    call = converse(act, server)
    cuts = [item.heard_ms for item in call.conversation.history if isinstance(item, AgentSaid)]
    assert [event["audio_end_ms"] for event in server.got("conversation.item.truncate")] == cuts
    assert cuts == list(call.line.played.values())
    assert len(cuts) == 4
    assert server.gave("error") == []


# -- Work


@pytest.mark.req("L-07", "L-24")
def test_a_tool_is_called_and_its_one_output_goes_back() -> None:
    async def act(call: RealtimeCall) -> None:
        await call.says("what is the weather like")
        await call.rests()

    server = RealtimeServer([[Speak("One moment.", ms=200), CallTool("look_up", {"place": "Rome"})], Speak("Sunny.")])
    call = converse(act, server, tools=[look_up])
    assert call.heard == ["One moment.", "Sunny."]
    assert list(server.session.outputs.values()) == [1]
    (output,) = [event["item"] for event in server.got("conversation.item.create")]
    assert (output["type"], output["output"]) == ("function_call_output", "sunny in Rome")
    offered = [event["session"]["tools"] for event in server.got("session.update") if "tools" in event["session"]]
    assert [[tool["name"] for tool in tools] for tools in offered] == [["look_up"]]


@pytest.mark.req("L-18")
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (CallTool("look_up", {"town": "Rome"}), "INVALID_ARGS"),
        (CallTool("fly", {}), "unknown tool"),
    ],
)
def test_a_call_that_makes_no_sense_gets_an_output_that_says_so(made: CallTool, expected: str) -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("go")
        await call.rests()

    call = converse(act, RealtimeServer([made, Speak("That failed.")]), tools=[look_up])
    assert expected in call.outputs[0].output
    assert call.heard == ["That failed."]


@pytest.mark.req("L-08", "L-09")
def test_words_spoken_over_a_delegated_job_are_answered_with_its_output() -> None:
    ready = asyncio.Event()

    @tool(mode="delegate")
    async def research(job: Job) -> str:
        """Takes long."""
        job.progress("reading")
        await ready.wait()
        return "three hotels"

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("find hotels")
        await call.until(lambda: call.conversation.phase == "working")
        await call.says("and with breakfast please")
        assert len(call.server.got("response.create")) == 1, "not while the job runs"
        ready.set()
        await call.rests()

    call = converse(act, RealtimeServer([CallTool("research"), Speak("Three, with breakfast.")]), tools=[research])
    assert call.heard == ["Three, with breakfast."]
    assert call.outputs[0].output == "three hotels"
    assert len(call.server.got("response.create")) == 2
    assert list(call.server.session.outputs.values()) == [1]


@pytest.mark.req("L-09")
def test_news_of_a_dispatched_job_is_a_system_item_and_waits_for_the_floor() -> None:
    ready = asyncio.Event()

    @tool(mode="dispatch")
    async def research() -> str:
        """Runs during the conversation."""
        await ready.wait()
        return "three hotels"

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("find hotels")
        await call.until(lambda: call.server.got("response.create")[1:])
        await call.until(lambda: call.line.is_sounding)
        ready.set()
        await call.until(lambda: call.news)
        assert len(call.server.got("response.create")) == 2, "the agent is still speaking"
        await call.rests()

    script = [CallTool("research"), Speak("I am on it, and will tell you.", ms=900, paced=True), Speak("Three hotels.")]
    call = converse(act, RealtimeServer(script), tools=[research])
    assert call.heard == ["I am on it, and will tell you.", "Three hotels."]
    assert [output.outcome for output in call.outputs] == [Outcome.STARTED]
    assert list(call.server.session.outputs.values()) == [1], "the result is news, not a second output"
    (news,) = texts(call, "system")
    assert "three hotels" in news
    names = [
        {tool["name"] for tool in event["session"]["tools"]}
        for event in call.server.got("session.update")
        if "tools" in event["session"]
    ]
    assert names == [{"research"}, {"research", "cancel_job"}, {"research"}], "as the work goes on"


# -- The agent's own words


def test_set_phrases_are_spoken_by_the_model_and_known_to_the_conversation() -> None:
    async def act(call: RealtimeCall) -> None:
        await call.until(lambda: call.heard == ["Good day."])
        call.conversation.type("hello")
        await call.rests()

    call = converse(act, phrases=Phrases(greeting="Good day."))
    assert call.heard == ["Good day.", "I see."]
    assert texts(call, "assistant") == ["Good day."]
    assert [event["response"].get("conversation") for event in call.server.got("response.create")] == ["none", None]


@pytest.mark.req("L-17", "V-07")
def test_a_check_in_may_be_left_to_the_model() -> None:
    async def act(call: RealtimeCall) -> None:
        await call.until(lambda: len(call.heard) == 1)

    server = RealtimeServer([Speak("Hello, anybody?")])
    call = converse(act, server, machine={"dead_air_ms": 200}, phrases=Phrases(check_ins=(), goodbye=""))
    assert call.heard == ["Hello, anybody?"]
    response = server.got("response.create")[0]["response"]
    assert "still there" in response["instructions"]
    assert response["tool_choice"] == "none"


def test_a_model_that_only_writes_is_spoken_by_a_voice_of_ours() -> None:
    from duologue.voice.scripted import ScriptedVoice

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello")
        await call.rests()

    voice = ScriptedVoice(char_ms=3)
    call = converse(act, RealtimeServer([WriteText("Hi there. All well?")]), settings={"output": "text"}, voice=voice)
    assert call.heard == ["Hi there. All well?"]


@pytest.mark.req("L-11")
def test_a_long_result_is_summarised_by_the_model_outside_the_conversation() -> None:
    def report() -> str:
        """Long."""
        return "word " * 2_000

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("report")
        await call.rests()

    call = converse(act, RealtimeServer([CallTool("report"), Speak("Here.")]), tools=[report])
    assert call.outputs[0].output.startswith("In short:")
    assert call.heard == ["Here."]


def test_what_was_overheard_is_not_in_the_conversation() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("tell me")
        await call.until(lambda: call.line.heard_ms >= 100)
        await call.server.session.say("mhm")
        await call.until(lambda: any(isinstance(i, UserSaid) and i.overheard for i in call.conversation.history))
        await call.rests()
        call.conversation.type("thanks")
        await call.rests()

    server = RealtimeServer([Speak(LONG, ms=1_200, paced=True), Speak("Fine.")])
    call = converse(act, server)
    assert call.heard == [LONG, "Fine."]
    assert len(server.got("conversation.item.delete")) == 1
    said = [item["content"] for item in server.session.items if item.get("role") == "user"]
    assert [content[0].get("text") for content in said] == ["tell me", "thanks"]
    assert not [move for move in call.records for effect in move.effects if isinstance(effect, fx.TruncateReply)]


def test_one_model_serves_one_conversation_after_the_other() -> None:
    async def act(call: RealtimeCall) -> None:
        from duologue import Conversation
        from duologue.lines.scripted import ScriptedLine
        from duologue.runtime.seats import Seats

        call.conversation.type("hello")
        await call.rests()
        await call.conversation.end()
        second = Conversation(call.conversation.agent, ScriptedLine(ack_ms=20), seats=Seats())
        heard: list[Any] = []
        async with second:
            second.type("hello again")
            while not heard:
                heard = [item for item in second.history if isinstance(item, AgentSaid) and item.text]
                await asyncio.sleep(0.005)
        assert [item.text for item in heard] == ["Second."]

    call = converse(act, RealtimeServer([Speak("First."), Speak("Second.")]))
    assert len(call.server.sessions) == 2
