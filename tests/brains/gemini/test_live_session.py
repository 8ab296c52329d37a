"""One session on a wire whose other side is the test."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from duologue.brains.gemini import client_messages as cm
from duologue.brains.gemini.answer import GeminiAnswer
from duologue.brains.gemini.live_session import GeminiSession
from duologue.brains.gemini.server_copy import ServerCopy
from duologue.brains.gemini.settings import GeminiSettings
from duologue.core.leaves import ErrorClass
from duologue.ports import AgentSaid, CallOutput
from duologue.ports.failure import ServiceError
from duologue.ports.tool_call import ToolCall
from duologue.runtime.simulated_clock import run_simulated
from tests.brains.test_model_wire import FakeWire

SOUND = {"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AAAA" * 400}}]}}


class Owner:
    """Records what a session tells."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("note_"):
            raise AttributeError(name)
        return lambda *given: self.told.append((name, *[one for one in given if not isinstance(one, GeminiSession)]))


class Held:
    """A session, its wire and its owner."""

    def __init__(self) -> None:
        self.wire, self.owner, self.counts = FakeWire(), Owner(), Counter[str]()
        settings = GeminiSettings(free_ms_max=500)
        self.live = GeminiSession(self.wire, settings, ServerCopy(), self.counts, self.owner, "host")

    async def server(self, *messages: dict[str, Any]) -> None:
        for message in messages:
            self.wire.incoming.put_nowait(json.dumps(message))
        await asyncio.sleep(0.01)

    @property
    def sent(self) -> list[str]:
        found = [json.loads(text) for text in self.wire.sent]
        return [next(iter(one.get("realtimeInput", one))) for one in found]


def hold(act: Callable[[Held], Awaitable[None]]) -> Held:
    async def run() -> Held:
        held = Held()
        await act(held)
        await held.live.close()
        return held

    return run_simulated(run())


def ask(held: Held, reply: int = 1) -> GeminiAnswer:
    answer = GeminiAnswer(reply)
    held.live.request(answer, [cm.content([cm.note("x")], is_request=True)])
    return answer


def test_a_session_begins_when_its_setup_is_accepted() -> None:
    async def act(held: Held) -> None:
        beginning = asyncio.ensure_future(held.live.begin({"setup": {}}))
        await asyncio.sleep(0.1)
        assert not beginning.done()
        await held.server({"setupComplete": {}})
        await beginning

    assert hold(act).sent == ["setup"]


def test_an_error_object_instead_of_a_setup_is_a_failure() -> None:
    async def act(held: Held) -> None:
        await held.server({"error": {"code": 403, "status": "PERMISSION_DENIED"}})
        with pytest.raises(ServiceError) as failed:
            await held.live.begin({"setup": {}})
        assert failed.value.error is ErrorClass.AUTH_FAILURE
        await held.live.close()

    hold(act)


def test_what_is_not_part_of_an_answer_is_told() -> None:
    async def act(held: Held) -> None:
        await held.server(
            {"sessionResumptionUpdate": {"newHandle": "h", "resumable": True}},
            {"goAway": {"timeLeft": "5s"}},
            {"serverContent": {"inputTranscription": {"text": "hi"}}},
            {"usageMetadata": {"promptTokenCount": 3}},
        )

    assert [one[0] for one in hold(act).owner.told] == [
        "note_handle",
        "note_going_away",
        "note_transcript",
        "note_usage",
    ]


def test_an_answer_that_is_given_up_is_interrupted_and_its_rest_dropped() -> None:
    async def act(held: Held) -> None:
        answer = ask(held)
        await held.server({"serverContent": SOUND})
        held.live.abandon(answer)
        held.live.abandon(answer)
        waiting = asyncio.ensure_future(held.live.wait_until_free())
        await held.server({"serverContent": SOUND})
        assert not waiting.done()
        await held.server({"serverContent": {"interrupted": True}})
        await waiting
        second = ask(held, 2)
        await held.server({"serverContent": {"turnComplete": True}}, {"serverContent": SOUND})
        assert second.said, "the late end was that of the first"

    held = hold(act)
    assert held.sent == ["clientContent"] * 3, "a request, an interruption, a request"
    assert held.counts == {"late": 1}


def test_an_end_that_never_comes_is_waited_for_only_so_long() -> None:
    async def act(held: Held) -> None:
        held.live.abandon(ask(held))
        await held.live.wait_until_free()

    assert hold(act).counts == {"never_ended": 1}


def test_an_answer_can_begin_before_it_is_claimed() -> None:
    async def act(held: Held) -> None:
        held.live.request(GeminiAnswer(), [cm.end_activity()])
        calls = {"functionCalls": [{"id": "c", "name": "f", "args": {}}]}
        await held.server({"serverContent": SOUND}, {"toolCall": calls})
        await held.live.wait_until_free()
        answer = held.live.claim(4)
        assert answer is not None
        parts = [await answer.next() for _ in range(3)]
        assert parts[-1] == ToolCall("f", {}, "c")
        history = (AgentSaid(4, "", calls=((1, ToolCall("f", {}, "c")),)), CallOutput(1, "done"))
        assert held.live.copy.catch_up(history, 5).outputs == (("c", "f", "done"),)
        assert held.live.claim(5) is None or held.live.answer is answer

    hold(act)


def test_an_answer_that_is_not_claimed_ends_with_the_next_activity() -> None:
    async def act(held: Held) -> None:
        held.live.request(GeminiAnswer(), [cm.end_activity()])
        held.live.send(held.live.begin_activity())
        assert held.live.claim(1) is None
        assert not held.live.is_answering
        await asyncio.sleep(0.01)

    assert hold(act).sent == ["activityEnd", "activityStart"]


def test_a_second_request_ends_the_answer_before_it() -> None:
    async def act(held: Held) -> None:
        first, second = ask(held), ask(held, 2)
        with pytest.raises(ServiceError, match="replaced"):
            await first.next()
        assert held.live.answer is second

    hold(act)


def test_a_lost_wire_fails_the_answer_and_is_told_once() -> None:
    async def act(held: Held) -> None:
        answer = ask(held)
        held.wire.incoming.put_nowait(ConnectionError("gone"))
        await asyncio.sleep(0.01)
        held.live.fail_all(ServiceError(ErrorClass.NETWORK_TIMEOUT))
        with pytest.raises(ServiceError):
            await answer.next()

    held = hold(act)
    assert [one[0] for one in held.owner.told] == ["note_lost"]


def test_a_closed_session_tells_nothing_any_more() -> None:
    async def act(held: Held) -> None:
        await held.live.close()
        held.live.lose(TimeoutError())

    assert hold(act).owner.told == []
