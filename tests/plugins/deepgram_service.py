"""Deepgram's live transcription on a local port: `/v1/listen`, audio in, results out.

A test sends results with `say`, or lets `hears` answer loud audio: an interim result after some words' worth of audio
and a final one when the sound ends or the client sends Finalize.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from tests.plugins.vendor_socket import VendorSocket

LOUD = 1_000  # a sample above this is speech
QUIET_MS = 60  # so much silence ends speech: the client asks for a short endpointing
MODEL = {"name": "general", "version": "2026-01-01.0", "arch": "nova-3"}
METADATA = {
    "type": "Metadata",
    "transaction_key": "deprecated",
    "request_id": "r1",
    "sha256": "0" * 64,
    "created": "2026-11-19T04:28:22.000Z",
    "channels": 1,
}


class DeepgramService(VendorSocket):
    path = "/v1/listen"

    def __init__(self, hears: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.hears = list(hears)
        self.audio_ms = 0
        self.finalizes = 0
        self.said: list[str] = []
        self.rate_hz = 16_000
        self.keeps_last_until_finalize = False
        self.quiet_ms = QUIET_MS
        self._socket: ServerConnection | None = None
        self._loud_since: int | None = None
        self._quiet_ms = 0
        self._begun = False

    def check_request(self, request: Request) -> str:
        query = parse_qs(urlsplit(request.path).query)
        if query.get("encoding") != ["linear16"] or query.get("channels", ["1"]) != ["1"]:
            return f"encoding and channels: {query}"
        if query.get("sample_rate", ["0"])[0] not in ("8000", "16000", "24000", "48000"):
            return f"sample_rate: {query}"
        self.rate_hz = int(query["sample_rate"][0])
        return "" if "model" in query else "no model"

    async def talk(self, socket: ServerConnection) -> None:
        self._socket = socket
        self.noted()
        async for message in socket:
            if isinstance(message, bytes):
                assert len(message) % 2 == 0, "half a sample"
                await self._hear(message)
            else:
                given = json.loads(message)
                self.received.append(given)
                assert given.keys() == {"type"}, given
                assert given["type"] in ("KeepAlive", "Finalize", "CloseStream"), given
                if given["type"] == "Finalize":
                    self.finalizes += 1
                    await self._finalize()
                elif given["type"] == "CloseStream":
                    await self._send({**METADATA, "duration": self.audio_ms / 1000})
                    await socket.close()
            self.noted()

    async def say(self, text: str, *, final: bool, end: bool = False, at_ms: tuple[int, int] | None = None) -> None:
        """Send a result: `final` means is_final, `end` speech_final."""
        start_ms, end_ms = at_ms or (max(0, self.audio_ms - 200), self.audio_ms)
        words = text.split()
        each = (end_ms - start_ms) / 1000 / max(1, len(words))
        timed = [
            {
                "word": word.strip(".,?!").lower(),
                "punctuated_word": word,
                "start": start_ms / 1000 + number * each,
                "end": start_ms / 1000 + (number + 1) * each,
                "confidence": 0.9,
            }
            for number, word in enumerate(words)
        ]
        await self._send(
            {
                "type": "Results",
                "channel_index": [0, 1],
                "start": start_ms / 1000,
                "duration": (end_ms - start_ms) / 1000,
                "is_final": final,
                "speech_final": end,
                "from_finalize": False,
                "metadata": {"request_id": "r1", "model_uuid": "m1", "model_info": MODEL},
                "channel": {"alternatives": [{"transcript": text, "confidence": 0.9 if text else 0, "words": timed}]},
            }
        )
        if text and final:
            self.said.append(text)

    async def start(self) -> None:
        await self._send({"type": "SpeechStarted", "channel": [0, 1], "timestamp": self.audio_ms / 1000})

    async def fail(self) -> None:
        """Report an error, as the service does for a message that it can't read."""
        await self._send({"type": "Error", "variant": "SchemaError", "description": "secret words"})

    async def drop(self) -> None:
        """Break the connection, as a failing service does."""
        assert self._socket is not None
        await self._socket.close(1011, "NET-0000")

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._socket is not None
        self.sent.append(message)
        await self._socket.send(json.dumps(message))

    # -- Answering loud audio

    async def _hear(self, pcm: bytes) -> None:
        piece = np.frombuffer(pcm, np.int16)
        self.audio_ms += piece.size * 1000 // self.rate_hz
        is_loud = bool(piece.size and np.abs(piece.astype(np.int32)).max() > LOUD)
        if is_loud and self.hears:
            self._quiet_ms = 0
            if self._loud_since is None:
                self._loud_since, self._begun = self.audio_ms, False
            elif not self._begun and self.audio_ms - self._loud_since >= 100:
                self._begun = True
                await self.start()
                await self.say(" ".join(self.hears[0].split()[:2]), final=False)
        elif self._loud_since is not None:
            self._quiet_ms += piece.size * 1000 // self.rate_hz
            if self._quiet_ms >= self.quiet_ms and not self.keeps_last_until_finalize:
                await self._finalize()

    async def _finalize(self) -> None:
        if self._loud_since is None or not self.hears:
            return
        start_ms, self._loud_since = self._loud_since, None
        await self.say(self.hears.pop(0), final=True, end=True, at_ms=(start_ms, self.audio_ms - self._quiet_ms))
