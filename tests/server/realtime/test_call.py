"""A whole conversation with a client of the Realtime protocol, in simulated time."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import replace

import pytest

from duologue import Agent, Phrases
from duologue.fairness.bucket import Rate
from duologue.ports.brain import Request
from duologue.ports.context import CallInfo, Context
from duologue.ports.history import AgentSaid, Note, UserSaid
from duologue.runtime.simulated_clock import run_simulated
from duologue.server.realtime.call import EARLY_MS_MAX, RealtimeCall
from duologue.server.realtime.client_events import AudioCommit, ResponseCancel, ResponseCreate, read_event
from duologue.server.realtime.peer_call import PeerCall
from duologue.server.realtime.session_config import SessionConfig
from duologue.server.settings import Limits
from duologue.testing import ScriptedBrain
from tests.server.realtime.client_script import WEATHER, ScriptedClient, play, words_of
from tests.server.realtime.tone_agent import LONG, ToneEars, silence, tone, tone_agent


def requests_of(agent: Agent) -> list[Request]:
    assert isinstance(agent.brain, ScriptedBrain)
    return agent.brain.requests


@pytest.mark.req("L-24")
def test_a_spoken_turn_is_answered_with_words_and_sound() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(audio={"input": {"transcription": {"model": "whisper-1"}}})
        await client.speak()
        done = await client.done()
        assert done["status"] == "completed"
        assert words_of(done) == "You said good morning."
        assert client.sound_ms(done["output"][0]["id"]) == 4 * 120
        await asyncio.sleep(3)

    client = play(script, tone_agent(hears=["good morning"]))
    order = [kind for kind in client.kinds() if not kind.endswith("delta")]
    assert order == [
        "session.created",
        "conversation.created",
        "session.updated",
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.input_audio_transcription.completed",
        "response.created",
        "rate_limits.updated",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "response.output_item.done",
        "conversation.item.done",
        "response.done",
    ]
    heard = client.told("conversation.item.input_audio_transcription.completed")[0]
    assert heard["transcript"] == "good morning"
    ids = [event["event_id"] for event in client.events]
    assert len(set(ids)) == len(ids)


def test_text_is_answered_when_the_client_asks_for_a_response() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.write("first line", id="mine_1")
        await client.write("second line")
        await asyncio.sleep(5)
        assert client.told("response.created") == [], "an item alone isn't answered"
        await client.send("response.create", response={"metadata": {"topic": "test"}})
        done = await client.done()
        assert done["metadata"] == {"topic": "test"}
        assert client.told("response.created")[0]["response"]["metadata"] == {"topic": "test"}

    client = play(script, tone_agent())
    assert requests_of(client.agent)[0].text == "first line\nsecond line"
    added = [event["item"]["id"] for event in client.told("conversation.item.added")]
    assert added[0] == "mine_1"
    assert not client.told("input_audio_buffer.speech_started")


def test_a_session_can_be_text_only_and_so_can_one_response() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.write("hello")
        await client.send("response.create", response={"output_modalities": ["text"]})
        first = await client.done()
        assert [part["type"] for part in first["output"][0]["content"]] == ["output_text"]
        assert "".join(one["delta"] for one in client.told("response.output_text.delta")) == "You said hello."
        assert client.told("response.output_audio.delta") == []
        await client.write("again")
        await client.send("response.create")
        second = await client.done(1)
        assert [part["type"] for part in second["output"][0]["content"]] == ["output_audio"]
        await client.configure(output_modalities=["text"])
        await asyncio.sleep(3)
        await client.write("third")
        await client.send("response.create")
        assert words_of(await client.done(2)) == "You said third."
        assert len(client.told("response.output_text.done")) == 2

    play(script, tone_agent())


def test_a_response_without_input_lets_the_agent_speak() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.send("response.create", response={"instructions": "Greet the user."})
        assert words_of(await client.done()) == "Hello, I am Ada."
        await asyncio.sleep(5)
        await client.write("what now")
        await client.send("response.create")
        assert words_of(await client.done(1)) == "You said what now."

    client = play(script, tone_agent(instructions="Be Ada."))
    assert [one.instructions for one in requests_of(client.agent)] == ["Greet the user.", "Be Ada."]


def test_an_agent_that_greets_greets_once() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.hear(silence(20))
        assert words_of(await client.done()) == "Good day!"
        await asyncio.sleep(3)
        await client.send("response.create")
        assert words_of(await client.done(1)) == "Hello, I am Ada."

    play(script, tone_agent(phrases=Phrases(greeting="Good day!")))


def test_an_agent_that_greets_greets_also_if_the_client_begins_with_items() -> None:
    """Many clients send a system message first, or what was said in an earlier session."""

    async def script(client: ScriptedClient) -> None:
        content = [{"type": "input_text", "text": "The user is Ann."}]
        await client.send("conversation.item.create", item={"type": "message", "role": "system", "content": content})
        await client.hear(silence(20))
        assert words_of(await client.done()) == "Good day!"

    client = play(script, tone_agent(phrases=Phrases(greeting="Good day!")))
    assert requests_of(client.agent) == [], "the brain isn't asked for nothing"


def test_a_client_that_begins_with_a_text_gets_its_answer_and_no_greeting() -> None:
    """A client of a model's server knows nothing of greetings, and takes the first response for its answer."""

    async def script(client: ScriptedClient) -> None:
        await client.write("hello")
        await asyncio.sleep(1)
        assert client.call.conversation is None, "it isn't begun by items"
        await client.send("response.create")
        assert words_of(await client.done()) == "You said hello."
        await asyncio.sleep(5)
        assert len(client.told("response.created")) == 1

    play(script, tone_agent(phrases=Phrases(greeting="Good day!")))


