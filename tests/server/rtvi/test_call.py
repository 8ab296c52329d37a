"""A whole conversation with an RTVI client, in simulated time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from duologue import Agent, Context, Hooks, client_tool, tool
from duologue.core.leaves import ErrorClass
from duologue.fairness.bucket import Rate
from duologue.ports.brain import LastWords, Request
from duologue.ports.client_channel import ProgramMessage
from duologue.ports.failure import ServiceError
from duologue.ports.history import AgentSaid, UserSaid
from duologue.server.rtvi.call import common_length
from duologue.server.rtvi.pacing import LEAD_MS
from duologue.server.settings import Limits, ServerSettings
from duologue.testing import ScriptedBrain, ScriptedSession
from tests.server.realtime.tone_agent import SETTINGS, silence, tone, tone_agent
from tests.server.rtvi.client_script import ScriptedRtviClient, play


@client_tool
def get_weather(city: str) -> str:
    """The weather in a city."""


def requests_of(agent: Agent) -> list[Request]:
    assert isinstance(agent.brain, ScriptedBrain)
    return agent.brain.requests


def test_a_spoken_turn_is_answered_with_words_sound_and_states() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        ready = await client.connect()
        assert (ready["version"], ready["about"]["name"]) == ("2.1.0", "Ada")
        await client.speak()
        await client.expect("bot-stopped-speaking")

    client = play(script, tone_agent(hears=["good morning"]))
    wanted = [
        "bot-ready",
        "user-started-speaking",
        "user-transcription",
        "user-transcription",
        "user-stopped-speaking",
        "user-llm-text",
        "bot-llm-started",
        "bot-llm-text",
        "bot-tts-started",
        "bot-started-speaking",
        "bot-llm-stopped",
        "bot-transcription",
        "bot-tts-stopped",
        "bot-stopped-speaking",
    ]
    assert [kind for kind in client.kinds() if kind in wanted and kind != "bot-tts-text"] == wanted
    assert [(one["text"], one["final"]) for one in client.told("user-transcription")] == [
        ("good morning", False),
        ("good morning", True),
    ]
    assert client.told("bot-transcription") == [{"text": "You said good morning."}]
    assert [one["text"] for one in client.told("bot-tts-text")] == ["You", "said", "good", "morning."]
    assert [one["spoken_status"] for one in client.told("bot-output")] == ["new", *["in-progress"] * 3, "completed"]
    assert sum(ms for _, ms in client.sound) == 4 * 120
    measured = [name for one in client.told("metrics") for name in one]
    assert sorted(measured) == ["characters", "ttfb"]


def test_an_interruption_counts_what_was_sent_and_the_client_is_told_to_drop_the_rest() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        await client.connect()
        await client.speak()
        await client.expect("bot-started-speaking")
        await asyncio.sleep(1.0)
        await client.speak()
        await client.expect("bot-started-speaking", 1)
        await client.expect("bot-stopped-speaking", 1)
        client.send("send-text", {"content": "and now"})
        await client.expect("bot-stopped-speaking", 2)

    client = play(script, tone_agent(hears=["tell me a story", "stop it now please"]))
    assert client.drops == 1
    assert client.kinds().count("bot-interrupted") == 1
    cut = next(item for item in requests_of(client.agent)[-1].history if isinstance(item, AgentSaid))
    assert cut.interrupted
    heard_ms = cut.heard_ms
    until = [at for at, _ in client.sound]
    gap = max(range(1, len(until)), key=lambda at: until[at] - until[at - 1])
    assert heard_ms == sum(ms for _, ms in client.sound[:gap]), "all that was sent, and nothing else"
    assert client.told("bot-transcription")[0]["text"] == cut.text
    assert 1_000 <= heard_ms <= 2_500


def test_sound_is_never_sent_far_ahead() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        await client.connect()
        await client.speak()
        await client.expect("bot-stopped-speaking")

    client = play(script, tone_agent(hears=["tell me a story"]))
    began, sent = client.sound[0][0], 0
    for at, ms in client.sound:
        sent += ms
        assert sent - (at - began) * 1000 <= LEAD_MS + 1


def test_the_client_runs_a_function_and_own_tools_have_no_names() -> None:
    @tool
    async def own_secret() -> str:
        """Looks something up."""
        return "42"

    def answer(request: Request) -> Any:
        from duologue.ports.tool_call import ToolCall

        if request.outputs:
            return f"It is {request.outputs[-1].output}."
        name = "get_weather" if "weather" in request.text else "own_secret"
        return [ToolCall(name, {"city": "Bonn"} if name == "get_weather" else {}, "c")]

    async def script(client: ScriptedRtviClient) -> None:
        await client.connect()
        client.send("send-text", {"content": "the weather"})
        call = await client.expect("llm-function-call-in-progress")
        assert call == {"function_name": "get_weather", "tool_call_id": "call_1", "arguments": {"city": "Bonn"}}
        given = {"function_name": "get_weather", "tool_call_id": "call_1", "arguments": {}, "result": "sunny"}
        client.send("llm-function-call-result", given)
        await client.expect("bot-stopped-speaking")
        client.send("llm-function-call-result", given, "again")
        client.send("send-text", {"content": "the secret"})
        await client.expect("bot-stopped-speaking", 1)

    client = play(script, tone_agent(answer, tools=[get_weather, own_secret]))
    assert client.told("bot-transcription") == [{"text": "It is sunny."}, {"text": "It is 42."}]
    assert client.told("llm-function-call-stopped") == [
        {"function_name": "get_weather", "tool_call_id": "call_1", "cancelled": False, "result": "sunny"},
        {"tool_call_id": "call_2", "cancelled": False},
    ]
    assert client.told("error-response") == [{"error": "No open function call has the id 'call_1'."}]
    assert "own_secret" not in str(client.messages)


def test_programs_of_both_sides_exchange_messages() -> None:
    async def answer(context: Context[None], message: ProgramMessage) -> object:
        if message.type == "bad":
            raise ValueError("secret")
        context.send_to_client({"seen": message.type})
        return [message.data]

    async def script(client: ScriptedRtviClient) -> None:
        await client.connect()
        client.send("client-message", {"t": "ping", "d": 1}, "q1")
        assert await client.expect("server-response") == {"t": "ping", "d": [1]}
        client.send("client-message", {"t": "bad"}, "q2")
        assert await client.expect("error-response") == {"error": "the agent could not answer the message"}
        assert [one["id"] for one in client.messages if one["type"] in ("server-response", "error-response")] == [
            "q1",
            "q2",
        ]

    client = play(script, tone_agent(hooks=Hooks(on_message=answer)))
    assert client.told("server-message") == [{"seen": "ping"}]


def test_an_agent_without_the_hook_says_so() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        await client.connect()
        client.send("client-message", {"t": "ping"})
        assert "on_message" in (await client.expect("error-response"))["error"]

    play(script, tone_agent())


def test_text_may_be_added_without_an_answer_and_an_answer_may_be_only_shown() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        await client.connect()
        client.send("append-to-context", {"role": "user", "content": "My name is Eve."})
        client.send("append-to-context", {"role": "assistant", "content": "Hello Eve."})
        await asyncio.sleep(5)
        assert client.told("bot-llm-started") == []
        client.send("send-text", {"content": "who am I", "options": {"audio_response": False}})
        await client.expect("bot-llm-stopped")
        assert client.sound == []
        client.send("send-text", {"content": "say it"})
        await client.expect("bot-stopped-speaking")

    client = play(script, tone_agent())
    first = requests_of(client.agent)[0]
    assert first.history[:2] == (UserSaid(0, "My name is Eve."), AgentSaid(0, "Hello Eve."))
    assert [one["will_be_spoken"] for one in client.told("bot-output") if one["spoken_status"] == "new"] == [
        False,
        True,
    ]


def test_the_client_ends_the_conversation_and_so_does_the_agent() -> None:
    async def leave(client: ScriptedRtviClient) -> None:
        await client.connect()
        client.send("disconnect-bot", {})
        assert (await client.expect_closed()).code == 1000

    play(leave, tone_agent())

    async def wait(client: ScriptedRtviClient) -> None:
        await client.connect()
        client.send("send-text", {"content": "bye"})
        assert (await client.expect_closed()).code == 1000
        assert client.told("bot-transcription") == [{"text": "Goodbye."}]

    play(wait, tone_agent(lambda request: LastWords("Goodbye.")))


def test_too_much_sound_and_text_is_left_out_and_told() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        await client.connect()
        taken = sum(client.call.take_sound(1_000) for _ in range(100))
        assert taken <= 11
        client.send("send-text", {"content": "x" * 5_000}, "long")
        assert "At most 4000 characters" in (await client.expect("error-response"))["error"]
        for number in range(30):
            client.send("append-to-context", {"role": "user", "content": f"line {number}"})
        assert len(client.told("error-response")) > 1

    client = play(script, tone_agent())
    assert len(client.told("error")) == 1
    assert client.told("error")[0]["fatal"] is False


def test_a_server_that_is_full_says_so_and_closes() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        client.send("client-ready", {"version": "2.1.0"})
        assert (await client.expect_closed()).code == 1013
        assert client.told("error")[0]["fatal"] is True
        assert client.told("bot-ready") == []

    limits = Limits(starts=Rate(1, 3_600_000, 1))

    async def second(client: ScriptedRtviClient) -> None:
        assert client.conversations.why_no_start("") is None  # another client's
        await script(client)

    play(second, tone_agent(), settings=ServerSettings(limits=limits))


def test_a_client_that_is_ready_twice_at_once_has_one_conversation() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        begun: list[object] = []
        client.conversations.observers.append(begun.append)
        client.send("client-ready", {"version": "2.1.0"}, "first")
        await client.connect()
        client.send("send-text", {"content": "hello"})
        await client.expect("bot-stopped-speaking")
        assert len(begun) == 1

    client = play(script, tone_agent())
    assert client.told("bot-output")[-1]["text"] == "You said hello."


def test_a_conversation_in_which_nothing_is_said_ends() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        await client.connect()
        await client.hear(silence(100, 16_000))
        await asyncio.sleep(301)
        assert client.closed is not None
        assert not client.call.has_spoken
        assert client.call.is_over

    play(script, tone_agent())


def test_sound_before_the_conversation_isnt_heard() -> None:
    async def script(client: ScriptedRtviClient) -> None:
        await client.hear(tone(300, 16_000))
        assert not client.call.has_begun

    play(script, tone_agent())


@pytest.mark.parametrize(("one", "two", "length"), [("", "a", 0), ("ab", "ab", 2), ("abc", "abd", 2), ("ab", "abc", 2)])
def test_how_much_two_texts_share(one: str, two: str, length: int) -> None:
    assert common_length(one, two) == length


async def two_turns(client: ScriptedRtviClient) -> None:
    await client.connect()
    await client.speak()
    await client.expect("bot-stopped-speaking")
    await asyncio.sleep(3)
    await client.speak()
    await client.expect("bot-stopped-speaking", after=1)
    await asyncio.sleep(3)


def test_a_client_is_told_the_same_whether_sessions_are_renewed_or_not() -> None:
    """Only how many words are reported at once may differ: they are reported whenever the conversation does a step."""

    def talk(session: ScriptedSession, **limits: int) -> tuple[list[str], str, list[Any]]:
        settings = replace(SETTINGS, **limits)
        agent = tone_agent(hears=["tell me a story", "thank you"], settings=settings, session=lambda: session)
        client = play(two_turns, agent)
        kinds = [kind for kind in client.kinds() if kind not in ("bot-output", "bot-tts-text")]
        words = " ".join(one["text"] for one in client.told("bot-tts-text"))
        return kinds, words, client.told("bot-transcription")

    once, often = ScriptedSession(), ScriptedSession(renew_ms=200)
    assert talk(often, session_ms_max=700, session_warning_ms=500) == talk(once)
    assert (once.renewals, often.renewals > 10) == (0, True)


def test_a_sentence_that_a_lost_session_cuts_is_said_again_and_the_next_turn_is_answered() -> None:
    session = ScriptedSession(renew_failures=[ServiceError(ErrorClass.SERVER_ERROR)])
    settings = replace(SETTINGS, session_ms_max=2_500, session_warning_ms=2_000)
    agent = tone_agent(hears=["tell me a story", "thank you"], settings=settings, session=lambda: session)
    client = play(two_turns, agent)
    assert session.opens == 2
    assert len(client.told("bot-llm-started")) == len(client.told("bot-llm-stopped")) == 3
    told = [one["text"] for one in client.told("bot-transcription")]
    assert told[0].startswith("word1 word2")
    assert "word40" not in told[0]
    assert told[1].startswith("word1 word2")
    assert told[2] == "You said thank you."
