"""A speech service against a real server on a local port: streams, failures, cancelling."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports import ServiceError, Sound
from duologue.voice.endpoint import SoundCutter, SpeechEndpointVoice
from tests.limits import WAIT_S
from tests.needs import needs_package

needs_package("openai", "pip install 'duologue[llm]'")

MS = bytes(range(48))  # a millisecond at 24 kHz
SECRET = "sk-very-secret"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the proxy and the key of this machine."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


# -- A server that misbehaves on request


class Wire:
    """The server's end of one connection, while it answers one request."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server, self._reader, self._writer = server, reader, writer

    async def begin(self, content_type: str = "audio/pcm") -> None:
        await self.raw(
            f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )

    async def chunk(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def whole(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        head = f"HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        await self.raw(head.encode() + data)

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()

    def break_off(self) -> None:
        self._writer.transport.abort()

    async def until_gone(self) -> None:
        """Wait until the client has closed its end."""
        assert await self._reader.read(1) == b""
        self._server.gone.set()


Script: TypeAlias = Callable[[Wire], Awaitable[None]]


class Server:
    """Answers every request by the script, and records the requests."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.requests: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.connections = 0
        self.url = ""
        self.gone = asyncio.Event()
        self.asked = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-len"))
                self.requests.append(head)
                self.bodies.append(json.loads(await reader.readexactly(length)))
                self.asked.set()
                await self._script(Wire(self, reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def serving(script: Script, **options: Any) -> AsyncIterator[tuple[Server, SpeechEndpointVoice]]:
    """A server with this script and a voice that uses it, within the time that a test may take."""
    server = Server(script)
    async with asyncio.timeout(WAIT_S), await asyncio.start_server(server.serve, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        server.url = f"http://127.0.0.1:{port}/v1"
        voice = SpeechEndpointVoice(server.url, "speaker-1", "alloy", **options)
        try:
            yield server, voice
        finally:
            await voice.close()


def sends(*chunks: bytes, content_type: str = "audio/pcm") -> Script:
    async def script(wire: Wire) -> None:
        await wire.begin(content_type)
        for chunk in chunks:
            await wire.chunk(chunk)
        await wire.end()

    return script


def answers(status: int) -> Script:
    async def script(wire: Wire) -> None:
        await wire.whole(status, {"error": {"message": f"no {SECRET}: you said hello", "code": "x"}})

    return script


def spoken(script: Script, text: str = "Hello there.", **options: Any) -> list[Sound]:
    async def run() -> list[Sound]:
        async with serving(script, **options) as (_, voice):
            return [sound async for sound in voice.speak(text)]

    return run_jumping(run())


def failure_of(script: Script, **options: Any) -> tuple[list[Sound], ServiceError]:
    """What comes before it fails, and how it fails."""

    async def run() -> tuple[list[Sound], ServiceError]:
        sounds: list[Sound] = []
        async with serving(script, **options) as (server, voice):
            try:
                async for sound in voice.speak("Hello there."):
                    sounds.append(sound)
            except ServiceError as failure:
                assert len(server.bodies) == 1, "the conversation retries, not the SDK"
                return sounds, failure
        raise AssertionError("it did not fail")

    return run_jumping(run())


def pcm_of(sounds: list[Sound]) -> bytes:
    return b"".join(sound.pcm for sound in sounds)


# -- Speaking


def test_the_sound_is_handed_on_as_it_is() -> None:
    sounds = spoken(sends(MS * 30, MS * 50))
    assert pcm_of(sounds) == MS * 80
    assert all(sound.ms % 20 == 0 and sound.rate_hz == 24_000 and not sound.words for sound in sounds)


def test_the_request_is_that_of_the_protocol() -> None:
    async def run() -> Server:
        async with serving(sends(MS * 20), api_key=SECRET, extra={"speed": 1.1}) as (server, voice):
            assert [sound.ms async for sound in voice.speak("Hello there.")] == [20]
        return server

    server = run_jumping(run())
    assert server.requests[0].startswith("post /v1/audio/speech http/1.1\r\n")
    assert f"authorization: bearer {SECRET}" in server.requests[0]
    assert server.bodies == [
        {"model": "speaker-1", "voice": "alloy", "input": "Hello there.", "response_format": "pcm", "speed": 1.1}
    ]


def test_the_first_sound_does_not_wait_for_the_last() -> None:
    async def run() -> list[Sound]:
        go_on = asyncio.Event()

        async def slow(wire: Wire) -> None:
            await wire.begin()
            await wire.chunk(MS * 25)
            await go_on.wait()
            await wire.chunk(MS * 15)
            await wire.end()

        async with serving(slow) as (_, voice):
            sounds = voice.speak("Hello there.")
            first = await anext(sounds)
            go_on.set()
            return [first, *[sound async for sound in sounds]]

    sounds = run_jumping(run())
    assert [sound.ms for sound in sounds] == [20, 20]
    assert pcm_of(sounds) == MS * 40


def test_a_connection_serves_one_sentence_after_the_other() -> None:
    async def run() -> int:
        async with serving(sends(MS * 20)) as (server, voice):
            for _ in range(3):
                assert [sound.ms async for sound in voice.speak("Hello.")] == [20]
            return server.connections

    assert run_jumping(run()) == 1


@given(st.lists(st.binary(max_size=700), max_size=12), st.sampled_from([8_000, 22_050, 24_000, 48_000]))
def test_however_the_bytes_come_no_sample_is_lost_or_shifted(chunks: list[bytes], rate_hz: int) -> None:
    chunks = [b"\1\0", *chunks]  # what begins like a file is refused
    cutter = SoundCutter(rate_hz)
    sounds = [sound for chunk in chunks for sound in cutter.feed(chunk)] + list(cutter.rest())
    sent = b"".join(chunks)
    assert pcm_of(sounds).startswith(sent[: len(sent) // 2 * 2])
    assert len(pcm_of(sounds)) - len(sent) < rate_hz // 50 * 2
    for sound in sounds:
        assert sound.ms <= 200
        assert len(sound.pcm) == rate_hz * sound.ms // 1000 * 2


def test_where_there_is_nothing_to_say_nothing_is_asked() -> None:
    async def run() -> None:
        async with serving(sends(MS)) as (server, voice):
            assert [sound async for sound in voice.speak(" \n")] == []
            assert not server.bodies

    run_jumping(run())


# -- Failing


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, ErrorClass.INVALID_ARGS),
        (401, ErrorClass.AUTH_FAILURE),
        (404, ErrorClass.INVALID_ARGS),
        (429, ErrorClass.RATE_LIMIT),
        (500, ErrorClass.SERVER_ERROR),
        (503, ErrorClass.SERVER_ERROR),
    ],
)
def test_a_refusal_is_classified_by_its_status_and_tells_no_secret(status: int, error: ErrorClass) -> None:
    sounds, failure = failure_of(answers(status), api_key=SECRET)
    assert not sounds
    assert failure.error is error
    assert str(status) in str(failure)
    shown = "".join(traceback.format_exception(failure))
    assert SECRET not in shown
    assert "you said" not in shown


def test_a_stream_that_breaks_off_fails_after_what_came() -> None:
    async def run() -> None:
        heard = asyncio.Event()

        async def breaks(wire: Wire) -> None:
            await wire.begin()
            await wire.chunk(MS * 40)
            await heard.wait()
            wire.break_off()

        async with serving(breaks) as (_, voice):
            sounds = voice.speak("Hello there.")
            assert (await anext(sounds)).pcm == MS * 40
            heard.set()
            with pytest.raises(ServiceError, match="closed the connection") as caught:
                await anext(sounds)
            assert caught.value.error is ErrorClass.NETWORK_TIMEOUT

    run_jumping(run())


def test_a_stream_that_ends_without_its_end_fails() -> None:
    async def ends(wire: Wire) -> None:
        await wire.raw(b"HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nContent-Length: 9600\r\n\r\n" + MS * 40)
        wire.close()

    sounds, failure = failure_of(ends)
    assert pcm_of(sounds) == MS * 40
    assert failure.error is ErrorClass.NETWORK_TIMEOUT


def test_a_silent_stream_times_out() -> None:
    async def stalls(wire: Wire) -> None:
        await wire.begin()
        await wire.chunk(MS * 20)
        await wire.until_gone()

    sounds, failure = failure_of(stalls, silence_ms_max=500)
    assert pcm_of(sounds) == MS * 20
    assert failure.error is ErrorClass.NETWORK_TIMEOUT


def test_an_unreachable_server_is_reported() -> None:
    async def run() -> None:
        async with serving(sends(MS)) as (server, _):
            pass
        other = SpeechEndpointVoice(server.url, "speaker-1", "alloy")
        with pytest.raises(ServiceError, match="can't be reached") as caught:
            await anext(other.speak("Hello."))
        assert caught.value.error is ErrorClass.NETWORK_TIMEOUT
        await other.close()

    run_jumping(run())


def test_a_good_answer_without_sound_is_a_failure() -> None:
    sounds, failure = failure_of(sends())
    assert not sounds
    assert failure.error is ErrorClass.SERVER_ERROR
    assert spoken(sends(), text="...") == []


@pytest.mark.parametrize("content_type", ["application/json", "text/html; charset=utf-8"])
def test_text_is_never_played(content_type: str) -> None:
    sounds, failure = failure_of(sends(b'{"error": "hello"}' * 200, content_type=content_type))
    assert not sounds
    assert failure.error is ErrorClass.SERVER_ERROR
    assert "sent text instead of audio" in str(failure)


@pytest.mark.parametrize("magic", [b"RIFF", b"ID3", b"OggS", b"fLaC"])
@pytest.mark.parametrize("size", [1, 3, 5_000])
def test_a_file_is_never_played_as_noise(magic: bytes, size: int) -> None:
    data = magic + bytes(5_000)
    sounds, failure = failure_of(sends(*(data[at : at + size] for at in range(0, 2_000, size))))
    assert not sounds
    assert failure.error is ErrorClass.INVALID_ARGS


# -- Stopping


async def endless(wire: Wire) -> None:
    await wire.begin()
    await wire.chunk(MS * 40)
    await wire.until_gone()


def test_closing_the_stream_closes_the_socket() -> None:
    async def run() -> None:
        async with serving(endless) as (server, voice):
            sounds = voice.speak("Hello there.")
            assert (await anext(sounds)).ms == 40
            await sounds.aclose()
            await server.gone.wait()

    run_jumping(run())


@pytest.mark.parametrize("begun", [True, False])
def test_cancelling_the_reader_closes_the_connection(begun: bool) -> None:
    async def silent(wire: Wire) -> None:
        await (endless(wire) if begun else wire.until_gone())

    async def run() -> None:
        async with serving(silent) as (server, voice):
            came = asyncio.Event()

            async def read() -> None:
                async for _ in voice.speak("Hello there."):
                    came.set()

            task = asyncio.create_task(read())
            await (came if begun else server.asked).wait()
            task.cancel()
            await server.gone.wait()
            with pytest.raises(asyncio.CancelledError):
                await task

    run_jumping(run())


# -- Setting it up


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(ServiceError, match="no API key for the speech service") as caught:
        SpeechEndpointVoice(None, "speaker-1", "alloy")
    assert caught.value.error is ErrorClass.AUTH_FAILURE


def test_the_key_in_the_environment_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    async def run() -> str:
        async with serving(sends(MS * 20)) as (server, voice):
            await anext(voice.speak("Hello."))
            return server.requests[0]

    assert SECRET not in run_jumping(run())


def test_a_rate_without_whole_pieces_is_rejected() -> None:
    with pytest.raises(ValueError, match="20 ms must be a whole number of samples above 0"):
        SpeechEndpointVoice("http://127.0.0.1:1/v1", "speaker-1", "alloy", rate_hz=11_025)


def test_without_openai_one_line_says_what_to_install() -> None:
    code = (
        "import sys; import duologue.voice.endpoint as endpoint; assert 'openai' not in sys.modules\n"
        "sys.modules['openai'] = None\n"
        "try: endpoint.SpeechEndpointVoice('http://x', 'm', 'v')\n"
        "except ModuleNotFoundError as missing: print(missing)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "a speech endpoint needs openai: pip install 'duologue[llm]'\n"
