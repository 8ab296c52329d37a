"""A conversation that another process started."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from duologue.core.settings import Settings
from duologue.core.state import initial
from duologue.runtime.checkpoint import Checkpoint
from duologue.server.conversation_keys import ConversationKeys
from duologue.server.restored_conversation import RestoredConversation


@pytest.mark.parametrize("events", [0, 3])
def test_a_conversation_without_events_was_not_started(events: int) -> None:
    saved = Checkpoint(initial(Settings()), {}, {}, events=events)
    earlier = RestoredConversation("c", "hash", ConversationKeys(("hash",)), datetime.now(UTC), saved)
    assert earlier.is_started is (events > 0)
