"""Deepgram's live transcription as ears, over a WebSocket.

With `DeepgramEars(…)`, the service detects and transcribes speech. With `LocalEars(words=DeepgramEars(…))`, speech is
detected on this computer, and the service only transcribes it. Rule: the API key is sent in a header, and nothing is
retried.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from duologue.core.leaves import ErrorClass
from duologue.ports.ears import Frame, Heard, Incoming
from duologue.ports.failure import ServiceError, classify_status
from duologue.ports.streams import reading
from duologue.ports.usage import Usage, UsageCount
from duologue.ports.words import WordStream

from .service_stream import TEXT_MS_MAX, SpeechStream, listen_with
from .service_utterances import Given, OnsetHeard, SilenceHeard, TextHeard
from .service_words import StreamWords

CONNECT_S_MAX = 5.0
CLOSE_S_MAX = 0.05  # how long closing a connection may take
KEEP_ALIVE_S = 4.0  # without audio, the service closes a connection after 10 s
ENDPOINTING_MS = 100
_HINTS = {
    ErrorClass.AUTH_FAILURE: "rejected the key: check DEEPGRAM_API_KEY",
    ErrorClass.RATE_LIMIT: "accepts no more connections for now: wait, or check the account's limits",
    ErrorClass.INVALID_ARGS: "rejected the request: check the model and the language",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, timed out or closed the connection",
}
_closing: set[asyncio.Task[None]] = set()


class DeepgramFailed(ServiceError):
    """Deepgram failed. The message contains no text from the service."""

    is_own = True


class DeepgramEars:
    """Ears that use Deepgram. The API key is `api_key`. If it isn't passed and `url` is Deepgram's own address, the
    environment variable DEEPGRAM_API_KEY is used. `extra`, such as {"keyterm": "Duologue"}, is added to the query of
    every connection. After each connection, `on_usage` is called with the amount of sound that was sent."""

    def __init__(
        self,
        model: str = "nova-3",
        *,
        language: str = "en",
        api_key: str | None = None,
        url: str = "wss://api.deepgram.com",
        extra: Mapping[str, str] | None = None,
        text_ms_max: int = TEXT_MS_MAX,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> None:
        own = (urlsplit(url).hostname or "").endswith("deepgram.com")
        key = api_key or (os.environ.get("DEEPGRAM_API_KEY") if own else None)
        if not key:
            raise DeepgramFailed(
                ErrorClass.AUTH_FAILURE, "no API key for Deepgram: pass api_key, or set DEEPGRAM_API_KEY"
            )
        self._key, self._url, self._text_ms_max = key, url.rstrip("/"), text_ms_max
        self._query = {
            "model": model,
            "language": language,
            "encoding": "linear16",
            "channels": "1",
            "interim_results": "true",
            "smart_format": "true",
            "vad_events": "true",
            "endpointing": str(ENDPOINTING_MS),
            **(extra or {}),
        }
        self.languages = None if language == "multi" else frozenset({language.partition("-")[0]})
        self._usage = UsageCount(on_usage)

    @property
    def usage(self) -> Usage:
        """How much sound was sent to the service so far."""
        return self._usage.total

    @property
    def settings(self) -> dict[str, Any]:
        """The name and the settings of the service, for a journal."""
        return {"stt": "deepgram", **self._query}

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        """Yield what the service hears in this audio. Closing the generator closes the connection."""
        stream = DeepgramStream(self._connect, self._usage)
        async with reading(listen_with(stream, audio, False, self._text_ms_max)) as reports:
            async for heard in reports:
                yield heard

    async def open_words(self) -> WordStream:
        """Open a stream that only transcribes, for ears that detect speech by themselves."""
        return StreamWords(DeepgramStream(self._connect, self._usage), self._text_ms_max)

    async def _connect(self, rate_hz: int) -> Any:
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus, WebSocketException

        address = f"{self._url}/v1/listen?{urlencode({**self._query, 'sample_rate': rate_hz})}"
        try:
            async with asyncio.timeout(CONNECT_S_MAX):
                return await connect(address, additional_headers={"Authorization": f"Token {self._key}"})
        except InvalidStatus as refused:
            status = refused.response.status_code
            raise _failed(classify_status(status), str(status)) from None
        except (OSError, WebSocketException) as failure:
            raise _failed(ErrorClass.NETWORK_TIMEOUT, type(failure).__name__) from None


class DeepgramStream(SpeechStream):
    """One connection. It is opened when the first frame arrives, because the sample rate isn't known before. Audio is
    queued until the connection is open."""

    def __init__(self, connect: Callable[[int], Any], usage: UsageCount) -> None:
        self._connect, self._usage = connect, usage
        self._rate_hz = 0
        self._bytes = 0
        self._unsent: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        self._has_rate = asyncio.Event()
        self._socket: Any = None
        self._sender: asyncio.Task[None] | None = None

    @property
    def at_ms(self) -> int:
        return self._bytes * 500 // self._rate_hz if self._rate_hz else 0

    def push(self, frame: Frame) -> None:
        if frame.rate_hz <= 0 or len(frame.pcm) % 2 or self._rate_hz not in (0, frame.rate_hz):
            raise DeepgramFailed(
                ErrorClass.INVALID_ARGS,
                f"a frame of {len(frame.pcm)} bytes at {frame.rate_hz} Hz can't be used: "
                "send 16-bit PCM, with the same rate in all frames",
            )
        self._rate_hz = frame.rate_hz
        self._has_rate.set()
        self._bytes += len(frame.pcm)
        self._unsent.put_nowait(frame.pcm)

    def flush(self) -> None:
        self._unsent.put_nowait(json.dumps({"type": "Finalize"}))

    def end(self) -> None:
        self._unsent.put_nowait(json.dumps({"type": "CloseStream"}))
        self._unsent.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[Given]:
        from websockets.exceptions import ConnectionClosed

        await self._has_rate.wait()
        self._socket = await self._connect(self._rate_hz)
        self._sender = asyncio.ensure_future(self._send())
        try:
            async for text in self._socket:
                for given in read_message(text):
                    yield given
        except ConnectionClosed as closed:
            raise _failed(ErrorClass.NETWORK_TIMEOUT, str(closed.rcvd.code if closed.rcvd else "lost")) from None
        finally:
            self._sender.cancel()

    async def close(self) -> None:
        self._usage.add(Usage(heard_ms=self.at_ms))
        if self._sender is not None:
            self._sender.cancel()
        if self._socket is not None:
            task = asyncio.ensure_future(self._socket.close())
            _closing.add(task)
            task.add_done_callback(_closing.discard)
            await asyncio.wait([task], timeout=CLOSE_S_MAX)

    async def _send(self) -> None:
        """Send the queued audio and messages in order. When there is nothing to send for a while, send a keep-alive
        message."""
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE_S):
                    item = await self._unsent.get()
            except TimeoutError:
                item = json.dumps({"type": "KeepAlive"})
            if item is None:
                return
            await self._socket.send(item)


def read_message(text: str | bytes) -> list[Given]:
    """The events in a message from the service. Raises DeepgramFailed if the message can't be read."""
    try:
        message = json.loads(text)
        kind = message["type"]
        if kind == "SpeechStarted":
            return [OnsetHeard()]
        if kind == "UtteranceEnd":
            return [SilenceHeard()]
        if kind == "Error":
            raise _failed(ErrorClass.SERVER_ERROR, "error message")
        if kind != "Results":
            return []
        found = message["channel"]["alternatives"][0]
        words = found.get("words") or []
        end_ms = round(1000 * (words[-1]["end"] if words else message["start"] + message["duration"]))
        heard = TextHeard(
            found["transcript"],
            found["confidence"] or 1.0,
            end_ms,
            settled=bool(message.get("is_final")),
            last_confidence=words[-1]["confidence"] if words else None,
        )
        ended: list[Given] = [SilenceHeard()] if message.get("speech_final") else []
        return [heard, *ended] if heard.text else ended
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise _failed(ErrorClass.SERVER_ERROR, "unreadable message") from None


def _failed(error: ErrorClass, detail: str) -> DeepgramFailed:
    return DeepgramFailed(error, f"Deepgram {_HINTS.get(error, 'failed')} ({detail})")
