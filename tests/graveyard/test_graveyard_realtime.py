"""Speech-to-speech sessions that failed elsewhere, over the real protocol and a real socket.

Graveyard rows 17, 20 and 21. The scripted server is strict: at the end of each call it fails the test if
any event broke the protocol, such as a second output for one call.
"""

from __future__ import annotations

import asyncio

import pytest

from duologue import tool
from duologue.core import effects as fx
from duologue.core.leaves import Link, Outcome
from duologue.observe import signals as sg
from duologue.testing.realtime.server import CallTool, FallSilent, ProtocolFault, RealtimeServer, Speak
from tests.brains.realtime_call import RealtimeCall, converse


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def asked(call: RealtimeCall) -> int:
    return sum(isinstance(effect, fx.StartReply) for record in call.records for effect in record.effects)


# -- 17: a request that races the server's own voice detection


@pytest.mark.graveyard(17)
@pytest.mark.parametrize("is_known", [True, False])
def test_a_request_that_meets_the_servers_own_response_gets_its_answer(is_known: bool) -> None:
    """livekit/agents#6817: the server answers by itself, the client's request is refused, and nobody ties
    the refusal to the request: it dies as a 10 s timeout. Here the server answers although it was told not
    to; its response is cancelled and forgotten, and the request is made again. `is_known`: we hear of that
    response before our request is refused."""

    async def act(call: RealtimeCall) -> None:
        await call.says("what is the weather")
        await call.until(lambda: call.heard)
        await call.rests()

    server = RealtimeServer(
        [Speak("Nobody asked.", ms=4_000, paced=True), Speak("It is sunny.")],
        answers_by_itself=True,
        faults=[] if is_known else [ProtocolFault("slow", "response.created", ms=50)],
    )
    call = converse(act, server)
    assert call.heard == ["It is sunny."]
    assert asked(call) == 1, "one request of the runtime, however often it is put to the server"
    first, *others = [record.event.at for record in call.records if type(record.event).__name__ == "AudioBuffered"]
    started = next(m.event.at for m in call.records if any(isinstance(e, fx.StartReply) for e in m.effects))
    assert others == []
    assert first - started < 2_000
    assert call.model.counts["unrequested"] == (1 if is_known else 0)
    assert [item["content"][0].get("transcript") for item in server.session.items if item["role"] == "assistant"] == [
        "It is sunny."
    ]
    assert call.signals_of(sg.Failed) == []


@pytest.mark.graveyard(17)
def test_a_refusal_belongs_to_the_request_that_it_names() -> None:
    """Of the same kind: an error that names another event is no answer to this request."""

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello")
        await call.until(lambda: call.server.gave("response.created"))
        await call.server.session.send_error("conversation_already_has_active_response", "somebody_else")
        await call.server.session.send_error("rate_limit_exceeded", "")
        call.conversation.interrupt()
        await call.rests()
        call.conversation.type("again")
        await call.until(lambda: call.heard)

    call = converse(act, RealtimeServer([FallSilent(), Speak("Here I am.")]))
    assert call.heard == ["Here I am."]
    assert asked(call) == 2
    assert call.signals_of(sg.Failed) == []


@pytest.mark.graveyard(17)
def test_a_request_without_any_answer_has_its_own_deadline() -> None:
    """Of the same kind: neither a response nor an error comes. The server is alive, so the session stays."""

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello")
        await call.until(lambda: call.heard)

    server = RealtimeServer([FallSilent(), Speak("Here I am.")], faults=[ProtocolFault("dropped", "response.created")])
    call = converse(
        act, server, settings={"request_ms_max": 200, "free_ms_max": 200}, machine={"retry_ms": (30, 60, 120)}
    )
    assert call.heard == ["Here I am."]
    assert len(server.sessions) == 1


@pytest.mark.graveyard(17)
def test_a_cancel_that_comes_too_late_ends_nothing() -> None:
    """openai-agents-js#189, of the same kind: `response_cancel_not_active` ended whole calls."""

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello")
        await call.until(lambda: call.server.gave("response.created"))
        call.conversation.interrupt()
        await call.until(lambda: call.server.gave("error"))
        await call.rests()
        call.conversation.type("again")
        await call.until(lambda: call.heard)

    server = RealtimeServer(
        [FallSilent(), Speak("Here I am.")],
        faults=[ProtocolFault("refused", "response.cancel", code="response_cancel_not_active")],
    )
    call = converse(act, server, settings={"free_ms_max": 200})
    assert call.heard == ["Here I am."]
    assert [record.after.link for record in call.records].count(Link.FAULTED) == 0


# -- 20: the session's limit


def effects(call: RealtimeCall, kind: type[fx.Effect]) -> list[fx.Effect]:
    return [effect for record in call.records for effect in record.effects if isinstance(effect, kind)]


