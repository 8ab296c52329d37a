"""Cartesia's streaming TTS as a voice, over one WebSocket for all sentences, with word times.

Each sentence is one context (Cartesia's word for a request) on the socket. Rule: a failed sentence is never retried
here. If the reader of a sentence stops early, the sentence is cancelled at the service. The API key is sent in a
header, never in the address.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import os
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from duologue.core.leaves import ErrorClass
from duologue.ports.failure import ServiceError, classify_status
from duologue.ports.markup import TaggedText
from duologue.ports.sound import Sound, Word
from duologue.ports.voice import Voice

from .endpoint import SpeechFailed
from .markup import CARTESIA
from .timed_sound import TimedSound

CONNECT_S_MAX = 5.0
SILENCE_S_MAX = 10.0
VERSION = "2025-04-16"
_TAKES_TAGS = "sonic-3"  # the models whose text may have tags
_HINTS = {
    ErrorClass.AUTH_FAILURE: "rejected the key: check CARTESIA_API_KEY",
    ErrorClass.RATE_LIMIT: "accepts no more requests for now: wait, or check the account's limits",
    ErrorClass.INVALID_ARGS: "rejected the request: check the voice's id, the model and the language",
    ErrorClass.NETWORK_TIMEOUT: "can't be reached, timed out or closed the connection",
}


class CartesiaVoice(Voice):
    """Speaks with a Cartesia voice, which is chosen by its id.

    The key is `api_key`. If `api_key` is None and the address is Cartesia's own, the key is the environment variable
    CARTESIA_API_KEY. The fields in `extra`, such as {"generation_config": {"speed": 1.1}}, are added to every request.
    """

    def __init__(
        self,
        voice: str,
        *,
        model: str = "sonic-3",
        language: str = "en",
        api_key: str | None = None,
        url: str = "wss://api.cartesia.ai",
        rate_hz: int = 24_000,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if not voice:
            raise ValueError("voice is empty: pass the id of a Cartesia voice")
        own = (urlsplit(url).hostname or "").endswith("cartesia.ai")
        key = api_key or (os.environ.get("CARTESIA_API_KEY") if own else None)
        if not key:
            raise SpeechFailed(
                ErrorClass.AUTH_FAILURE, "no API key for Cartesia: pass api_key, or set CARTESIA_API_KEY"
            )
        self._key, self._rate_hz = key, rate_hz
        self._url = f"{url.rstrip('/')}/tts/websocket?cartesia_version={VERSION}"
        self._body = {
            "model_id": model,
            "voice": {"mode": "id", "id": voice},
            "language": language,
            "output_format": {"container": "raw", "encoding": "pcm_s16le", "sample_rate": rate_hz},
            "add_timestamps": True,
            "continue": False,
            **(extra or {}),
        }
        self._connection: _Connection | None = None
        self._connecting = asyncio.Lock()

    def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """The sound of a sentence, piece by piece. If the generator is closed or its reader is cancelled, the sentence
        is cancelled at the service."""
        return self._speak(text, text)

    def speak_tagged(self, tagged: TaggedText) -> AsyncGenerator[Sound, None]:
        """The sound of a sentence with tags for breaks, speed, volume and emotion, piece by piece."""
        is_tagged = str(self._body["model_id"]).startswith(_TAKES_TAGS)
        return self._speak(tagged.text, CARTESIA.write(tagged) if is_tagged else tagged.text)

    async def _speak(self, text: str, transcript: str) -> AsyncGenerator[Sound, None]:
        if not text.strip():
            return
        connection = await self._connected()
        context = uuid.uuid4().hex
        messages = connection.open(context)
        timed, is_done = TimedSound("Cartesia", transcript != text), False
        try:
            await connection.send({**self._body, "transcript": transcript, "context_id": context})
            while not is_done:
                message = await _next(messages)
                is_done = message.get("type") == "done"
                for sound in self._read(message, timed):
                    yield sound
            for sound in timed.rest():
                yield sound
        finally:
            await connection.close_context(context, is_done)
        if not timed.made_ms and any(character.isalnum() for character in text):
            raise SpeechFailed(ErrorClass.SERVER_ERROR, "Cartesia sent no audio")

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _read(self, message: dict[str, Any], timed: TimedSound) -> list[Sound]:
        match message.get("type"):
            case "chunk":
                try:
                    data = base64.b64decode(message["data"], validate=True)
                except (KeyError, TypeError, binascii.Error):
                    raise SpeechFailed(ErrorClass.SERVER_ERROR, "Cartesia sent audio that can't be read") from None
                return timed.feed(data, self._rate_hz)
            case "timestamps":
                timed.add_words(_words(message.get("word_timestamps")))
            case "error":
                status = message.get("status_code")
                error = classify_status(status) if type(status) is int and status >= 400 else ErrorClass.SERVER_ERROR
                raise _failed(error, str(status))
        return []

    async def _connected(self) -> _Connection:
        async with self._connecting:
            if self._connection is None or self._connection.is_closed:
                self._connection = await _connect(self._url, self._key)
            return self._connection


class _Connection:
    """A socket and its open contexts, one for each sentence that is being made."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._contexts: dict[str, asyncio.Queue[dict[str, Any] | None]] = {}
        self._reader = asyncio.ensure_future(self._read())

    @property
    def is_closed(self) -> bool:
        return self._reader.done()

    def open(self, context: str) -> asyncio.Queue[dict[str, Any] | None]:
        """Open a context. Returns the queue of its messages. A None in the queue means that the connection was lost."""
        return self._contexts.setdefault(context, asyncio.Queue())

    async def send(self, message: dict[str, Any]) -> None:
        from websockets.exceptions import WebSocketException

        try:
            await self._socket.send(json.dumps(message))
        except (OSError, WebSocketException) as failure:
            raise _lost(failure) from None

    async def close_context(self, context: str, is_done: bool) -> None:
        """Forget a context. Unless the context is done, the service is told to cancel it, so that the service makes no
        more sound for it."""
        del self._contexts[context]
        if not is_done and not self.is_closed:
            with suppress(ServiceError):
                await self.send({"context_id": context, "cancel": True})

    async def close(self) -> None:
        self._reader.cancel()
        await asyncio.wait([self._reader])
        await self._socket.close()

    async def _read(self) -> None:
        try:
            async for text in self._socket:
                message = json.loads(text)
                if isinstance(message, dict):
                    self._pass_on(message)
        except Exception:  # noqa: BLE001 - whatever ended the connection, its sentences fail
            return
        finally:
            for queue in self._contexts.values():
                queue.put_nowait(None)

    def _pass_on(self, message: dict[str, Any]) -> None:
        """Give a message to its context. An error without a context is given to all contexts."""
        context = message.get("context_id")
        if context is None and message.get("type") == "error":
            for queue in self._contexts.values():
                queue.put_nowait(message)
        elif (found := self._contexts.get(str(context))) is not None:
            found.put_nowait(message)


