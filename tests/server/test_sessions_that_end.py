"""A session that reaches its limit during a conversation is renewed or reconnected; no turn is lost or repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from duologue.core.leaves import ErrorClass
from duologue.core.settings import Settings, profile
from duologue.ports.failure import ServiceError
from duologue.ports.history import UserSaid
from duologue.runtime.agent import Agent
from duologue.testing import ScriptedBrain, ScriptedEars, ScriptedSession, ScriptedVoice
from tests.server.running_server import Client, RunningServer, serve

LIMIT_MS = 1_200
LONG = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen."


class Summarising(ScriptedBrain):
    """It says briefly what was talked about."""

    async def summarise(self, text: str, chars_max: int) -> str:
        return f"In short: {text}"[:chars_max]


def limited(session: ScriptedSession, brain: ScriptedBrain, **more: Any) -> Callable[[], Agent]:
    """An agent whose sessions last a second, and their warning comes before."""
    settings: Settings = replace(
        profile("confirm"),
        **{"session_ms_max": LIMIT_MS, "session_warning_ms": LIMIT_MS // 2, "backoff_ms": (20, 40, 60), **more},
    )
    return lambda: Agent(
        brain,
        ears=ScriptedEars(),
        voice=ScriptedVoice(),
        session=lambda: session,
        profile=settings,
        notes=lambda: ("report.pdf",),
    )


async def said(client: Client, text: str) -> str:
    count = len(client.told("caption", role="assistant", final=True))
    await client.send("type", text=text)
    told = await client.expect("caption", after=count, role="assistant", final=True)
    heard: str = told["text"]
    return heard


def trouble(client: Client) -> list[dict[str, Any]]:
    return [told for told in client.told("notification") if told["level"] != "info"]


@pytest.mark.req("L-16", "M-07.renewed")
def test_a_session_at_its_limit_is_renewed_and_the_client_is_shown_nothing() -> None:
    session, brain = ScriptedSession(renew_ms=50), Summarising(lambda request: f"You said {request.text}.")

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        told = await client.begin("alice")
        assert await said(client, "hello") == "You said hello."
        await running.until(lambda: len(session.contexts) == 2)
        assert await said(client, "are you there") == "You said are you there."
        assert (session.opens, session.closes) == (1, 0)
        assert client.told("state", state="suspended") == []
        assert trouble(client) == []
        assert len(client.told("conversation")) == 1
        assert client.closed is None
        served = running.conversations.served[told["conversation"]]
        kept = [item.text for item in served.conversation.history if isinstance(item, UserSaid)]
        assert kept == ["hello", "are you there"]

    serve(script, limited(session, brain, session_ms_max=2_000, session_warning_ms=1_600))
    assert [request.text for request in brain.requests] == ["hello", "are you there"], "nothing is asked twice"
    context = session.contexts[1]
    assert context is not None
    assert context.summary.startswith("In short: User: hello")
    assert context.notes == ("report.pdf",)
    assert [item.text for item in context.recent if isinstance(item, UserSaid)] == ["hello"]


@pytest.mark.req("L-16", "M-07.renewed")
def test_words_said_during_a_renewal_are_answered_once_without_waiting_for_it() -> None:
    session, brain = ScriptedSession(renew_ms=60_000), ScriptedBrain(lambda request: f"You said {request.text}.")

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await running.until(lambda: session.renewals == 1)
        assert await said(client, "meanwhile") == "You said meanwhile."
        assert client.told("state", state="suspended") == []
        assert trouble(client) == []

    serve(script, limited(session, brain))
    assert [request.text for request in brain.requests] == ["meanwhile"]


@pytest.mark.req("L-16", "M-07.renewed")
def test_an_answer_that_is_playing_does_not_stop_for_the_renewal() -> None:
    session, brain = ScriptedSession(renew_ms=100), ScriptedBrain(lambda request: LONG)

    async def script(running: RunningServer) -> None:
        client = await running.connect(plays=False)
        await client.begin("alice")
        await client.send("type", text="count")
        await client.expect("state", state="speaking")
        await running.until(lambda: session.renewals == 1)
        client.plays = True
        voice = client.frames[-1][0]
        await client.send("played", voice=voice, ms=client.heard_ms[voice])
        told = await client.expect("caption", role="assistant", final=True)
        assert (told["text"], told["unheard"]) == (LONG, "")
        assert client.told("play", action="hold") == []
        assert trouble(client) == []

    serve(script, limited(session, brain, session_ms_max=2_000))
    assert len(brain.requests) == 1


@pytest.mark.req("L-14", "L-16", "M-07.renewed")
def test_a_renewal_that_fails_is_a_reconnect_with_the_same_context() -> None:
    failure = ServiceError(ErrorClass.SERVER_ERROR, "no new session")
    session = ScriptedSession(renew_failures=[failure])
    brain = ScriptedBrain(lambda request: f"You said {request.text}.")

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await said(client, "hello")
        await client.expect("notification", code="restored")
        assert await said(client, "and now") == "You said and now."
        assert trouble(client) == []
        assert len(client.told("conversation")) == 1

    serve(script, limited(session, brain))
    assert session.renewals >= 1
    assert session.opens == 2
    assert [request.text for request in brain.requests] == ["hello", "and now"]
    assert session.contexts[1] is not None
    assert "User: hello" in session.contexts[1].summary


@pytest.mark.req("L-14")
def test_after_a_failed_reconnect_a_retry_continues_with_the_whole_history() -> None:
    failures: list[BaseException | None] = [None, *[ServiceError(ErrorClass.SERVER_ERROR, "away")] * 3]
    session = ScriptedSession(failures=failures, renew_failures=[ServiceError(ErrorClass.SERVER_ERROR, "away")])
    brain = ScriptedBrain(lambda request: f"You said {request.text}.")

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        told = await client.begin("alice")
        await said(client, "hello")
        notice = await client.expect("notification", code="not_restored")
        assert "retry" in notice["actions"]
        await client.expect("state", state="faulted")
        again = await running.connect()  # a page that was loaded anew meanwhile has it all, too
        await again.hello("alice", conversation=told["conversation"], key=told["key"])
        history = await again.expect("history")
        assert [item["text"] for item in history["items"]] == ["hello", "You said hello."]
        await again.send("retry")
        await again.expect("state", state="listening")
        assert await said(again, "still here") == "You said still here."

    serve(script, limited(session, brain))
    assert [request.text for request in brain.requests] == ["hello", "still here"]
    assert session.opens == 5
    assert session.contexts[-1] is not None
    assert "User: hello" in session.contexts[-1].summary


@pytest.mark.req("L-14")
def test_a_conversation_that_is_given_up_leaves_its_words_and_a_new_one_can_start() -> None:
    failures: list[BaseException | None] = [None, *[ServiceError(ErrorClass.SERVER_ERROR, "away")] * 3]
    session = ScriptedSession(failures=failures, renew_failures=[ServiceError(ErrorClass.SERVER_ERROR, "away")])

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        first = await client.begin("alice")
        await said(client, "hello")
        await client.expect("notification", code="not_restored")
        await client.send("end")
        ended = await client.expect("ended")
        assert ended["canRestart"]
        assert [told["text"] for told in client.told("caption", final=True)] == ["hello", "You said hello."]
        await client.send("start")
        second = await client.expect("conversation", after=1)
        assert second["conversation"] != first["conversation"]
        assert await said(client, "once more") == "You said once more."

    serve(script, limited(session, ScriptedBrain(lambda request: f"You said {request.text}.")))


def test_many_renewals_in_a_row_lose_no_turn() -> None:
    """A long talk: every request is made once, in order, whichever session it falls into."""
    session, brain = ScriptedSession(renew_ms=20), ScriptedBrain(lambda request: f"You said {request.text}.")
    texts = [f"number {number}" for number in range(12)]

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        for text in texts:
            assert await said(client, text) == f"You said {text}."
            await asyncio.sleep(0.1)
        assert trouble(client) == []

    serve(script, limited(session, brain, session_ms_max=300, session_warning_ms=200))
    assert [request.text for request in brain.requests] == texts
    assert session.renewals >= 3
    assert session.opens == 1
