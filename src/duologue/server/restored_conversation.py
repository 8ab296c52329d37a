"""A conversation that another process started: what is known about it from the store and from its client.

Rule: this is only a value, which was read completely; the conversation doesn't run yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duologue.core.events import Event
from duologue.ports.line import Played
from duologue.runtime.checkpoint import Checkpoint
from duologue.runtime.receipts import AnswerReceipt

from . import server_messages
from .conversation_keys import ConversationKeys


@dataclass(frozen=True, slots=True)
class RestoredConversation:
    """A conversation that another process started. `played` is how much its client has played; None if the client
    hasn't reconnected yet."""

    id: str
    key_hash: str  # with which it was claimed first
    keys: ConversationKeys
    began: datetime
    saved: Checkpoint
    events: tuple[Event, ...] = ()
    typed: tuple[str, ...] = ()
    lost: tuple[server_messages.ServerMessage, ...] = ()  # about turns without an answer, not sent to a client yet
    lost_turns: tuple[int, ...] = ()
    results: tuple[dict[str, Any], ...] = ()  # of its tasks
    secret: str = ""  # with which its receipts are sealed
    receipts: tuple[AnswerReceipt, ...] = ()  # that its client has presented
    played: Played | None = None

    @property
    def is_started(self) -> bool:
        """Had the conversation begun before its process ended? If not, there is nothing to continue."""
        return self.saved.events > 0