def test_the_greeting_is_left_out_even_if_the_conversation_takes_a_second_to_begin() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.write("hello")
        asked = read_event('{"type": "response.create"}')
        await client.call.begin(lambda conversation: None, asked)
        await asyncio.sleep(1)
        client.call.post(asked)
        assert words_of(await client.done()) == "You said hello."
        assert len(client.told("response.created")) == 1

    play(script, tone_agent(phrases=Phrases(greeting="Good day!")))


@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.02, 0.5, 1.5, 20.0])
def test_a_greeting_gives_way_to_a_client_that_asks_for_an_answer(after_s: float) -> None:
    async def script(client: ScriptedClient) -> None:
        await client.hear(silence(20))
        await asyncio.sleep(after_s)
        await client.write("hello")
        await client.send("response.create", response={"metadata": {"mine": "yes"}})
        while not client.told("response.done") or client.told("response.done")[-1]["response"]["metadata"] is None:
            await client.done(len(client.told("response.done")))
        assert words_of(client.told("response.done")[-1]["response"]) == "You said hello."
        assert client.errors == []
        begun, ended = (
            [event["response"]["id"] for event in client.told(kind)] for kind in ("response.created", "response.done")
        )
        assert begun == ended, "one after another"
        if len(begun) > 1:
            assert client.told("response.done")[0]["response"]["status"] == (
                "completed" if after_s > 15 else "cancelled"
            )

    play(script, tone_agent(phrases=Phrases(greeting=f"{LONG}.")))


def test_a_conversation_begins_with_sound_or_a_response_and_with_nothing_else() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.send("input_audio_buffer.clear")
        await client.send("input_audio_buffer.commit")
        await client.send("response.cancel")
        await client.send("conversation.item.truncate", item_id="gone", content_index=0, audio_end_ms=0)
        assert client.call.conversation is None
        codes = ["input_audio_buffer_commit_empty", "response_cancel_not_active", "item_truncate_invalid_item_id"]
        assert client.errors == codes
        await client.hear(silence(20))
        assert words_of(await client.done()) == "Good day!"

    play(script, tone_agent(phrases=Phrases(greeting="Good day!")))


