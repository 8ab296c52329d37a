"""The interface that sends the protocol's messages to one client: over a WebSocket, or over the data channel of a
WebRTC connection.

Rule: sending never waits, and a carrier doesn't know what the messages mean.
"""

from __future__ import annotations

from typing import Protocol

from ..close_codes import CloseCode
from .incoming import JsonObject


class RtviCarrier(Protocol):
    """Sends messages to one client."""

    def send_message(self, message: JsonObject) -> None:
        """Send this message of the protocol."""
        ...

    def drop_sound(self) -> None:
        """Drop the sound that is queued, and tell the client to drop what it hasn't played."""
        ...

    def disconnect(self, code: CloseCode) -> None:
        """Disconnect the client as soon as everything in the queue was sent."""
        ...
