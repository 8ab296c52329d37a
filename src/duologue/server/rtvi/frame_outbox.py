"""The queue of frames for one client's WebSocket.

Rule: after `drop_sound`, no sound that was queued before is sent.
"""

from __future__ import annotations

import json
import logging

from duologue.lines.playback.state import OUTPUT_HZ

from ..protocols.socket_outbox import SocketOutbox
from .frames import audio_frame, interruption_frame, message_frame
from .incoming import LABEL, JsonObject

LOG = logging.getLogger("duologue.rtvi")
SOUND = 1  # whichever voice it is of: only one waits


class FrameOutbox(SocketOutbox):
    """Sends frames to one client. The client's conversation also uses it as its `RtviCarrier`, to send the protocol's
    messages."""

    def send_message(self, message: JsonObject) -> None:
        self.add(message_frame(message_text(message)))

    def send_sound(self, pcm: bytes) -> None:
        """Queue a piece of sound, which is PCM at 24 kHz."""
        self.add(audio_frame(pcm, OUTPUT_HZ), SOUND)

    def drop_sound(self) -> None:
        self.drop(SOUND)
        self.add(interruption_frame())


def message_text(message: JsonObject) -> str:
    """A message as JSON. If it contains something that JSON can't hold, an error message is returned instead."""
    try:
        return json.dumps(message, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        LOG.error("a message isn't sent: its data can't be written as JSON")
        return json.dumps(_unwritable(message))


def _unwritable(message: JsonObject) -> JsonObject:
    """The error message that is sent in place of a message from the agent's program, if JSON can't hold that
    message."""
    error = "The agent has sent something that can't be written as JSON."
    kind = "error-response" if message["type"] == "server-response" else "error"
    return {"label": LABEL, "type": kind, "id": message["id"], "data": {"error": error, "fatal": False}}
