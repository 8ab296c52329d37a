"""One socket to a real server: messages and sound as values; a server that isn't there is an error that says so."""

from __future__ import annotations

import asyncio
import socket

import pytest

from duologue.client import ClientFailed, ConnectionFailed, ProtocolSocket, ServerSaid, VoiceChunk
from duologue.client.protocol_socket import socket_url
from duologue.lab.sim.jumping_clock import run_jumping
from tests.server.running_server import RunningServer, serve


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://127.0.0.1:8765/", "ws://127.0.0.1:8765/ws"),
        ("https://agent.example", "wss://agent.example/ws"),
        ("https://agent.example/voice/?lang=de", "wss://agent.example/voice/ws?lang=de"),
        ("ws://127.0.0.1:1/ws", "ws://127.0.0.1:1/ws"),
    ],
)
def test_the_address_of_the_socket(url: str, found: str) -> None:
    assert socket_url(url) == found


@pytest.mark.parametrize("url", ["127.0.0.1:8765", "ftp://agent.example/", "http://", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ClientFailed, match="is not the address of a server"):
        socket_url(url)


def test_a_conversation_by_hand() -> None:
    async def script(running: RunningServer) -> None:
        opened = await ProtocolSocket.open(f"http://127.0.0.1:{running.port}/")
        await opened.send("hello", version=1, seat="alice")
        await opened.send("start")
        kinds: list[str] = []
        async for received in opened:
            if isinstance(received, VoiceChunk):
                assert received.pcm
                break
            assert isinstance(received, ServerSaid)
            kinds.append(received.kind)
            if received.kind == "state" and received.payload["phase"] == "listening":
                await opened.send("type", text="hello")
        assert kinds[:2] == ["ready", "conversation"]
        await opened.close()
        assert opened.close_code == 1000
        assert await opened.send("end") is False

    serve(script)


def test_a_server_that_refuses_ends_the_iteration_with_its_code() -> None:
    async def script(running: RunningServer) -> None:
        opened = await ProtocolSocket.open(f"http://127.0.0.1:{running.port}/")
        await opened.send("hello", version=1, seat="alice", token="a wrong one")
        told = [received async for received in opened]
        assert [received.kind for received in told] == ["error"]
        assert (opened.close_code, opened.close_reason[:11]) == (4401, "This server")

    serve(script, token="a-token-of-sixteen")


@pytest.mark.parametrize("is_abrupt", [False, True])
def test_a_server_that_hangs_up_in_the_handshake_is_no_connection(is_abrupt: bool) -> None:
    async def main() -> None:
        async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.abort() if is_abrupt else writer.close()

        server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            with pytest.raises(ConnectionFailed, match="no connection to"):
                await ProtocolSocket.open(url)

    run_jumping(main())


def test_a_server_that_is_not_there_is_an_error_with_its_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        with pytest.raises(ConnectionFailed, match=f"no connection to {url}: "):
            run_jumping(ProtocolSocket.open(url))