@pytest.mark.graveyard(20)
def test_a_session_that_reaches_its_limit_again_and_again_is_always_renewed() -> None:
    """pipecat#3170, livekit/agents#2358, #1252: the realtime session hits its limit and the call dies."""

    async def act(call: RealtimeCall) -> None:
        for number in range(3):
            call.conversation.type(f"question {number}")
            await call.until(lambda number=number: len(call.heard) == number + 1)
            await call.until(lambda number=number: len(call.server.sessions) >= number + 2)
            await call.until(lambda number=number: len(effects(call, fx.RestoreContext)) >= number + 2)

    server = RealtimeServer([Speak(f"Answer {number}.", ms=200) for number in range(3)])
    call = converse(act, server, machine={"session_ms_max": 900, "session_warning_ms": 600})
    assert call.heard == ["Answer 0.", "Answer 1.", "Answer 2."]
    assert len(effects(call, fx.RenewSession)) >= 3
    assert not {Link.RENEWING, Link.BACKING_OFF, Link.FAULTED} & {record.after.link for record in call.records}
    known = [item["content"][0].get("text") for item in server.sessions[3].items]
    assert known[-6:] == ["question 0", "Answer 0.", "question 1", "Answer 1.", "question 2", "Answer 2."]


@pytest.mark.graveyard(20)
def test_a_session_that_expires_without_warning_is_replaced_while_a_job_runs() -> None:
    """Of the same kind: the limit comes sooner than anybody thought, with a job under way."""
    ready = asyncio.Event()

    @tool(mode="dispatch")
    async def research() -> str:
        """Runs in the background."""
        await ready.wait()
        return "three hotels"

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("find hotels")
        await call.until(lambda: call.heard == ["I am on it."])
        await call.server.session.expire()
        await call.until(lambda: call.conversation.machine_state.link is Link.BACKING_OFF)
        ready.set()
        await call.until(lambda: len(call.heard) == 2)

    call = converse(
        act, RealtimeServer([CallTool("research"), Speak("I am on it."), Speak("Three hotels.")]), tools=[research]
    )
    assert call.heard == ["I am on it.", "Three hotels."]
    assert [output.outcome for output in call.outputs] == [Outcome.STARTED]
    assert [news.text for news in call.news] == ["three hotels"]


# -- 21: outputs, floors, cancels and lost lines


@pytest.mark.graveyard(21)
def test_one_output_for_each_call_whatever_happens_to_the_job() -> None:
    """bkrabach/amplifier-voice: two outputs for one call id, a response requested while one is active, and
    a cancel that can't arrive while a job runs."""
    started = asyncio.Event()

    @tool(mode="dispatch")
    async def research() -> str:
        """Runs for ever."""
        started.set()
        await asyncio.get_running_loop().create_future()
        return ""

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("find hotels")
        await call.until(lambda: call.heard == ["I am on it."])
        assert started.is_set()
        await call.says("never mind")
        await call.until(lambda: len(call.heard) == 2)
        await call.rests()

    script = [CallTool("research"), Speak("I am on it."), CallTool("cancel_job", {"job": 1}), Speak("It is off.")]
    call = converse(act, RealtimeServer(script), tools=[research])
    assert call.heard == ["I am on it.", "It is off."]
    assert sorted(call.server.session.outputs.values()) == [1, 1]
    assert [news.outcome for news in call.news] == [Outcome.CANCELLED]
    assert call.server.gave("error") == []


@pytest.mark.graveyard(21)
@pytest.mark.parametrize("mode", ["tool", "delegate", "dispatch"])
def test_a_result_that_comes_while_the_line_is_down_is_told_when_it_is_back(mode: str) -> None:
    """bkrabach/amplifier-voice: the socket is closed when the job ends, and its result is dropped."""
    ready = asyncio.Event()

    @tool(mode=mode)
    async def research() -> str:
        """Takes a while."""
        await ready.wait()
        return "three hotels"

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("find hotels")
        first = 1 if mode == "dispatch" else 0
        await call.until(lambda: call.server.got("response.create") and len(call.heard) == first)
        await call.until(lambda: call.server.gave("response.done"))
        call.server.session.hang_up()
        await call.until(lambda: call.conversation.machine_state.link is Link.BACKING_OFF)
        ready.set()
        await call.until(lambda: "Three hotels." in call.heard)
        await call.rests()

    script = [CallTool("research"), *([Speak("I am on it.")] if mode == "dispatch" else []), Speak("Three hotels.")]
    call = converse(act, RealtimeServer(script), tools=[research], machine={"backoff_ms": (200, 300, 400)})
    assert call.heard.count("Three hotels.") == 1
    told = [item for item in call.server.session.items if "three hotels" in str(item)]
    assert len(told) == 1, "once, in the new session"
    assert told[0]["type"] == ("message" if mode == "dispatch" else "function_call_output")
    assert call.signals_of(sg.Lost) == []


@pytest.mark.graveyard(21)
def test_a_result_waits_until_the_person_has_finished() -> None:
    """bkrabach/amplifier-voice: a response is requested blindly, while the person or the model talks."""
    ready = asyncio.Event()

    @tool(mode="dispatch")
    async def research() -> str:
        """Runs in the background."""
        await ready.wait()
        return "three hotels"

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("find hotels")
        await call.until(lambda: call.heard == ["I am on it."])
        await call.server.session.begin_speech()
        await call.until(lambda: call.conversation.machine_state.user.value == "talking")
        ready.set()
        await call.until(lambda: call.news)
        assert len(call.server.got("response.create")) == 2
        await call.server.session.end_speech("with breakfast please")
        await call.until(lambda: len(call.heard) == 2)

    script = [CallTool("research"), Speak("I am on it."), Speak("Three, with breakfast.")]
    call = converse(act, RealtimeServer(script), tools=[research])
    assert call.heard[-1] == "Three, with breakfast."
    assert len(call.server.got("response.create")) == 3, "one request tells all"
    assert call.server.gave("error") == []
