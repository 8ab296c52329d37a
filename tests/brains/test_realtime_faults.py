"""What goes wrong on the way to a Realtime server, over a real socket: every call goes on or says why not."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from duologue import Phrases, RealtimeModel, RealtimeSettings, ServiceError
from duologue.core.leaves import ErrorClass, Link
from duologue.observe import signals as sg
from duologue.ports import AgentSaid, Closed, Healed, Request, Wobbled
from duologue.replay.journal import read_journal, replay
from duologue.testing.realtime.server import BreakDown, CallTool, FallSilent, ProtocolFault, RealtimeServer, Speak
from tests.brains.realtime_call import RealtimeCall, converse

QUICK = {"retry_ms": (30, 60, 120)}


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def links(call: RealtimeCall) -> list[Link]:
    """Where the link has been, each once per visit."""
    moves = [record.after.link for record in call.records if record.after.link is not record.before.link]
    return [link for link in moves if link not in (Link.TERMINATING, Link.IDLE)]


def replays(path: Path) -> bool:
    with path.open(encoding="utf-8") as lines:
        return len(list(replay(read_journal(lines)))) > 10


async def ask(call: RealtimeCall) -> None:
    call.conversation.type("hello")
    await call.until(lambda: call.heard)
    await call.rests()


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
    assert call.told(sg.Failed) == []


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


def test_events_from_the_future_and_nonsense_change_nothing() -> None:
    async def act(call: RealtimeCall) -> None:
        session = call.server.session
        await session.send_raw({"type": "response.telepathy.delta", "event_id": "x1"})
        await session.send_raw({"type": "response.created", "event_id": "x2"})
        await session.send_raw({"no": "type"})
        await session.send_error("response_cancel_not_active", "")
        await session.send_error("something_new", "an_event_that_we_never_sent")
        await ask(call)

    call = converse(act)
    assert call.heard == ["I see."]
    assert call.model.counts == {"unknown": 1, "unreadable": 2, "refused": 2}
    assert links(call) == [Link.PREPARING, Link.UP]


# -- Errors


@pytest.mark.req("L-12", "L-13")
def test_a_rate_limit_is_waited_for_and_asked_again() -> None:
    async def act(call: RealtimeCall) -> None:
        await ask(call)
        assert call.model.limits == (("requests", 999, 0.06),), "as the server told them"

    faults = [ProtocolFault("refused", "response.create", times=2, code="rate_limit_exceeded")]
    call = converse(act, RealtimeServer(faults=faults), machine=QUICK)
    assert call.heard == ["I see."]
    assert len(call.server.got("response.create")) == 3


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
def test_a_failure_has_its_class_wherever_it_is_told(code: str, error: ErrorClass, how: str) -> None:
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

    assert asyncio.run(run()).error is error


@pytest.mark.req("L-12")
def test_a_response_that_breaks_down_before_any_sound_is_asked_again() -> None:
    call = converse(ask, RealtimeServer([BreakDown(), Speak("Now it works.")]), machine=QUICK)
    assert call.heard == ["Now it works."]


def test_a_response_that_breaks_down_while_it_is_heard_says_so_in_the_same_voice() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello")
        await call.until(lambda: call.heard)
        await call.rests()

    server = RealtimeServer([[Speak("There are two.", ms=1_200, paced=True), BreakDown()]])
    call = converse(act, server, phrases=Phrases(broken_off="I lost the rest."))
    assert call.heard == ["There are two. I lost the rest."]


def test_tools_that_the_server_does_not_take_fail_the_answer_and_not_the_call() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("hello")
        await call.until(lambda: call.told(sg.Failed))
        call.conversation.retry()
        await call.until(lambda: call.heard)

    def look() -> str:
        """Look."""
        return ""

    server = RealtimeServer(faults=[ProtocolFault("refused", "conversation.item.create", code="invalid_value")])
    call = converse(act, server, tools=[look])
    assert call.told(sg.Failed)[0].error is ErrorClass.INVALID_ARGS


# -- Getting in


def opening(model: RealtimeModel) -> ServiceError:
    async def run() -> ServiceError:
        with pytest.raises(ServiceError) as failed:
            await model.open(None, lambda event: None)
        assert len(asyncio.all_tasks()) == 1, "nothing is left behind"
        return failed.value

    return asyncio.run(run())


@pytest.mark.req("L-12", "C-SEC-003")
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ErrorClass.AUTH_FAILURE),
        (403, ErrorClass.AUTH_FAILURE),
        (429, ErrorClass.RATE_LIMIT),
        (404, ErrorClass.INVALID_ARGS),
        (503, ErrorClass.SERVER_ERROR),
    ],
)
def test_a_refused_handshake_has_its_class(status: int, error: ErrorClass) -> None:
    async def run() -> ServiceError:
        async with RealtimeServer() as server:
            server.refuses = [status]
            model = RealtimeModel(url=server.url, api_key="sk-very-secret-1")
            with pytest.raises(ServiceError) as failed:
                await model.open(None, lambda event: None)
            return failed.value

    failure = asyncio.run(run())
    assert failure.error is error
    assert str(status) in str(failure)
    assert "secret" not in repr(failure)


def test_nobody_there_is_a_network_failure() -> None:
    failure = opening(RealtimeModel(url="ws://127.0.0.1:1/v1"))
    assert failure.error is ErrorClass.NETWORK_TIMEOUT
    assert "127.0.0.1:1" in str(failure)


@pytest.mark.parametrize(
    ("url", "name"), [(None, "OPENAI_API_KEY"), ("https://x.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY")]
)
def test_without_a_key_it_says_where_to_put_one(url: str | None, name: str) -> None:
    failure = opening(RealtimeModel(url=url))
    assert failure.error is ErrorClass.AUTH_FAILURE
    assert name in str(failure)


@pytest.mark.parametrize("kind", ["session.created", "session.updated"])
def test_a_server_that_never_gets_ready_is_not_waited_for(kind: str) -> None:
    async def run() -> ServiceError:
        async with RealtimeServer(faults=[ProtocolFault("dropped", kind)]) as server:
            model = RealtimeModel(url=server.url, settings=RealtimeSettings(connect_ms_max=200))
            with pytest.raises(ServiceError) as failed:
                await model.open(None, lambda event: None)
            return failed.value

    assert asyncio.run(run()).error is ErrorClass.NETWORK_TIMEOUT


def test_settings_that_the_server_does_not_take_are_told_when_it_opens() -> None:
    async def run() -> ServiceError:
        faults = [ProtocolFault("refused", "session.update", code="unknown_parameter")]
        async with RealtimeServer(faults=faults) as server:
            model = RealtimeModel(url=server.url)
            with pytest.raises(ServiceError) as failed:
                await model.open(None, lambda event: None)
            return failed.value

    failure = asyncio.run(run())
    assert failure.error is ErrorClass.INVALID_ARGS
    assert "unknown_parameter" in str(failure)


@pytest.mark.req("C-SEC-003")
def test_the_key_goes_to_its_server_and_nowhere_else(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-very-secret-7"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    caplog.set_level(logging.DEBUG)

    async def run() -> RealtimeModel:
        async with RealtimeServer() as server:
            model = RealtimeModel("my-model", url=server.url, api_key=key)
            other = RealtimeModel(url=server.url)
            for one in (model, other):
                await one.open(None, lambda event: None)
                await one.close()
            assert server.handshakes[0].headers["Authorization"] == f"Bearer {key}"
            assert server.handshakes[0].path == "/v1/realtime?model=my-model"
            assert "Authorization" not in server.handshakes[1].headers, "the environment's is meant for OpenAI"
            return model

    model = asyncio.run(run())
    assert key not in caplog.text
    assert key not in repr(model) + repr(model.endpoint)


def test_a_token_is_fetched_anew_for_every_session() -> None:
    async def run() -> list[str]:
        tokens = iter(("first", "second"))

        async def fetch() -> str:
            return next(tokens)

        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url, api_key=fetch)
            await model.open(None, lambda event: None)
            await model.renew(None, lambda event: None)
            await model.close()
            return [request.headers["Authorization"] for request in server.handshakes]

    assert asyncio.run(run()) == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (None, "wss://api.openai.com/v1/realtime?model=m"),
        ("https://x.openai.azure.com/openai/v1", "wss://x.openai.azure.com/openai/v1/realtime?model=m"),
        ("wss://h/v1/realtime?deployment=d", "wss://h/v1/realtime?deployment=d"),
        ("http://localhost:8000/v1/", "ws://localhost:8000/v1/realtime?model=m"),
    ],
)
def test_a_url_may_be_written_as_people_write_it(url: str | None, expected: str) -> None:
    assert RealtimeModel("m", url=url).endpoint.url == expected


def test_what_is_no_url_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="wss://"):
        RealtimeModel(url="api.openai.com")


def test_azure_gets_its_key_in_its_own_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "azure-secret")
    model = RealtimeModel(url="https://x.openai.azure.com/openai/v1")
    assert asyncio.run(model.endpoint.headers()) == {"api-key": "azure-secret"}


# -- Losing the line


@pytest.mark.req("L-14", "M-12")
def test_a_lost_network_is_mended_and_the_question_asked_again(tmp_path: Path) -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("my name is Ada")
        await call.rests()
        call.conversation.type("what is my name")
        await call.until(lambda: len(call.server.gave("response.created")) == 2)
        call.server.session.hang_up()
        await call.until(lambda: "Ada." in call.heard)
        await call.rests()

    server = RealtimeServer([Speak("Hello Ada."), FallSilent(), Speak("Ada.")])
    call = converse(act, server, journal=tmp_path / "call.jsonl")
    assert call.heard == ["Hello Ada.", "Ada."]
    assert links(call) == [Link.PREPARING, Link.UP, Link.BACKING_OFF, Link.RECONNECTING, Link.UP]
    told = [(item["role"], item["content"][0].get("text")) for item in server.session.items[:-1]]
    assert told == [("user", "my name is Ada"), ("assistant", "Hello Ada."), ("user", "what is my name")]
    assert call.told(sg.Lost) == []
    assert replays(tmp_path / "call.jsonl")


def test_a_loss_in_the_middle_of_speech_keeps_what_was_heard() -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("tell me")
        await call.until(lambda: call.line.heard_ms >= 700)
        call.server.session.hang_up()
        await call.until(lambda: len(call.server.sessions) == 2)
        await call.until(lambda: call.conversation.machine_state.link is Link.UP)
        await call.rests()
        call.conversation.type("go on")
        await call.until(lambda: call.heard[-1] == "I see.")

    text = "There are two flights today and one of them leaves very early."
    call = converse(act, RealtimeServer([Speak(text, ms=4_000, paced=True)]))
    (cut,) = [item for item in call.conversation.history if isinstance(item, AgentSaid) and item.interrupted]
    assert text.startswith(cut.text)
    told = [item["content"][0].get("text") for item in call.server.session.items]
    assert told[:3] == ["tell me", cut.text, "go on"]


@pytest.mark.req("L-12", "L-14")
def test_an_expired_session_is_replaced_with_its_context() -> None:
    async def act(call: RealtimeCall) -> None:
        await ask(call)
        await call.server.session.expire()
        await call.until(lambda: len(call.server.sessions) == 2)
        await call.until(lambda: call.conversation.machine_state.link is Link.UP)
        call.conversation.type("and now")
        await call.until(lambda: len(call.heard) == 2)

    call = converse(act)
    assert call.heard == ["I see.", "I see."]
    assert [item["role"] for item in call.server.session.items] == ["user", "assistant", "user", "assistant"]


@pytest.mark.req("C-AC-008")
def test_a_server_that_dies_silently_is_noticed_by_the_request() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.go_silent()
        call.conversation.type("hello")
        await call.until(lambda: call.heard)

    call = converse(act, settings={"request_ms_max": 300})
    assert call.heard == ["I see."]
    assert len(call.server.sessions) == 2
    assert call.model.counts["silent_deaths"] == 1


@pytest.mark.req("L-15")
def test_a_wobble_that_heals_costs_nothing() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.go_silent()
        await call.until(lambda: call.conversation.machine_state.link is Link.HEALING)
        call.server.session.come_back()
        await call.until(lambda: call.conversation.machine_state.link is Link.UP)
        await ask(call)

    call = converse(act, settings={"ping_ms": 50, "pong_ms_max": 150})
    assert links(call)[:4] == [Link.PREPARING, Link.UP, Link.HEALING, Link.UP]
    assert len(call.server.sessions) == 1


@pytest.mark.req("L-15")
def test_a_wobble_that_does_not_heal_leads_to_a_new_session() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.go_silent()
        await call.until(lambda: len(call.server.sessions) == 2)
        await ask(call)

    call = converse(act, settings={"ping_ms": 50, "pong_ms_max": 100}, machine={"heal_ms_max": 300})
    assert Link.HEALING in links(call)
    assert call.heard == ["I see."]


def test_what_a_closed_session_still_does_is_no_news() -> None:
    async def run() -> list[Wobbled | Healed | Closed]:
        told: list[Wobbled | Healed | Closed] = []
        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url)
            await model.open(None, told.append)
            await model.close()
            server.session.hang_up()
            await model.open(None, told.append)
            server.session.hang_up()
            async with asyncio.timeout(20):
                while not told:
                    await asyncio.sleep(0.005)
            await model.close()
        return told

    assert asyncio.run(run()) == [Closed()]


# -- Renewing


@pytest.mark.req("L-16", "C-AC-005", "M-07")
def test_a_session_is_renewed_before_its_limit_with_the_summary(tmp_path: Path) -> None:
    async def act(call: RealtimeCall) -> None:
        call.conversation.type("my name is Ada")
        await call.rests()
        await call.until(lambda: len(call.server.sessions) == 2)
        await call.until(lambda: call.conversation.machine_state.link is Link.UP)
        call.conversation.type("what is my name")
        await call.until(lambda: "Ada." in call.heard)

    machine = {"session_ms_max": 1_500, "session_warning_ms": 900}
    server = RealtimeServer([Speak("Hello Ada.", ms=200), Speak("Ada.", ms=200)])
    call = converse(act, server, machine=machine, journal=tmp_path / "call.jsonl")
    assert call.heard == ["Hello Ada.", "Ada."]
    visited = links(call)
    assert visited[:4] == [Link.PREPARING, Link.UP, Link.RENEWING, Link.UP]
    assert Link.BACKING_OFF not in visited
    second = server.sessions[1].items
    assert second[0]["role"] == "system"
    assert "In short:" in second[0]["content"][0]["text"], "the model made the summary itself"
    assert [item["role"] for item in second[1:4]] == ["user", "assistant", "user"]
    assert replays(tmp_path / "call.jsonl")


@pytest.mark.req("L-16")
def test_a_renewal_cuts_off_neither_side() -> None:
    """The agent speaks when the limit comes, and the person speaks when the new session is ready."""

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("tell me")
        await call.until(lambda: call.conversation.machine_state.link is Link.RENEWING)
        assert call.conversation.machine_state.voice.value != "silent"
        await call.until(lambda: call.heard)
        await call.rests()

    text = "This is a rather long answer that goes on while the session is renewed."
    server = RealtimeServer([Speak(text, ms=6_000, paced=True)])
    machine = {"session_ms_max": 3_000, "session_warning_ms": 1_500}  # so late that the answer has begun on any machine
    call = converse(act, server, machine=machine)
    assert call.heard == [text]
    assert [event["response"]["status"] for event in server.gave("response.done")][-1] == "completed"
    assert not server.got("response.cancel")


def test_a_renewal_waits_for_the_person_to_finish() -> None:
    async def run() -> None:
        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url)
            await model.open(None, lambda event: None)
            first = server.session
            await first.begin_speech()
            renewal = asyncio.ensure_future(model.renew(None, lambda event: None))
            await server.until(lambda: len(server.gave("session.updated")) == 2)
            await asyncio.wait([renewal], timeout=0.1)
            assert not renewal.done(), "somebody is speaking"
            await first.end_speech("that was it")
            async with asyncio.timeout(20):
                await renewal
            await model.close()

    asyncio.run(run())


def test_a_renewal_that_fails_leaves_the_old_session_as_it_was() -> None:
    async def run() -> list[Any]:
        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url)
            await model.open(None, lambda event: None)
            server.refuses = [503]
            with pytest.raises(ServiceError):
                await model.renew(None, lambda event: None)
            parts = [part async for part in model.reply(Request(1, "hello"))]
            await model.close()
            return parts

    assert asyncio.run(run())


@pytest.mark.req("M-18")
def test_audio_that_comes_while_there_is_no_session_is_kept_for_the_next() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.hang_up()
        await call.until(lambda: call.conversation.machine_state.link is Link.BACKING_OFF)
        call.server.hears.append("are you there")
        call.sound(300)
        call.sound(600, level=0)
        await call.until(lambda: call.said == ["are you there"])
        await call.rests()

    call = converse(act, machine={"backoff_ms": (200, 300, 400)})
    assert call.heard == ["I see."]


def test_nothing_is_left_running_when_a_conversation_ends() -> None:
    left: list[str] = []

    async def act(call: RealtimeCall) -> None:
        call.conversation.type("tell me")
        await call.until(lambda: call.line.is_sounding)
        await call.conversation.end()
        left.extend(task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("realtime"))

    converse(act, RealtimeServer([Speak("A long story.", ms=3_000, paced=True)]))
    assert left == []


def test_a_session_that_was_lost_leaves_nothing_running() -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.session.go_silent()
        call.conversation.type("hello")
        await call.until(lambda: call.heard)
        await call.rests()
        names = [task.get_name() for task in asyncio.all_tasks()]
        assert names.count("realtime reader") == 1
        assert "realtime retiring" not in names

    converse(act, settings={"request_ms_max": 200})


def test_what_one_conversation_said_last_is_not_heard_by_the_next() -> None:
    async def run() -> list[Any]:
        async with RealtimeServer() as server:
            model = RealtimeModel(url=server.url)
            await model.open(None, lambda event: None)
            await server.session.begin_speech()
            kind = "conversation.item.input_audio_transcription.delta"
            item = server.gave("input_audio_buffer.speech_started")[0]["item_id"]
            await server.session.send(kind, item_id=item, content_index=0, delta="my secret is")
            async with asyncio.timeout(20):
                while not model._utterances.is_open:
                    await asyncio.sleep(0.005)
            await model.close()
            await model.open(None, lambda event: None)
            left = model._heard.qsize()
            await model.close()
            return [left]

    assert asyncio.run(run()) == [0]


def test_speech_without_a_transcript_is_answered_and_not_told_twice() -> None:
    async def act(call: RealtimeCall) -> None:
        session = call.server.session
        await session.begin_speech()
        item = session._speaking
        session._speaking = ""
        await session.send("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id=item)
        await session.send("input_audio_buffer.committed", item_id=item)
        kind = "conversation.item.input_audio_transcription.failed"
        await session.send(kind, item_id=item, content_index=0, error={"type": "x", "message": "no text"})
        await call.until(lambda: call.heard)

    call = converse(act)
    assert call.said == ["[not transcribed]"]
    assert call.heard == ["I see."]
    assert call.server.got("conversation.item.create") == []


def test_a_model_that_nobody_could_understand_is_refused() -> None:
    with pytest.raises(ValueError, match="transcription=None needs ears"):
        RealtimeModel(settings=RealtimeSettings(transcription=None))


@pytest.mark.parametrize("kind", ["conversation.item.create", "session.update"])
def test_what_a_busy_server_did_not_take_is_told_again_with_the_next_try(kind: str) -> None:
    async def act(call: RealtimeCall) -> None:
        call.server.faults.append(ProtocolFault("refused", kind, code="rate_limit_exceeded"))
        await ask(call)

    call = converse(act, machine=QUICK, instructions="Be brief.")
    assert call.heard == ["I see."]
    said = [item["content"][0]["text"] for item in call.server.session.items if item["role"] == "user"]
    assert said == ["hello"]
    assert call.server.session.settings["instructions"] == "Be brief."
