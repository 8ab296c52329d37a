"""A client of the Realtime protocol over WebRTC: a real aiortc peer with the data channel `oai-events`.

Rule: every event of both sides is checked with the types of the `openai` package.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from duologue.testing.realtime.protocol_types import problems_of_client_event, problems_of_server_event
from tests.lines.webrtc.aiortc_client import AiortcClient, MicrophoneTrack
from tests.server.running_server import RunningServer

WAIT_S = 30.0


class WebRtcClient:
    """One client, and everything that it was sent."""

    def __init__(self) -> None:
        self.microphone = MicrophoneTrack()
        self.peer = AiortcClient(self.microphone)
        self.events: list[dict[str, Any]] = []
        self._channel = self.peer.open_channel("oai-events")
        self._channel.on("message", self._take)
        self._opened = asyncio.Event()
        self._channel.on("open", self._opened.set)
        self._news = asyncio.Event()

    async def call(self, made: RunningServer, **headers: str) -> str:
        """Connect. Returns where the call is."""
        offer = await self.peer.offer()
        answer = await made.get("/v1/realtime/calls", offer.encode(), **{"Content-Type": "application/sdp", **headers})
        assert answer.status == 201, answer.body
        assert answer.headers["content-type"].startswith("application/sdp")
        await self.peer.accept(answer.body.decode())
        await asyncio.wait_for(self._opened.wait(), WAIT_S)
        return answer.headers["location"]

    def _take(self, text: str) -> None:
        event = json.loads(text)
        assert problems_of_server_event(event) == []
        self.events.append(event)
        self._news.set()

    def send(self, kind: str, **fields: Any) -> None:
        event = {"type": kind, **fields}
        assert problems_of_client_event(event) == []
        self._channel.send(json.dumps(event))

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    async def until(self, kind: str, count: int = 1) -> dict[str, Any]:
        """The last of so many events of this kind."""
        async with asyncio.timeout(WAIT_S):
            while len(self.told(kind)) < count:
                self._news.clear()
                await self._news.wait()
        return self.told(kind)[count - 1]

    async def close(self) -> None:
        await self.peer.close()
