"""What a client may do in its conversation: start, talk, every command, end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from duologue.core.effects import StartReply
from duologue.core.errors import DuologueError
from duologue.core.leaves import Ask, Link
from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.runtime.agent import Agent
from duologue.testing import (
    Hang,
    ScriptedEars,
    ScriptedSession,
)
from tests.server.running_server import RunningServer, agent_that_says, serve, talk


def test_a_turn_by_voice_is_heard_and_answered() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        for _ in range(5):
            await client.raw_send(bytes(1_024))
        ears = running.agents[-1].ears
        assert isinstance(ears, ScriptedEars)
        await running.until(lambda: ears.frames == 5)
        await running.say("when does it leave")
        await client.expect("caption", role="assistant", final=True)
        assert client.heard == "You said when does it leave."
        assert client.told("hearing", on=True)
        assert client.frames
        assert [chunk for _, chunk, _ in client.frames] == list(range(1, len(client.frames) + 1))

    serve(script)


def test_a_second_start_is_refused_and_the_conversation_continues() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        await client.send("start")
        assert "already" in (await client.expect("error", code="refused"))["message"]
        assert await talk(client, "go on") == "You said go on."
        assert len(running.conversations.served) == 1

    serve(script)


def test_after_the_end_the_same_socket_starts_a_new_conversation() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        ids = set()
        for turn in range(3):
            await (client.begin("alice") if not turn else client.send("start"))
            told = await client.expect("conversation", after=turn)
            ids.add(told["conversation"])
            await talk(client, "hello", after=turn)
            await client.send("end")
            assert (await client.expect("ended", after=turn))["canRestart"] is True
        assert len(ids) == 3
        assert not running.conversations.served

    serve(script)


@pytest.mark.req("H-09.browser")
def test_the_conversation_knows_whether_its_user_is_at_the_page() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        (served,) = running.conversations.served.values()
        told: list[bool] = []
        served.conversation.on(sg.AttentionChanged, lambda changed: told.append(changed.here))
        assert served.conversation.attention is None
        for here in (True, True, False, True):
            await client.send("attention", here=here)
        await client.send("ping", t=1)
        await client.expect("pong")
        assert told == [True, False, True]
        client.vanish()
        await running.until(lambda: served.conversation.attention is False)

    serve(script)


@pytest.mark.req("H-09.browser")
def test_a_person_whose_client_says_that_they_are_at_the_screen_is_not_asked_whether_they_are_there() -> None:
    dead_air_s = 5

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        (served,) = running.conversations.served.values()
        asked: list[Ask] = []
        served.conversation.engine.watchers.append(
            lambda record: asked.extend(one.ask for one in record.effects if isinstance(one, StartReply))
        )
        for _ in range(6):  # the page says so when the mouse moves in, a key is pressed, and every minute
            await asyncio.sleep(dead_air_s - 1)
            await client.send("attention", here=True)
        await asyncio.sleep(dead_air_s - 1)
        assert asked == []
        await client.send("attention", here=False)
        await asyncio.sleep(2)
        assert asked == [Ask.CHECK_IN]
        assert served.conversation.machine_state.link is Link.UP

    serve(script, agent_that_says(profile=profile("confirm", dead_air_ms=dead_air_s * 1_000)))


@pytest.mark.req("L-19")
def test_hanging_up_before_the_line_is_open_ends_it_too() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice")
        await client.send("start")
        await client.send("end")
        await client.expect("ended")
        assert not running.conversations.served

    serve(script, agent_that_says(session=lambda: ScriptedSession(open_ms=60_000)))


class FailingSource:
    """A server of tools that is down."""

    is_connected = False

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure

    async def open(self) -> None:
        if self.failure is None:
            await asyncio.sleep(3_600)
        else:
            raise self.failure

    def workers(self) -> list[Any]:
        return []

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("failure", [OSError("password=hunter2"), DuologueError("the tools are down")])
def test_a_conversation_that_cannot_start_is_reported_and_the_socket_stays(failure: Exception) -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice")
        await client.send("start")
        await client.expect("error", code="start_refused")
        await client.expect("ended")
        assert "hunter2" not in str(client.messages)
        await client.send("ping", t=1)
        await client.expect("pong", t=1)
        assert not running.conversations.served

    serve(script, agent_that_says(tools=[FailingSource(failure)]))


def test_hanging_up_while_tools_are_still_being_opened_ends_it() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice")
        await client.send("start")
        await client.expect("conversation")
        await client.send("end")
        await client.expect("ended")
        assert not running.conversations.served

    serve(script, agent_that_says(tools=[FailingSource(None)]))


def test_an_agent_that_cannot_be_created_is_reported_and_the_socket_stays() -> None:
    made = []

    def make() -> Agent:
        made.append(1)
        if len(made) == 2:
            raise RuntimeError("the model is broken: secret")
        return agent_that_says()()

    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.hello("alice")
        await client.send("start")
        await client.expect("error", code="start_refused")
        await client.send("start")
        await client.until_listening()
        assert "secret" not in str(client.messages)

    serve(script, make)


def test_every_command_is_performed_or_refused_in_one_line() -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect(plays=False)
        await client.begin("alice")
        await client.send("suspend")
        await client.expect("state", state="suspended")
        await client.send("resume")
        await client.expect("state", after=1, state="listening")
        await client.send("type", text="hang")
        await client.expect("state", state="processing")
        await client.send("interrupt")
        await client.expect("state", after=2, state="listening")
        await client.send("type", text="x" * 4_001)
        assert "at most 4000" in (await client.expect("error", code="refused"))["message"]
        await client.send("type", text="   ")
        await client.expect("error", after=1, code="refused")
        await client.send("answer", call=99, text="nobody asked")
        await client.send("cancel", call=99)
        for plain in ("press", "release", "send", "retry", "dismiss"):
            await client.send(plain)
        await client.send("reconnect")
        await client.expect("state", after=3, state="listening")
        await client.send("ping", t=2.5)
        await client.expect("pong", t=2.5)
        assert client.closed is None

    serve(script, agent_that_says({"hang": [Hang()]}))


def test_a_journal_is_written_to_the_folder_and_the_client_knows_it_is_saved(tmp_path: Any) -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        began = await client.begin("alice")
        assert began["saved"] is True
        await client.send("end")
        await client.expect("ended")
        names = [path.name for path in (tmp_path / "kept").iterdir()]
        assert sorted(name.partition(".")[2] for name in names) == ["ears.jsonl", "jsonl", "words.jsonl"]
        assert not [name for name in names if began["conversation"] in name or "alice" in name]

    serve(script, journals=tmp_path / "kept")


def test_a_journal_folder_that_is_not_writable_is_reported_to_the_client_alone(tmp_path: Any) -> None:
    async def script(running: RunningServer) -> None:
        (tmp_path / "kept").write_text("a file, not a folder")
        client = await running.connect()
        await client.hello("alice")
        await client.send("start")
        await client.expect("error", code="start_refused")
        await client.send("ping", t=1)
        await client.expect("pong")

    serve(script, journals=tmp_path / "kept")
