"""Requests and responses of a session: lost, late, repeated and refused events."""

from __future__ import annotations

import pytest

from duologue import RealtimeModel, ServiceError
from duologue.core.leaves import ErrorClass, Link
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.observe import signals as sg
from duologue.ports import Request
from duologue.testing.realtime.server import BreakDown, CallTool, ProtocolFault, RealtimeServer, Speak
from tests.brains.realtime_call import QUICK_RETRIES, RealtimeCall, ask, converse, links

# -- Events that go astray


@pytest.mark.parametrize(
    "fault",
    [
        ProtocolFault("duplicate", "response.created"),
        ProtocolFault("duplicate", "response.output_audio.delta", times=3),
        ProtocolFault("duplicate", "response.output_audio_transcript.delta"),
        ProtocolFault("duplicate", "response.done"),
        ProtocolFault("late", "response.created"),
        ProtocolFault("late", "response.output_item.added"),
        ProtocolFault("late", "response.output_item.done"),
        ProtocolFault("dropped", "response.output_item.added"),
        ProtocolFault("dropped", "response.output_item.done"),
        ProtocolFault("dropped", "response.content_part.added"),
        ProtocolFault("dropped", "rate_limits.updated"),
        ProtocolFault("slow", "response.created", ms=150),
        ProtocolFault("slow", "response.output_audio.delta", times=2, ms=100),
    ],
    ids=lambda fault: f"{fault.what} {fault.kind}",
)
def test_an_answer_is_heard_once_and_whole_whatever_event_goes_astray(fault: ProtocolFault) -> None:
    call = converse(ask, RealtimeServer([Speak("It is sunny.", ms=200)], faults=[fault]))
    assert call.heard == ["It is sunny."]
    assert call.line.played[1] == 200
    assert links(call) == [Link.PREPARING, Link.UP]
    assert call.signals_of(sg.Failed) == []


@pytest.mark.parametrize("kind", ["response.output_item.done", "response.done"])
def test_a_call_is_made_once_even_if_one_of_its_events_is_lost(kind: str) -> None:
    made: list[int] = []

    def look() -> str:
        """Look."""
        made.append(1)
        return "three"

    server = RealtimeServer([CallTool("look"), Speak("Three.", ms=200)], faults=[ProtocolFault("dropped", kind)])
    call = converse(ask, server, settings={"tail_ms_max": 200}, tools=[look])
    assert (made, call.heard) == ([1], ["Three."])


@pytest.mark.req("L-24")
def test_an_end_that_never_comes_is_not_waited_for() -> None:
    server = RealtimeServer(
        [Speak("It is sunny.", ms=200), Speak("Still.", ms=200)], faults=[ProtocolFault("dropped", "response.done")]
    )

    async def act(call: RealtimeCall) -> None:
        await ask(call)
        call.conversation.type("and now")
        await call.until(lambda: len(call.heard) == 2)

    call = converse(act, server, settings={"tail_ms_max": 200})
    assert call.heard == ["It is sunny.", "Still."]
    assert call.model.counts["end_lost"] == 1


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("rate_limit_exceeded", ErrorClass.RATE_LIMIT),
        ("unknown_parameter", ErrorClass.INVALID_ARGS),
        ("server_error", ErrorClass.SERVER_ERROR),
        ("invalid_api_key", ErrorClass.AUTH_FAILURE),
    ],
)
@pytest.mark.parametrize("how", ["refused", "failed"])
def test_a_failure_has_its_class_wherever_it_is_reported(code: str, error: ErrorClass, how: str) -> None:
    async def run() -> ServiceError:
        faults = [ProtocolFault("refused", "response.create", code=code)] if how == "refused" else []
        async with RealtimeServer([BreakDown(code)], faults=faults) as server:
            model = RealtimeModel(url=server.url)
            await model.open(None, lambda event: None)
            try:
                with pytest.raises(ServiceError) as failed:
                    _ = [part async for part in model.reply(Request(1, "hello"))]
            finally:
                await model.close()
            return failed.value

    assert run_jumping(run()).error is error


def test_a_refused_item_fails_the_answer_and_not_the_call() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello")
        await call.until(lambda: call.signals_of(sg.Failed))
        assert [lost.texts for lost in call.signals_of(sg.Lost)] == [("hello",)], "the same item is refused again"
        call.conversation.type("good morning")
        await call.until(lambda: call.heard)

    def look() -> str:
        """Look."""
        return ""

    server = RealtimeServer(faults=[ProtocolFault("refused", "conversation.item.create", code="invalid_value")])
    call = converse(act, server, tools=[look])
    assert call.signals_of(sg.Failed)[0].error is ErrorClass.INVALID_ARGS


@pytest.mark.parametrize("kind", ["conversation.item.create", "session.update"])
def test_what_a_busy_server_refused_is_sent_again_with_the_retry(kind: str) -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.faults.append(ProtocolFault("refused", kind, code="rate_limit_exceeded"))
        await ask(call)

    call = converse(act, machine=QUICK_RETRIES, instructions="Be brief.")
    assert call.heard == ["I see."]
    said = [item["content"][0]["text"] for item in call.server.session.items if item["role"] == "user"]
    assert said == ["hello"]
    assert call.server.session.settings["instructions"] == "Be brief."