def test_a_response_for_which_a_greeting_ends_has_its_own_instructions() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.hear(silence(20))
        await client.expect("response.output_audio.delta")
        await client.configure(instructions="Be kind.")
        await client.write("hello")
        await client.send("response.create", response={"instructions": "Whisper."})
        assert words_of(await client.done(1)) == "You said hello."
        await asyncio.sleep(5)
        await client.write("again")
        await client.send("response.create")
        assert words_of(await client.done(2)) == "You said again."

    client = play(script, tone_agent(phrases=Phrases(greeting=f"{LONG}.")))
    assert [one.instructions for one in requests_of(client.agent)] == ["Whisper.", "Be kind."]


def test_a_response_that_waits_for_a_text_can_be_cancelled() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(audio={"input": {"turn_detection": None, "transcription": {}}})
        await client.hear(tone(300))
        assert words_of(await client.done()) == "Good day!"
        for event in (AudioCommit(None), ResponseCreate(None, {}), ResponseCancel(None)):
            client.call.post(event)
        assert (await client.done(1))["status"] == "cancelled"
        await asyncio.sleep(5)
        assert client.told("conversation.item.input_audio_transcription.completed")
        assert len(client.told("response.created")) == 2
        assert requests_of(client.agent) == []
        await client.send("response.create")
        assert words_of(await client.done(2)) == "You said never mind."

    play(script, tone_agent(hears=["never mind"], phrases=Phrases(greeting="Good day!")))


def test_a_greeting_doesnt_give_way_to_a_client_that_asks_for_nothing_new() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.hear(silence(20))
        await client.expect("response.created")
        await client.send("response.create", event_id="second")
        assert client.errors == ["conversation_already_has_active_response"]
        assert words_of(await client.done()) == f"{LONG}."

    play(script, tone_agent(phrases=Phrases(greeting=f"{LONG}.")))


# -- Barge-in and truncation


async def begin_story(client: ScriptedClient, heard_s: float = 1.0) -> str:
    """Let the agent tell its long story for a while. Returns the id of its item."""
    await client.speak()
    await client.expect("response.output_audio.delta")
    await asyncio.sleep(heard_s)
    item_id: str = client.told("response.output_audio.delta")[0]["item_id"]
    return item_id


