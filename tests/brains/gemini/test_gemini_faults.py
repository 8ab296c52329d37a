"""Connections that end, handles that fail, answers that break and messages that make no sense."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duologue import GeminiLive, tool
from duologue.core.leaves import ErrorClass, Link
from duologue.testing.gemini import BreakDown, FallSilent, GeminiServer, Speak
from tests.brains.gemini_call import GeminiCall, converse
from tests.brains.realtime_call import links
from tests.brains.speech_model_failures import opening_failure

QUICK = {"backoff_ms": (20, 40, 80), "retry_ms": (20, 40, 80)}


async def ask(call: GeminiCall, text: str = "hello") -> None:
    """Type this, and wait for the answer."""
    before = len(call.heard)
    call.conversation.type(text)
    await call.until(lambda: len(call.heard) > before)
    await call.rests()


def setups(call: GeminiCall) -> list[Any]:
    """The handles of all setups of the conversation; None where a session was new."""
    return [one["sessionResumption"].get("handle") for one in call.server.got("setup") if "sessionResumption" in one]


# -- Renewal


@pytest.mark.req("L-16")
def test_a_server_that_goes_away_is_left_before_it_closes_by_its_handle() -> None:
    async def act(call: GeminiCall) -> None:
        await ask(call, "my name is Ada")
        await call.until(lambda: call.server.gave("sessionResumptionUpdate"))
        await call.server.session.go_away("10s")
        await call.until(lambda: len(call.server.sessions) == 2 and call.server.session.setup)
        await ask(call, "what is my name")

    call = converse(act, GeminiServer([Speak("Hello Ada."), Speak("Ada.")]))
    assert call.heard == ["Hello Ada.", "Ada."]
    assert setups(call) == [None, "handle-1-1"]
    assert links(call) == [Link.PREPARING, Link.UP], "the conversation noticed nothing"
    texts = [turn.get("text", "").strip() for turn in call.server.session.turns]
    assert texts == ["my name is Ada", "Hello Ada.", "what is my name", "Ada."], "told once, in one session"


@pytest.mark.req("L-16")
def test_an_answer_in_progress_is_finished_before_the_server_is_left() -> None:
    async def act(call: GeminiCall) -> None:
        call.conversation.type("tell me a story")
        await call.until(lambda: call.line.is_sounding)
        await call.server.session.go_away("30s")
        await call.until(lambda: len(call.server.sessions) == 2)
        assert {"generationComplete": True} in call.server.gave("serverContent")
        await call.rests()

    call = converse(act, GeminiServer([Speak("Once upon a time.", ms=600, paced=True)]))
    assert call.heard == ["Once upon a time."]


@pytest.mark.req("L-16")
def test_without_a_handle_the_next_session_gets_the_history() -> None:
    async def act(call: GeminiCall) -> None:
        await ask(call, "my name is Ada")
        await call.server.session.go_away("10s")
        await call.until(lambda: len(call.server.sessions) == 2 and call.server.session.setup)
        await ask(call, "what is my name")

    call = converse(act, GeminiServer([Speak("Hello Ada."), Speak("Ada.")]), settings={"resumes": False})
    assert "sessionResumption" not in call.server.got("setup")[1]
    texts = [turn.get("text", "").strip() for turn in call.server.session.turns]
    assert texts == ["my name is Ada", "Hello Ada.", "what is my name", "Ada."]


def test_a_handle_that_the_server_forgot_costs_only_a_second_try() -> None:
    async def act(call: GeminiCall) -> None:
        await ask(call, "my name is Ada")
        await call.until(lambda: call.server.gave("sessionResumptionUpdate"))
        call.server.resumable.clear()
        call.server.session.hang_up()
        await call.until(lambda: len(call.server.sessions) == 3 and call.server.session.setup)
        await ask(call, "what is my name")

    call = converse(act, machine=QUICK)
    assert setups(call) == [None, "handle-1-1", None]
    assert call.model.counts["not_resumed"] == 1
    assert [turn["text"].strip() for turn in call.server.session.turns][:2] == ["my name is Ada", "I see."]


def test_a_lost_connection_is_resumed_and_told_only_what_it_lacks() -> None:
    async def act(call: GeminiCall) -> None:
        await ask(call, "one")
        await call.until(lambda: call.server.gave("sessionResumptionUpdate"))
        call.server.session.hang_up()
        await call.until(lambda: len(call.server.sessions) == 2 and call.server.session.setup)
        await ask(call, "two")

    call = converse(act, machine=QUICK)
    assert setups(call) == [None, "handle-1-1"]
    assert [turn["text"].strip() for turn in call.server.session.turns] == ["one", "I see.", "two", "I see."]


@pytest.mark.req("L-16")
def test_the_machine_renews_the_session_when_its_time_is_up() -> None:
    async def act(call: GeminiCall) -> None:
        await ask(call)
        await call.until(lambda: len(call.server.sessions) >= 2 and call.server.session.setup)
        await ask(call, "again")

    call = converse(act, machine={"session_ms_max": 1_500, "session_warning_ms": 1_000})
    assert call.heard[:2] == ["I see.", "I see."]
    assert setups(call)[1].startswith("handle-1")


def test_tools_that_change_need_a_new_connection_where_the_server_takes_no_updates() -> None:
    @tool
    def look_up() -> str:
        """Look it up."""
        return "sunny"

    async def act(call: GeminiCall) -> None:
        await ask(call)

    call = converse(act, settings={"updates_context": False}, instructions="Be brief.", tools=[look_up])
    assert call.server.got("contextUpdate") == []
    first, second = call.server.got("setup")
    assert "tools" not in first
    assert second["tools"][0]["functionDeclarations"][0]["name"] == "look_up"
    assert second["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert call.heard == ["I see."]


# -- Failures


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, ErrorClass.AUTH_FAILURE), (429, ErrorClass.RATE_LIMIT), (503, ErrorClass.SERVER_ERROR)],
)
def test_a_refused_handshake_has_the_class_of_its_status(status: int, error: ErrorClass) -> None:
    server = GeminiServer()
    server.refuses = [status]
    failure = opening_failure(server, lambda: GeminiLive(url=server.url, api_key="secret-key"))
    assert failure.error is error
    assert str(status) in str(failure)
    assert "secret-key" not in str(failure)


@pytest.mark.parametrize(
    ("code", "reason", "error"),
    [
        (1007, "API key not valid. Please pass a valid API key.", ErrorClass.AUTH_FAILURE),
        (1008, "models/x is not found for API version v1beta", ErrorClass.INVALID_ARGS),
        (1011, "You exceeded your current quota, please check your plan", ErrorClass.RATE_LIMIT),
        (1011, "Internal error encountered.", ErrorClass.SERVER_ERROR),
        (1008, "", ErrorClass.INVALID_ARGS),
    ],
)
def test_a_refused_setup_has_the_class_of_its_close_code_and_reason(code: int, reason: str, error: ErrorClass) -> None:
    server = GeminiServer()
    server.closes = [(code, reason)]
    failure = opening_failure(server, lambda: GeminiLive(url=server.url))
    assert failure.error is error
    assert f"close code {code}" in str(failure)
    assert not reason or reason not in str(failure), "the server's own words stay out of logs"


def test_without_a_key_google_is_not_called() -> None:
    failure = opening_failure(None, GeminiLive)
    assert failure.error is ErrorClass.AUTH_FAILURE
    assert "GEMINI_API_KEY" in str(failure)


def test_a_server_that_breaks_in_an_answer_is_asked_again_in_a_new_session() -> None:
    async def act(call: GeminiCall) -> None:
        await ask(call)

    call = converse(act, GeminiServer([BreakDown("internal error"), Speak("Now.")]), machine=QUICK)
    assert call.heard == ["Now."]
    assert len(call.server.sessions) == 2


def test_a_dead_connection_is_noticed_by_the_request() -> None:
    async def act(call: GeminiCall) -> None:
        call.server.session.go_silent()
        await ask(call)

    call = converse(act, settings={"request_ms_max": 200}, machine=QUICK)
    assert call.heard == ["I see."]
    assert call.model.counts["silent_deaths"] == 1


def test_an_answer_that_stops_in_the_middle_fails_by_its_deadline() -> None:
    async def act(call: GeminiCall) -> None:
        await ask(call)
        await ask(call, "go on")

    script = [[Speak("I was", ms=100), FallSilent()], Speak("Here I am.")]
    call = converse(act, GeminiServer(script), settings={"silence_ms_max": 150}, machine=QUICK)
    assert call.heard[-1] == "Here I am."
    assert "timed out" in call.troubles[0]


# -- Bad messages


def test_messages_from_the_future_and_nonsense_change_nothing() -> None:
    async def act(call: GeminiCall) -> None:
        session = call.server.session
        await session.send_raw("{")
        await session.send_raw(b"\xff\xfe")
        await session.send_raw("[1]")
        await session.send_raw(json.dumps({"telepathy": {}}))
        await session.send_raw(json.dumps({"serverContent": {"mood": "good"}}))
        await session.send_raw(json.dumps({"serverContent": {"modelTurn": 7}}))
        await session.send_raw(json.dumps({"toolCall": {"functionCalls": [{"args": {}}]}}))
        await session.send_raw(json.dumps({"toolCallCancellation": {"ids": ["never-made"]}}))
        await session.send_raw(json.dumps({"goAway": {"timeLeft": 5}}))
        await ask(call)

    call = converse(act)
    assert call.heard == ["I see."]
    assert call.model.counts == {"unreadable": 6, "unknown": 2, "cancelled_calls": 1}
    assert links(call) == [Link.PREPARING, Link.UP]


def test_sound_and_calls_that_were_not_requested_are_dropped() -> None:
    async def act(call: GeminiCall) -> None:
        session = call.server.session
        blob = {"mimeType": "audio/pcm;rate=24000", "data": "AAAA"}
        await session.send({"serverContent": {"modelTurn": {"role": "model", "parts": [{"inlineData": blob}]}}})
        await session.send({"toolCall": {"functionCalls": [{"id": "x", "name": "fly", "args": {}}]}})
        await call.until(lambda: call.model.counts["unrequested"] == 2)
        await ask(call)

    call = converse(act)
    assert call.heard == ["I see."]
    assert call.outputs == []
    assert call.model.counts["unrequested"] == 2
    assert call.notes == ["[The person interrupts you.]"], "so that the server doesn't wait for the call"


def test_sound_that_is_not_pcm_fails_the_answer_with_a_clear_line() -> None:
    async def act(call: GeminiCall) -> None:
        call.conversation.type("hello")
        await call.until(lambda: call.server.got("clientContent"))
        blob = {"mimeType": "audio/mpeg", "data": "AAAA"}
        await call.server.session.send_raw(
            json.dumps({"serverContent": {"modelTurn": {"parts": [{"inlineData": blob}]}}})
        )
        await call.until(lambda: call.troubles)
        call.conversation.type("again")
        await call.until(lambda: call.heard)

    call = converse(act, GeminiServer([FallSilent()]), machine=QUICK)
    assert "its sound is not PCM at 24 kHz" in call.troubles[0]


def test_a_call_without_an_id_is_answered_by_its_name() -> None:
    @tool
    def look_up() -> str:
        """Look it up."""
        return "sunny"

    async def act(call: GeminiCall) -> None:
        call.conversation.type("look")
        await call.until(lambda: call.server.got("clientContent"))
        call.server.session.waiting[""] = "look_up"
        await call.server.session.send({"toolCall": {"functionCalls": [{"name": "look_up", "args": {}}]}})
        await call.until(lambda: call.heard)

    call = converse(act, GeminiServer([FallSilent(), Speak("Sunny.")]), tools=[look_up])
    ((response,),) = [one["functionResponses"] for one in call.server.got("toolResponse")]
    assert response == {"name": "look_up", "response": {"output": "sunny"}}


def test_a_call_of_an_answer_that_was_given_up_is_not_run() -> None:
    runs: list[int] = []

    @tool
    def pay() -> str:
        """Pay."""
        runs.append(1)
        return "paid"

    async def act(call: GeminiCall) -> None:
        call.conversation.type("pay")
        await call.until(lambda: call.server.got("clientContent"))
        call.conversation.interrupt()
        await call.until(lambda: len(call.server.got("clientContent")) == 2)
        await call.server.session.send({"toolCall": {"functionCalls": [{"id": "late", "name": "pay", "args": {}}]}})
        await call.until(lambda: call.model.counts["unrequested"] + call.model.counts["late"] == 1)
        await ask(call, "no, wait")

    call = converse(act, GeminiServer([FallSilent(), Speak("All right.")]), tools=[pay])
    assert (runs, call.heard) == ([], ["All right."])
