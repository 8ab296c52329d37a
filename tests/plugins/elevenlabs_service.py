"""ElevenLabs' multi-context stream on a local port: text in, audio with the times of its characters out.

Every character takes CHAR_MS. The audio of a text is sent in pieces, with its alignment in the same message or, with
`late`, in a message of its own after the audio of the next piece.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from tests.plugins.vendor_socket import VendorSocket

CHAR_MS = 50
RATE_HZ = 24_000
PIECE_CHARS = 8
_KEYS = {"text", "context_id", "voice_settings", "flush", "close_context", "close_socket", "generation_config"}


class ElevenLabsService(VendorSocket):
    path = "/v1/text-to-speech/"
    key_header = "xi-api-key"
    key = "secret-key"

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.closed_contexts: list[str] = []
        self.late = False
        self.without_times = False
        self.stalls_after: int | None = None  # pieces after which the service says nothing more
        self.breaks_after: int | None = None  # pieces after which it closes the socket
        self.error = ""
        self.audio: bytes | None = None  # sent instead of PCM
        self.pieces = 0
        self.piece_s = 0.0  # the time that a piece takes

    def check_request(self, request: Request) -> str:
        parts = urlsplit(request.path)
        query = parse_qs(parts.query)
        if not parts.path.endswith("/multi-stream-input"):
            return f"path: {parts.path}"
        if query.get("output_format") != ["pcm_24000"]:
            return f"output_format: {query}"
        return "" if "model_id" in query else "no model_id"

    async def talk(self, socket: ServerConnection) -> None:
        speaking: set[asyncio.Task[None]] = set()
        async for message in socket:
            given = json.loads(message)
            assert given.keys() <= _KEYS, given
            context = given.get("context_id")
            assert context, "no context_id"
            if given.get("close_context"):
                self.closed_contexts.append(context)
                task = asyncio.create_task(self._speak(socket, context))
                speaking.add(task)
                task.add_done_callback(speaking.discard)
            elif given.get("text"):
                assert given["text"].endswith(" "), "text must end with a space"
                self.texts[context] = self.texts.get(context, "") + given["text"]
            self.noted()

    async def _speak(self, socket: ServerConnection, context: str) -> None:
        text = self.texts[context].strip()
        if self.error:
            await socket.send(json.dumps({"contextId": context, "error": self.error}))
            return
        held: list[dict[str, Any]] = []
        for start in range(0, len(text), PIECE_CHARS):
            if self.stalls_after is not None and start // PIECE_CHARS >= self.stalls_after:
                return
            if self.breaks_after is not None and start // PIECE_CHARS >= self.breaks_after:
                await socket.close(1011)
                return
            chars = list(text[start : start + PIECE_CHARS])
            times = [(start + number) * CHAR_MS for number in range(len(chars))]
            found = {"chars": chars, "charStartTimesMs": times, "charDurationsMs": [CHAR_MS] * len(chars)}
            pcm = self.audio or bytes(2 * RATE_HZ * CHAR_MS * len(chars) // 1000)
            message: dict[str, Any] = {"contextId": context, "audio": base64.b64encode(pcm).decode(), "isFinal": None}
            timed = {} if self.without_times else {"normalizedAlignment": found, "alignment": found}
            if self.late:
                await socket.send(json.dumps(message))
                if held:
                    await socket.send(json.dumps(held.pop()))
                held.append({"contextId": context, "audio": None, "isFinal": None, **timed})
            else:
                await socket.send(json.dumps({**message, **timed}))
            self.pieces += 1
            self.noted()
            await asyncio.sleep(self.piece_s)
        for message in held:
            await socket.send(json.dumps(message))
        await socket.send(json.dumps({"contextId": context, "isFinal": True}))