def test_the_user_interrupts_and_what_counts_is_what_the_client_has_played() -> None:
    async def script(client: ScriptedClient) -> None:
        item = await begin_story(client)
        speaking = asyncio.ensure_future(client.speak())
        await client.expect("input_audio_buffer.speech_started", 1)
        done = await client.done()
        assert done["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
        await client.send("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=840)
        assert (await client.expect("conversation.item.truncated"))["audio_end_ms"] == 840
        await speaking
        await client.done(1)
        await client.send("conversation.item.retrieve", item_id=item)
        shown = (await client.expect("conversation.item.retrieved"))["item"]
        assert shown["content"][0]["transcript"] == "word1 word2 word3 word4 word5 word6 word7"
        assert shown["status"] == "incomplete"

    client = play(script, tone_agent(hears=["tell me a story", "stop please now"]))
    said = [item for item in requests_of(client.agent)[-1].history if isinstance(item, AgentSaid)]
    assert said[0].text == "word1 word2 word3 word4 word5 word6 word7"
    assert said[0].heard_ms == 840
    assert client.errors == []
    first = client.told("conversation.item.truncated")[0]["item_id"]
    assert [one["item_id"] for one in client.told("conversation.item.truncated")].count(first) == 1


def test_a_client_that_claims_to_have_heard_more_is_not_believed() -> None:
    async def script(client: ScriptedClient) -> None:
        item = await begin_story(client, 0.5)
        sent_ms = client.sound_ms(item)
        assert sent_ms > 1_000
        await client.send("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=sent_ms + 1)
        assert client.errors == ["invalid_value"]
        assert client.told("error")[0]["error"]["message"].startswith(
            f"Audio content of {sent_ms}ms is already shorter"
        )
        await client.send("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=sent_ms)
        told = await client.expect("conversation.item.truncated")
        assert 400 <= told["audio_end_ms"] < 1_000, "it was sent, and can't have been played yet"
        await asyncio.sleep(2)
        await client.write("go on")
        await client.send("response.create")
        await client.done(1)

    client = play(script, tone_agent(hears=["tell me a story"]))
    said = [item for item in requests_of(client.agent)[-1].history if isinstance(item, AgentSaid)]
    assert said[0].heard_ms == client.told("conversation.item.truncated")[0]["audio_end_ms"]


def test_what_counts_as_heard_already_cant_be_taken_back() -> None:
    async def script(client: ScriptedClient) -> None:
        item = await begin_story(client, 2.0)
        await client.send("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=100)
        assert 1_300 <= (await client.expect("conversation.item.truncated"))["audio_end_ms"] <= 1_900

    play(script, tone_agent(hears=["tell me a story"]))


def test_a_client_that_truncates_nothing_is_told_what_counts() -> None:
    async def script(client: ScriptedClient) -> None:
        item = await begin_story(client)
        await client.speak()
        told = await client.expect("conversation.item.truncated")
        assert told["item_id"] == item
        assert 900 <= told["audio_end_ms"] <= 1_400

    play(script, tone_agent(hears=["tell me a story", "stop please now"]))


def test_a_cough_costs_no_word() -> None:
    async def script(client: ScriptedClient) -> None:
        await begin_story(client)
        await client.speak(40, 400)
        done = await client.done()
        assert done["status"] == "completed"
        assert client.sound_ms(done["output"][0]["id"]) == 40 * 120

    client = play(script, tone_agent(hears=["tell me a story", ""]))
    assert len(client.told("input_audio_buffer.speech_started")) == 1, "the client goes on playing"


def test_a_response_can_be_cancelled_and_a_second_time_it_cant() -> None:
    async def script(client: ScriptedClient) -> None:
        await begin_story(client)
        await client.send("response.cancel")
        done = await client.done()
        assert done["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
        await client.send("response.cancel", event_id="mine")
        assert client.told("error")[0]["error"]["code"] == "response_cancel_not_active"
        assert client.told("error")[0]["error"]["event_id"] == "mine"
        sent = client.sound_ms(done["output"][0]["id"])
        await asyncio.sleep(3)
        assert client.sound_ms(done["output"][0]["id"]) == sent

    play(script, tone_agent(hears=["tell me a story"]))


def test_two_responses_at_once_are_one_too_many() -> None:
    async def script(client: ScriptedClient) -> None:
        await begin_story(client)
        await client.send("response.create", event_id="second")
        assert client.errors == ["conversation_already_has_active_response"]
        assert client.told("error")[0]["error"]["event_id"] == "second"
        assert (await client.done())["status"] == "completed"

    play(script, tone_agent(hears=["tell me a story"]))


# -- Functions of the client


def test_the_client_runs_a_function_and_its_output_is_spoken() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(tools=[WEATHER])
        await client.speak()
        first = await client.done()
        call = first["output"][0]
        assert (call["name"], call["arguments"]) == ("get_weather", '{"city": "Berlin"}')
        await asyncio.sleep(4)
        item = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
        await client.send("conversation.item.create", item=item)
        await asyncio.sleep(4)
        assert len(client.told("response.created")) == 1, "the output alone isn't answered"
        await client.send("response.create")
        assert words_of(await client.done(1)) == "The tool says sunny."
        await client.send("conversation.item.create", item=item)
        assert client.errors == ["invalid_tool_call_id"]

    play(script, tone_agent(hears=["what is the weather"]))


def test_a_user_who_speaks_meanwhile_is_heard_and_the_function_goes_on() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(tools=[WEATHER])
        await client.speak()
        call = (await client.done())["output"][0]
        await client.speak()
        await asyncio.sleep(2)
        item = {"type": "function_call_output", "call_id": call["call_id"], "output": "rain"}
        await client.send("conversation.item.create", item=item)
        await client.send("response.create")
        await asyncio.sleep(5)
        said = [words_of(event["response"]) for event in client.told("response.done")]
        assert "The tool says rain." in said
        assert client.errors == []

    play(script, tone_agent(hears=["what is the weather", "are you still there"]))


@pytest.mark.parametrize("name", ["answer_job", "cancel_job"])
@pytest.mark.parametrize("has_begun", [False, True], ids=["before the conversation", "during it"])
def test_a_function_cant_have_the_name_of_a_built_in_tool(name: str, has_begun: bool) -> None:
    async def script(client: ScriptedClient) -> None:
        if has_begun:
            await client.speak()
            await client.done()
        await client.configure(tools=[{**WEATHER, "name": name}])
        (event,) = client.told("error")
        assert (event["error"]["code"], event["error"]["param"]) == ("invalid_value", "session.tools")
        await client.write("hello")
        await client.send("response.create")
        await client.done(int(has_begun))

    play(script, tone_agent())


def test_tools_that_are_switched_off_arent_offered() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(tools=[WEATHER])
        await client.write("weather please")
        await client.send("response.create", response={"tool_choice": "none"})
        assert words_of(await client.done()) == "You said weather please."
        await asyncio.sleep(3)
        await client.write("weather again")
        await client.send("response.create")
        assert (await client.done(1))["output"][0]["type"] == "function_call"

    play(script, tone_agent())


# -- Turns by hand


def test_without_turn_detection_the_client_commits_and_asks() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(audio={"input": {"turn_detection": None, "transcription": {"model": "whisper-1"}}})
        await client.hear(tone(300))
        await asyncio.sleep(2)
        assert not client.told("input_audio_buffer.speech_started")
        await client.send("input_audio_buffer.commit")
        told = await client.expect("conversation.item.input_audio_transcription.completed")
        assert told["transcript"] == "push to talk"
        await asyncio.sleep(2)
        assert not client.told("response.created")
        await client.send("response.create")
        assert words_of(await client.done()) == "You said push to talk."

    client = play(script, tone_agent(hears=["push to talk"]))
    assert requests_of(client.agent)[0].history == (UserSaid(1, "push to talk"),)


def test_a_response_waits_for_the_text_of_what_was_committed() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(audio={"input": {"turn_detection": None}})
        await client.hear(tone(300))
        await client.send("input_audio_buffer.commit")
        await client.send("response.create")
        assert words_of(await client.done()) == "You said at once."

    play(script, tone_agent(hears=["at once"]))


def test_what_was_cleared_isnt_committed_and_an_empty_commit_is_refused() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(audio={"input": {"turn_detection": None}})
        await client.hear(tone(300))
        await client.send("input_audio_buffer.clear")
        await client.expect("input_audio_buffer.cleared")
        await client.send("input_audio_buffer.commit")
        assert client.errors == ["input_audio_buffer_commit_empty"]

    play(script, tone_agent())


def test_with_turn_detection_a_commit_ends_the_turn_early() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(
            audio={"input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 5_000}}}
        )
        await client.hear(tone(300))
        await client.send("input_audio_buffer.commit")
        assert words_of(await client.done()) == "You said send it."

    play(script, tone_agent(hears=["send it"]))


@pytest.mark.parametrize(("kind", "rate_hz"), [("audio/pcmu", 8_000), ("audio/pcma", 8_000)])
def test_telephone_formats_are_heard_and_sent(kind: str, rate_hz: int) -> None:
    async def script(client: ScriptedClient) -> None:
        await client.configure(audio={"input": {"format": {"type": kind}}, "output": {"format": {"type": kind}}})
        from duologue.audio.g711 import pcm_to_alaw, pcm_to_ulaw

        encode = pcm_to_ulaw if kind == "audio/pcmu" else pcm_to_alaw
        coded = encode(tone(300, rate_hz) + silence(700, rate_hz))
        for at in range(0, len(coded), 160):
            await client.send("input_audio_buffer.append", audio=base64.b64encode(coded[at : at + 160]).decode())
            await asyncio.sleep(0.02)
        await client.done()
        sent = [base64.b64decode(one["delta"]) for one in client.told("response.output_audio.delta")]
        assert sum(map(len, sent)) == pytest.approx(5 * 120 * 8, abs=80)
        assert len(set(b"".join(sent))) > 50, "there is sound in it"

    client = play(script, tone_agent(hears=["over the phone"]))
    assert isinstance(client.agent.ears, ToneEars)
    assert client.agent.ears.rates == {8_000}


# -- Items


def test_what_the_client_created_and_deleted_is_what_the_brain_knows() -> None:
    async def script(client: ScriptedClient) -> None:
        system = {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "It is May."}]}
        await client.send("conversation.item.create", item=system)
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
        await client.send("conversation.item.create", item={**said, "id": "said"})
        await client.write("one")
        await client.send("response.create")
        first = await client.done()
        await asyncio.sleep(3)
        await client.send("conversation.item.delete", item_id=first["output"][0]["id"])
        await client.expect("conversation.item.deleted")
        await client.send("conversation.item.create", item={**system, "id": "late"}, previous_item_id="root")
        await client.write("two")
        await client.send("response.create")
        await client.done(1)

    client = play(script, tone_agent())
    first, second = (request.history for request in requests_of(client.agent))
    assert first == (Note("It is May."), AgentSaid(0, "Hi."), UserSaid(1, "one"))
    assert second == (
        Note("It is May."),
        Note("It is May."),
        AgentSaid(0, "Hi."),
        UserSaid(1, "one"),
        UserSaid(2, "two"),
    )


def test_text_that_no_response_was_asked_for_is_known_when_the_user_speaks() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.write("I am Ann")
        await client.speak()
        await client.done()

    client = play(script, tone_agent(hears=["who am I"]))
    request = requests_of(client.agent)[0]
    assert [item.text for item in request.history if isinstance(item, UserSaid)] == ["I am Ann", "who am I"]


# -- Limits and faults


def test_sound_that_comes_too_fast_is_left_out_and_the_client_is_told() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.send("input_audio_buffer.append", audio=base64.b64encode(silence(900)).decode())
        for _ in range(100):
            await client.send("input_audio_buffer.append", audio=base64.b64encode(silence(1_000)).decode())
        assert client.errors == ["rate_limit_exceeded"]
        assert client.told("error")[0]["error"]["type"] == "rate_limit_error"

    client = play(script, tone_agent())
    assert isinstance(client.agent.ears, ToneEars)
    assert client.agent.ears.heard_ms <= 11_000


def test_too_much_text_is_refused_and_the_next_one_is_answered() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.write("x" * 200)
        await client.send("response.create", event_id="long")
        assert client.errors == ["string_above_max_length"]
        assert client.told("error")[0]["error"]["event_id"] == "long"
        await client.send("conversation.item.delete", item_id=client.told("conversation.item.added")[0]["item"]["id"])
        await client.write("short")
        await client.send("response.create")
        assert words_of(await client.done()) == "You said short."
        await client.write("another")
        await client.send("response.create")
        assert client.errors[1:] == ["rate_limit_exceeded"]

    limits = replace(Limits(), text_chars_max=100, typed_turns=Rate(1, 60_000, 1))
    play(script, tone_agent(), limits=limits)


def test_the_rate_limits_follow_each_response_and_are_those_that_hold() -> None:
    async def script(client: ScriptedClient) -> None:
        await client.speak()
        await client.done()
        for count in (1, 2, 3):
            await client.send("response.create")
            await client.done(count)
        kinds = client.kinds()
        for at, kind in enumerate(kinds):
            assert (kind == "response.created") == (kinds[at + 1 : at + 2] == ["rate_limits.updated"])
        told = [event["rate_limits"] for event in client.told("rate_limits.updated")]
        assert [[one["name"] for one in limits] for limits in told] == [["requests"]] * 4
        assert {limits[0]["limit"] for limits in told} == {3}
        assert [limits[0]["remaining"] for limits in told] == [3, 2, 1, 0], "speech takes none, each wish takes one"
        assert told[0][0]["reset_seconds"] == 0
        left_s = told[3][0]["reset_seconds"]
        assert 170 < left_s <= 180
        await asyncio.sleep(3)
        await client.send("response.create", event_id="too soon")
        assert client.errors == ["rate_limit_exceeded"]
        assert client.told("error")[0]["error"]["event_id"] == "too soon"
        await asyncio.sleep(left_s)
        await client.send("response.create")
        await client.done(4)
        (again,) = client.told("rate_limits.updated")[4]["rate_limits"]
        assert (again["remaining"], again["reset_seconds"]) == (2, pytest.approx(60, abs=1))

    play(script, tone_agent(), limits=replace(Limits(), typed_turns=Rate(1, 60_000, 3)))


def test_a_brain_that_fails_ends_the_response_with_its_error() -> None:
    def broken(request: Request) -> object:
        raise ConnectionError("gone")

    async def script(client: ScriptedClient) -> None:
        await client.write("hello")
        await client.send("response.create")
        done = await client.done()
        assert done["status"] == "failed"
        assert done["status_details"]["error"]["type"] == "server_error"
        assert client.told("error")[0]["error"]["type"] == "server_error"

    play(script, tone_agent(broken))


def test_an_agent_without_ears_or_voice_says_what_it_cant() -> None:
    async def script(client: ScriptedClient) -> None:
        assert client.events[0]["session"]["output_modalities"] == ["text"]
        await client.hear(silence(20))
        assert client.errors == ["unsupported_parameter"]
        await client.configure(output_modalities=["audio"])
        assert client.errors[1:] == ["unsupported_parameter"]
        await client.write("hello")
        await client.send("response.create")
        assert words_of(await client.done()) == "Yes."

    play(script, Agent(lambda request: "Yes."))


def test_what_is_said_over_webrtc_before_the_conversation_runs_is_heard_when_it_does() -> None:
    async def whole() -> list[str]:
        carrier, agent = PeerCall(16_000), tone_agent(hears=["good morning"])
        call = RealtimeCall(
            agent,
            Context(CallInfo(conversation="0" * 32, line="realtime")),
            Limits(),
            lambda event, voice: None,
            lambda voice: None,
            config=SessionConfig(),
            make_player=carrier.make_player,
            track_hz=16_000,
        )
        for piece in [silence(20, 16_000)] * 500 + [tone(20, 16_000)] * 15 + [silence(20, 16_000)] * 5:
            call.hear_track(piece, 20)
        await call.begin(lambda conversation: None)
        for _ in range(50):
            call.hear_track(silence(20, 16_000), 20)
            await asyncio.sleep(0.02)
        await call.end("over")
        ears = agent.ears
        assert isinstance(ears, ToneEars)
        assert ears.heard_ms <= EARLY_MS_MAX + 50 * 20, "only the last seconds are kept"
        return [request.text for request in requests_of(agent)]

    assert run_simulated(whole()) == ["good morning"]


# -- Usage


def test_the_usage_of_a_transcript_is_the_length_of_what_was_said() -> None:
    """Also in later turns, whichever side ends them."""

    def seconds(client: ScriptedClient) -> list[float]:
        told = client.told("conversation.item.input_audio_transcription.completed")
        return [event["usage"]["seconds"] for event in told]

    async def script(client: ScriptedClient) -> None:
        transcription = {"model": "whisper-1"}
        await client.configure(audio={"input": {"transcription": transcription}})
        for _ in range(2):
            await client.hear(silence(2_000))
            await client.speak()
            await client.done(len(seconds(client)) - 1)
            await asyncio.sleep(3)
        assert all(0.3 < one < 1.5 for one in seconds(client)), seconds(client)
        await client.configure(audio={"input": {"turn_detection": None}})
        await client.hear(tone(400))
        await client.send("input_audio_buffer.commit")
        await client.expect("conversation.item.input_audio_transcription.completed", after=2)
        assert seconds(client)[2] == 0.4

    play(script, tone_agent(hears=["one", "two", "three"]))
