"""Reads a stored conversation that another process started.

Rule: a conversation that can't be read completely is not resumed, and the error says why in one line.
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
from duologue.ports.context import CallInfo
from duologue.ports.line import Played
from duologue.ports.store import Damaged, Store, StoredConversation
from duologue.runtime.checkpoint import NotRestorable, read_checkpoint
from duologue.runtime.receipts import read_receipts

from .conversation_keys import stored_keys
from .lease_calls import CLIENT_PART, now_ms
from .restored_conversation import RestoredConversation
from .task_results import read_results

RECEIVED_MS = "received_ms"  # in a hello: when this server got it


async def read_earlier(
    store: Store, stored: StoredConversation, settings: Settings, hello: dict[str, Any] | None
) -> RestoredConversation:
    """Read a stored conversation. `hello` is the client's hello message; None if the client hasn't reconnected yet.
    Raises NotRestorable if the data can't be read or the conversation has ended."""
    saved = read_checkpoint(stored.parts, settings)
    if saved.state.link in CLOSED and saved.events:  # without events, it was not started yet
        raise NotRestorable("the conversation has ended")
    client = stored.parts.get(CLIENT_PART)
    try:
        assert isinstance(client, dict)
        began = datetime.fromisoformat(client["began"])
        typed = tuple(client["typed"])
        lost = tuple(dict(one) for one in client.get("lost", ()))
        lost_turns = tuple(int(turn) for turn in client.get("lost_turns", ()))
        results = read_results(client.get("results", []))
        assert began.tzinfo is not None
        secret = client.get("secret", "")
        assert all(isinstance(text, str) for text in (*typed, client["language"], secret))
    except (AssertionError, KeyError, TypeError, ValueError):
        raise NotRestorable("the stored data about the conversation's client can't be read") from None
    return RestoredConversation(
        id=stored.conversation,
        key_hash=stored.key_hash,
        keys=stored_keys(client, stored.key_hash),
        began=began,
        saved=saved,
        events=read_events(await _journal(store, stored.conversation), saved.events),
        typed=typed,
        lost=lost,
        lost_turns=lost_turns,
        results=results,
        secret=secret,
        receipts=read_receipts((hello or {}).get("receipts", ()), secret),
        played=played_by_now(hello or {}),
    )


def played_by_now(hello: dict[str, Any]) -> Played | None:
    """How much the client has played by now: what its hello says, plus the time since the hello came, because the
    client goes on playing. That time isn't added if the hello says that playback is paused. None if the hello doesn't
    say how much was played."""
    position = hello.get("played")
    if not position:
        return None
    plays_on = bool(position["ms"]) and not position.get("held")
    since_ms = max(0, now_ms() - hello.get(RECEIVED_MS, now_ms())) if plays_on else 0
    return Played(position["voice"], position["ms"] + since_ms)


def read_info(part: Any) -> CallInfo:
    """Read the facts about a conversation from its stored context. Data from earlier versions of Duologue has no such
    facts; then all fields are empty. Raises NotRestorable."""
    found = part.get("info") if isinstance(part, dict) else None
    if found is None:
        return CallInfo()
    try:
        return CallInfo(**found)
    except TypeError:
        raise NotRestorable("the stored facts about the conversation can't be read") from None


async def _journal(store: Store, conversation: str) -> Sequence[str]:
    """The lines of the stored journal. Empty if the journal is damaged; the conversation is then resumed without its
    past steps."""
    try:
        return await store.journal(conversation)
    except Damaged:
        return ()


def read_events(lines: Any, count: int) -> tuple[Event, ...]:
    """The first `count` events of the journal, for the debug view. Empty if one of these events is missing or can't be
    read. Each line contains the number of its event, so that duplicates and events with a number above `count` can be
    skipped."""
    events: dict[int, Event] = {}
    try:
        for line in lines:
            data = json.loads(line)
            if data["n"] <= count:
                events[data["n"]] = event_from_json(data["event"])
    except (DuologueError, KeyError, RecursionError, TypeError, ValueError):
        return ()
    return tuple(events[number] for number in sorted(events)) if len(events) == count else ()
