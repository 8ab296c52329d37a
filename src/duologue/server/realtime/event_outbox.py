"""The queue of events for one client's socket.

Rule: after `drop_sound(voice)`, no queued sound of that voice (the sound of one reply) is sent.
"""

from __future__ import annotations

import json

from ..protocols.socket_outbox import SocketOutbox
from .fields import JsonObject


class EventOutbox(SocketOutbox):
    """Sends events to one client, as text."""

    def send(self, event: JsonObject, voice: int = 0) -> None:
        """Queue an event. If the event contains sound of a voice (the sound of one reply), `voice` is the number of
        that voice; otherwise 0."""
        self.add(json.dumps(event, ensure_ascii=False), voice)

    def drop_sound(self, voice: int) -> None:
        self.drop(voice)
