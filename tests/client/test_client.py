"""The Python client at a real server: it talks, hears, speaks, comes back with its key, and is told why it may not."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as listen

from duologue.client import (
    CaptionChanged,
    Client,
    ClientFailed,
    ConnectionChanged,
    ConnectionFailed,
    Happening,
    NoAnswerHeard,
    PhaseChanged,
    TalkOpened,
    TalkOver,
    VoiceArrived,
)
from duologue.client.messages import written
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.testing import ScriptedEars
from tests.limits import WAIT_S
from tests.server.running_server import RunningServer, agent_that_says, serve

TOKEN = "a-token-of-sixteen"


def url_of(running: RunningServer) -> str:
    return f"http://127.0.0.1:{running.port}/"


def test_a_program_types_and_hears_the_answer_at_its_pace() -> None:
    async def script(running: RunningServer) -> None:
        async with Client(url_of(running)) as client:
            reader = client.happenings()
            await client.start(microphone="off")
            assert client.phase == "listening"
            assert await client.ask("hello") == "You said hello."
            await client.end()
            told: list[Happening] = []
            async for one in reader:
                told.append(one)
                if isinstance(one, TalkOver):
                    break
        assert next(one for one in told if isinstance(one, TalkOpened)).is_resumed is False
        assert "speaking" in [one.phase for one in told if isinstance(one, PhaseChanged)]
        assert sum(len(one.pcm) for one in told if isinstance(one, VoiceArrived)) > 0
        assert next(one.text for one in told if isinstance(one, CaptionChanged) and one.is_final) == "hello"
        assert client.captions["assistant", 1].text == "You said hello."
        assert (client.conversation, client.unsent) == ("", {})

    serve(script)


def test_it_comes_back_with_its_key_and_sends_again_what_was_not_confirmed() -> None:
    async def script(running: RunningServer) -> None:
        tokens = count(1)

        async def token() -> str:
            next(tokens)
            return TOKEN

        async with Client(url_of(running), token=token, plays_at_once=True) as client:
            await client.start()
            reader = client.happenings()
            first = client.conversation
            (connected,) = running.conversations.clients
            connected.close()  # the server loses this client
            async for told in reader:
                if isinstance(told, ConnectionChanged) and told.phase == "waiting":
                    break
            assert await client.ask("are you there") == "You said are you there."
            assert client.conversation == first
            assert not client.unsent
        assert next(tokens) == 3, "a token for each connection"
        assert client.connection.phase == "closed"

    serve(script, token=TOKEN)


def test_it_speaks_at_the_pace_of_speech_and_the_ears_get_all_of_it() -> None:
    async def script(running: RunningServer) -> None:
        async with Client(url_of(running), plays_at_once=True) as client:
            await client.start()
            began_s = asyncio.get_running_loop().time()
            await client.speak(b"\1\0" * 16 * 100)  # 100 ms
            assert 0.09 < asyncio.get_running_loop().time() - began_s < 5
            ears = running.agents[-1].ears
            assert isinstance(ears, ScriptedEars)
            await running.say("good morning")
            async for told in client.happenings():
                if isinstance(told, CaptionChanged) and told.role == "assistant" and told.is_final:
                    assert told.text == "You said good morning."
                    break

    serve(script)


def test_a_client_without_a_valid_token_is_told_by_the_servers_words() -> None:
    async def script(running: RunningServer) -> None:
        with pytest.raises(ConnectionFailed, match="requires its token") as refused:
            await Client(url_of(running), token="another").connect()
        assert refused.value.code == 4401

        def broken() -> str:
            raise KeyError("DUOLOGUE_TOKEN")

        with pytest.raises(ConnectionFailed, match="the function that returns the token failed: KeyError"):
            await Client(url_of(running), token=broken).connect()

    serve(script, token=TOKEN)


def test_a_start_that_is_refused_and_an_answer_that_fails_are_errors() -> None:
    def answer(request: object) -> str:
        raise RuntimeError("no brain")

    async def script(running: RunningServer) -> None:
        async with Client(url_of(running), plays_at_once=True) as client:
            await client.start()
            with pytest.raises(NoAnswerHeard):
                await client.ask("hello", answer_s_max=10)
            async with Client(url_of(running)) as other:
                with pytest.raises(ClientFailed, match="can't start: "):
                    await other.start()

    serve(script, agent_that_says(answer), conversations_per_address_max=1)


def test_commands_without_a_connection_say_so() -> None:
    async def main() -> None:
        client = Client("http://127.0.0.1:9/")
        with pytest.raises(ConnectionFailed, match="call connect first"):
            await client.start()
        with pytest.raises(ConnectionFailed, match="the connection is closed"):
            await client.ask("hello")
        with pytest.raises(ConnectionFailed, match=r"no connection to http://127\.0\.0\.1:9/"):
            await client.connect()

    run_jumping(main())


def test_it_comes_back_with_the_newest_receipt_of_each_voice() -> None:
    async def main() -> None:
        hellos: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        async def answer(socket: ServerConnection) -> None:
            hello = json.loads(await socket.recv())["payload"]
            await socket.send(written("ready", {"agent": {}}))
            if "conversation" not in hello:
                await socket.send(written("conversation", {"conversation": "c1", "key": "secret"}))
                for voice, receipt in ((1, "one"), (2, "half of two"), (2, "two")):
                    await socket.send(written("receipt", {"voice": voice, "receipt": receipt}))
                await socket.close(1012)
            hellos.put_nowait(hello)

        async with listen(answer, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            async with asyncio.timeout(WAIT_S), Client(f"http://127.0.0.1:{port}/"):
                assert "receipts" not in await hellos.get()
                assert (await hellos.get())["receipts"] == ["one", "two"]

    run_jumping(main())


def test_a_client_that_closes_right_after_a_command_closes_with_a_close_frame() -> None:
    """If it only ended the connection, the server might never read the command."""

    async def main() -> None:
        closed: asyncio.Future[tuple[str, int | None]] = asyncio.get_running_loop().create_future()

        async def answer(socket: ServerConnection) -> None:
            await socket.recv()
            await socket.send(written("ready", {"agent": {}}))
            last = ""
            async for frame in socket:
                last = json.loads(frame)["type"]
            closed.set_result((last, socket.close_code))

        async with listen(answer, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            async with Client(f"http://127.0.0.1:{port}/") as client:
                await client.end()
            async with asyncio.timeout(WAIT_S):
                assert await closed == ("end", 1000)

    run_jumping(main())
