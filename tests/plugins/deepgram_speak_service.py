"""Deepgram's speech on a local port: `/v1/speak`, words in, audio out.

The audio of a text comes at the pace of speech, piece by piece, so that a test can stop it in the middle.
"""

from __future__ import annotations

import asyncio
import json
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request

from tests.plugins.vendor_socket import VendorSocket

CHAR_MS = 50
RATE_HZ = 24_000
PIECE_MS = 100


class DeepgramSpeakService(VendorSocket):
    path = "/v1/speak"

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.pieces = 0

    def check_request(self, request: Request) -> str:
        query = parse_qs(urlsplit(request.path).query)
        if query.get("encoding") != ["linear16"] or query.get("sample_rate") != [str(RATE_HZ)]:
            return f"encoding and sample_rate: {query}"
        return "" if "model" in query else "no model"

    async def talk(self, socket: ServerConnection) -> None:
        words, speaking = list[str](), list[asyncio.Task[None]]()
        try:
            async for message in socket:
                given = json.loads(message)
                match given:
                    case {"type": "Speak", "text": str(text)}:
                        words.append(text)
                    case {"type": "Flush"}:
                        text = "".join(words).strip()  # the plugin also flushes when it has sent nothing since
                        words.clear()
                        self.texts += [text] if text else []
                        speaking.append(asyncio.ensure_future(self._speak(socket, text)))
                    case {"type": "Close"}:
                        return
                    case _:
                        raise AssertionError(f"not a message of this protocol: {given}")
                self.noted()
        finally:
            for task in speaking:
                task.cancel()

    async def _speak(self, socket: ServerConnection, text: str) -> None:
        for _ in range(0, len(text) * CHAR_MS, PIECE_MS):
            await socket.send(bytes(RATE_HZ * PIECE_MS // 1000 * 2))
            self.pieces += 1
            self.noted()
            await asyncio.sleep(PIECE_MS / 1000)
        await socket.send(json.dumps({"type": "Flushed", "sequence_id": len(self.texts)}))
