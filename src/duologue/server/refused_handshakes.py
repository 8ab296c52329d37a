"""A WebSocket of uvicorn that knows when it has refused a client.

If the application refuses a WebSocket with an HTTP response, uvicorn sends the response, but doesn't note that the
handshake is over. Although nothing is wrong, it then logs the error that the handshake wasn't completed.
Rule: this class changes nothing that a client gets.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class RefusableSocket(WebSocketsSansIOProtocol):
    """A base of a WebSocket protocol class of uvicorn. After a whole HTTP response, the handshake is complete."""

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True
