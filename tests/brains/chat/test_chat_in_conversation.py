"""A chat brain in a whole conversation, against a real server on a local port and in real time.

Waits for events with generous limits; nothing here depends on how fast the machine is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from duologue import Agent, Conversation, profile, tool
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lines.scripted import ScriptedLine
from duologue.observe.signals import Failed, Signal, TurnCompleted, TurnInterrupted, TurnStarted
from duologue.ports import AgentSaid, CallOutput, UserSaid
from duologue.runtime.seats import Seats
from duologue.voice.scripted import ScriptedVoice
from tests.brains.chat_server import ChatServer, Script, Wire, talking
from tests.limits import WAIT_S


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Seen:
    """The signals of a conversation, to wait for."""

    def __init__(self, conversation: Conversation) -> None:
        self.signals: list[Signal] = []
        self._more = asyncio.Event()
        conversation.on(Signal, self._add)

    def _add(self, signal: Signal) -> None:
        self.signals.append(signal)
        self._more.set()

    async def wait_for(self, holds: Callable[[Signal], bool]) -> Signal:
        async with asyncio.timeout(WAIT_S):
            while True:
                found = next((signal for signal in self.signals if holds(signal)), None)
                if found is not None:
                    self.signals.clear()
                    return found
                self._more.clear()
                await self._more.wait()


def is_agent(kind: type[TurnStarted | TurnCompleted | TurnInterrupted]) -> Callable[[Signal], bool]:
    return lambda signal: isinstance(signal, kind) and signal.turn.role == "assistant"


def converse(
    act: Callable[[Conversation, Seen, ChatServer], Awaitable[None]], *scripts: Script, **changes: Any
) -> Conversation:
    """Hold a conversation in which the server behaves like this."""

    async def run() -> Conversation:
        async with talking(*scripts) as (server, brain):
            voice = ScriptedVoice(char_ms=3)  # it speaks fast: this is real time
            agent = Agent(brain, voice=voice, **{"profile": profile("confirm", dead_air_ms=0), **changes})
            conversation = Conversation(agent, ScriptedLine(ack_ms=20), seats=Seats())
            seen = Seen(conversation)
            async with conversation:
                await act(conversation, seen, server)
            return conversation

    return run_jumping(run())


async def counting(wire: Wire) -> None:
    """Count aloud until the client has gone."""
    await wire.begin()
    await wire.delta(content="One. Two. Three. Four. Five. ")
    await wire.until_gone()


@pytest.mark.req("T-08", "C-AC-002", "C-AC-003")
def test_a_typed_question_is_answered_aloud() -> None:
    async def weather(wire: Wire) -> None:
        await wire.begin()
        for piece in ("It is ", "sunny. ", "Take a ", "hat."):
            await wire.delta(content=piece)
        await wire.finish()

    async def act(conversation: Conversation, seen: Seen, server: ChatServer) -> None:
        conversation.type("How is the weather?")
        await seen.wait_for(is_agent(TurnCompleted))
        assert len(server.bodies) == 1

    history = converse(act, weather).history
    assert [item.text for item in history if isinstance(item, UserSaid | AgentSaid)] == [
        "How is the weather?",
        "It is sunny. Take a hat.",
    ]


@pytest.mark.req("T-08", "L-06")
def test_an_interruption_closes_the_request_for_real() -> None:
    async def act(conversation: Conversation, seen: Seen, server: ChatServer) -> None:
        conversation.type("Please count.")
        await seen.wait_for(is_agent(TurnStarted))
        conversation.interrupt()
        await seen.wait_for(is_agent(TurnInterrupted))
        async with asyncio.timeout(WAIT_S):
            await server.gone.wait()
        assert conversation.phase == "listening"

    converse(act, counting)


@pytest.mark.req("L-07")
def test_a_tool_is_called_and_its_result_goes_back() -> None:
    async def calls(wire: Wire) -> None:
        await wire.begin()
        call = {"index": 0, "id": "c7", "function": {"name": "price", "arguments": '{"fruit": "plum"}'}}
        await wire.delta(tool_calls=[call])
        await wire.finish("tool_calls")

    async def tells(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="A plum is two pounds.")
        await wire.finish()

    @tool
    def price(fruit: str) -> str:
        """The price of a fruit."""
        return f"{fruit}: 2"

    async def act(conversation: Conversation, seen: Seen, server: ChatServer) -> None:
        conversation.type("How much is a plum?")
        await seen.wait_for(is_agent(TurnCompleted))
        assert server.bodies[0]["tools"][0]["function"]["name"] == "price"
        assert [m["role"] for m in server.bodies[1]["messages"]][-2:] == ["assistant", "tool"]
        assert server.bodies[1]["messages"][-1] == {"role": "tool", "tool_call_id": "c7", "content": "plum: 2"}

    history = converse(act, calls, tells, tools=[price]).history
    assert [item.output for item in history if isinstance(item, CallOutput)] == ["plum: 2"]


@pytest.mark.req("L-12", "L-13")
def test_a_server_error_is_retried_once_and_then_answered() -> None:
    async def fails(wire: Wire) -> None:
        await wire.whole(500, {"error": {"message": "secret words"}})

    async def works(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="Here I am.")
        await wire.finish()

    async def act(conversation: Conversation, seen: Seen, server: ChatServer) -> None:
        conversation.type("Are you there?")
        await seen.wait_for(is_agent(TurnCompleted))
        assert len(server.bodies) == 2

    quick = profile("confirm", dead_air_ms=0, retry_ms=(20, 40, 80))
    assert converse(act, fails, works, profile=quick).metrics.errors == 0


@pytest.mark.req("L-13")
def test_a_conversation_that_grows_too_long_for_its_model_goes_on() -> None:
    async def works(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="I see.")
        await wire.finish()

    async def refuses(wire: Wire) -> None:
        await wire.whole(400, {"error": {"message": "maximum context length is 800 tokens"}})

    async def act(conversation: Conversation, seen: Seen, server: ChatServer) -> None:
        for number in range(4):
            conversation.type(f"{number} {'word ' * 200}")
            await seen.wait_for(is_agent(TurnCompleted))
        assert len(server.bodies) == 5
        refused, accepted = (str(body["messages"]) for body in server.bodies[-2:])
        assert "0 word" in refused
        assert "0 word" not in accepted
        assert "3 word" in accepted

    quick = profile("confirm", dead_air_ms=0, retry_ms=(20, 40, 80))
    assert converse(act, works, works, works, refuses, works, profile=quick).metrics.errors == 0


@pytest.mark.req("C-SEC-003", "C-AC-006")
def test_a_refused_key_ends_the_call_with_a_hint_and_no_credential() -> None:
    async def refuses(wire: Wire) -> None:
        await wire.whole(401, {"error": {"message": "bad key sk-secret"}})

    async def act(conversation: Conversation, seen: Seen, server: ChatServer) -> None:
        conversation.type("Hello?")
        failed = await seen.wait_for(lambda signal: isinstance(signal, Failed))
        assert isinstance(failed, Failed)
        assert failed.fatal
        assert "credentials" in failed.hint
        assert "secret" not in repr(failed)

    converse(act, refuses)


@pytest.mark.req("L-06", "V-01")
def test_a_stream_that_breaks_while_it_is_heard_ends_there_and_says_so() -> None:
    async def breaks(wire: Wire) -> None:
        await wire.begin()
        await wire.delta(content="The first half is this. And then ")
        await wire.delta(content="the second")
        wire.break_off()

    async def act(conversation: Conversation, seen: Seen, server: ChatServer) -> None:
        conversation.type("Tell me both halves.")
        await seen.wait_for(is_agent(TurnCompleted))

    (said,) = [item for item in converse(act, breaks).history if isinstance(item, AgentSaid)]
    assert said.text == "The first half is this. Sorry, I lost the rest of that."
