"""Reading back a conversation that another process began.

Rule: what can't be read whole is not gone on with; the reason is one line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from duologue.core.codec import event_from_json
from duologue.core.errors import DuologueError
from duologue.core.events import Event
from duologue.core.leaves import CLOSED
from duologue.core.settings import Settings
from duologue.ports.line import Played
from duologue.ports.store import Damaged, Store, StoredConversation
from duologue.runtime.checkpoint import NotRestorable, read_checkpoint

from .served_conversation import RestoredConversation


async def read_earlier(
    store: Store, kept: StoredConversation, settings: Settings, hello: dict[str, Any] | None
) -> RestoredConversation:
    """The conversation, or NotRestorable. `hello` is that of its client, if it has come back."""
    saved = read_checkpoint(kept.parts, settings)
    if saved.state.link in CLOSED:
        raise NotRestorable("it had ended")
    told = kept.parts.get("room")
    try:
        assert isinstance(told, dict)
        began = datetime.fromisoformat(told["began"])
        typed = tuple(told["typed"])
        lost = tuple(dict(one) for one in told.get("lost", ()))
        lost_turns = tuple(int(turn) for turn in told.get("lost_turns", ()))
        assert began.tzinfo is not None
        assert all(isinstance(text, str) for text in (*typed, told["seat"], told["language"]))
    except (AssertionError, KeyError, TypeError, ValueError):
        raise NotRestorable("what was kept of its client can't be read") from None
    position = (hello or {}).get("played")
    return RestoredConversation(
        id=kept.conversation,
        key=(hello or {}).get("key", ""),
        key_hash=kept.key_hash,
        began=began,
        saved=saved,
        events=read_events(await _journal(store, kept.conversation), saved.events),
        typed=typed,
        lost=lost,
        lost_turns=lost_turns,
        played=Played(position["voice"], position["ms"]) if position else None,
    )


async def _journal(store: Store, conversation: str) -> Sequence[str]:
    """The conversation goes on without its past steps, if those are damaged."""
    try:
        return await store.journal(conversation)
    except Damaged:
        return ()


def read_events(lines: Any, count: int) -> tuple[Event, ...]:
    """The steps so far, for the debug view; none if they can't be read. A line that was written twice, or that is newer
    than the state, is left out by its number."""
    events: dict[int, Event] = {}
    try:
        for line in lines:
            data = json.loads(line)
            if data["n"] <= count:
                events[data["n"]] = event_from_json(data["event"])
    except (DuologueError, KeyError, RecursionError, TypeError, ValueError):
        return ()
    return tuple(events[number] for number in sorted(events)) if len(events) == count else ()
