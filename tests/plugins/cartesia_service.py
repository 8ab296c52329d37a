"""Cartesia's TTS WebSocket on a local port: transcripts in, chunks and the times of words out.

Every character takes CHAR_MS. The times of the words of a transcript follow its first chunk, as they do in life. A
transcript may have the tags that Cartesia documents, and no others; they take no time.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from tests.plugins.vendor_socket import VendorSocket

CHAR_MS = 50
RATE_HZ = 24_000
CHUNK_MS = 200
_TAG = re.compile(
    r'<(?:speed ratio="(?:0\.[6-9]\d*|1(?:\.[0-5]\d*)?)"|volume ratio="(?:0\.[5-9]\d*|1(?:\.\d+)?|2)"'
    r'|emotion value="[a-z ]+"|break time="\d+(?:\.\d+)?m?s") ?/>'
)
_KEYS = {
    "model_id",
    "transcript",
    "voice",
    "language",
    "context_id",
    "output_format",
    "continue",
    "add_timestamps",
    "add_phoneme_timestamps",
    "use_normalized_timestamps",
    "max_buffer_delay_ms",
    "generation_config",
    "flush",
}


class CartesiaService(VendorSocket):
    path = "/tts/websocket"
    key_header = "x-api-key"
    key = "secret-key"

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.cancelled: list[str] = []
        self.stalls_after: int | None = None
        self.breaks_after: int | None = None
        self.error = ""
        self.error_without_context = False
        self.times_tags = False  # are tags among the words with times?
        self.chunks = 0

    def check_request(self, request: Request) -> str:
        in_query = "cartesia_version" in parse_qs(urlsplit(request.path).query)
        return "" if in_query or "cartesia-version" in request.headers else "no cartesia_version"

    async def talk(self, socket: ServerConnection) -> None:
        async for message in socket:
            given = json.loads(message)
            self.received.append(given)
            context = given.get("context_id")
            assert context, "no context_id"
            if given.keys() == {"context_id", "cancel"}:
                self.cancelled.append(context)
                self.noted()
                continue
            assert given.keys() <= _KEYS, given.keys() - _KEYS
            assert given["output_format"] == {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE_HZ}
            assert given["voice"]["mode"] == "id", given["voice"]
            assert "<" not in _TAG.sub("", given["transcript"]), given["transcript"]
            self.texts[context] = self.texts.get(context, "") + given["transcript"]
            self.noted()
            if not given["continue"]:
                await self._speak(socket, context)

    async def _speak(self, socket: ServerConnection, context: str) -> None:
        async def send(**message: Any) -> None:
            whole = {"context_id": context, "status_code": 206, "done": False, **message}
            self.sent.append({name: value for name, value in whole.items() if value is not None})
            await socket.send(json.dumps(self.sent[-1]))

        if self.error:
            named = {"context_id": None} if self.error_without_context else {}
            told = {"error": self.error, "title": "Bad request", "message": self.error, "error_code": "bad_request"}
            await send(type="error", status_code=400, **told, **named)
            return
        written = self.texts[context].strip()
        text = _TAG.sub("", written).strip()
        left_ms, number = len(text) * CHAR_MS, 0
        words, starts, ends = list[str](), list[float](), list[float]()
        for token in re.finditer(r"\S+", written if self.times_tags else text):
            before, until = (len(_bare(token.string[:at])) for at in token.span())
            words.append(token.group())
            starts.append(before * CHAR_MS / 1000)
            ends.append(until * CHAR_MS / 1000)
        while left_ms > 0:
            if self.stalls_after == number:
                return
            if self.breaks_after == number:
                await socket.close(1011)
                return
            ms = min(CHUNK_MS, left_ms)
            left_ms -= ms
            await send(type="chunk", data=base64.b64encode(bytes(RATE_HZ * ms // 1000 * 2)).decode(), step_time=1.0)
            self.chunks += 1
            number += 1
            self.noted()
            if number == 1:
                await send(type="timestamps", word_timestamps={"words": words, "start": starts, "end": ends})
        await send(type="done", done=True, status_code=200)


def _bare(text: str) -> str:
    """The text without tags, the last of which may be incomplete."""
    return re.sub("<[^>]*(?:>|$)", "", text)