async def _connect(url: str, key: str) -> _Connection:
    try:
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus, WebSocketException
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "a Cartesia voice needs websockets: pip install 'duologue[realtime]'", name="websockets"
        ) from None
    try:
        async with asyncio.timeout(CONNECT_S_MAX):
            return _Connection(await connect(url, additional_headers={"X-API-Key": key}, max_size=None))
    except InvalidStatus as refused:
        status = refused.response.status_code
        raise _failed(classify_status(status), str(status)) from None
    except (OSError, WebSocketException) as failure:
        raise _lost(failure) from None


async def _next(messages: asyncio.Queue[dict[str, Any] | None]) -> dict[str, Any]:
    try:
        async with asyncio.timeout(SILENCE_S_MAX):
            message = await messages.get()
    except TimeoutError as failure:
        raise _lost(failure) from None
    if message is None:
        raise _failed(ErrorClass.NETWORK_TIMEOUT, "connection closed")
    return message


def _words(found: Any) -> list[Word]:
    """The words in a message from the service, with their times. A word whose times can't be read is left out."""
    if not isinstance(found, dict):
        return []
    rows = zip(found.get("words") or (), found.get("start") or (), found.get("end") or (), strict=False)
    return [
        Word(word.strip(), round(start * 1000), round(end * 1000))
        for word, start, end in rows
        if isinstance(word, str) and isinstance(start, int | float) and isinstance(end, int | float)
    ]


def _lost(failure: Exception) -> SpeechFailed:
    return _failed(ErrorClass.NETWORK_TIMEOUT, type(failure).__name__)


def _failed(error: ErrorClass, detail: str) -> SpeechFailed:
    return SpeechFailed(error, f"Cartesia {_HINTS.get(error, 'failed')} ({detail})")
