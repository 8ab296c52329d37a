"""Which parts of a message a watcher may see.

A watcher is an operator who follows a conversation. Watchers are offered no commands. If the agent is private, watchers
get no words that were said. Rule: in a private conversation, watchers get only the types of messages that the table
lists, with their words removed.
"""

from __future__ import annotations

from .server_messages import ServerMessage

# Messages of a private conversation that a watcher gets, and their fields that may contain words.
_FIELDS_WITH_WORDS: dict[str, tuple[str, ...]] = {
    "duologue.conversation": (),
    "duologue.state": (),
    "duologue.status": (),
    "duologue.hearing": (),
    "duologue.turn": (),
    "duologue.decision": (),
    "duologue.work": ("text", "question"),
    "duologue.wait": ("detail",),
    "duologue.cue": ("text",),
    "duologue.metrics": (),
    "duologue.debug": (),
    "duologue.moment": (),
    "duologue.ended": ("reason",),
}


def as_watched(outgoing: ServerMessage, is_private: bool) -> ServerMessage | None:
    """The message as a watcher may see it; None if watchers must not get it."""
    kind, payload = outgoing["type"], outgoing["payload"]
    if kind == "duologue.notification":
        return None if is_private else {"type": kind, "payload": {**payload, "actions": []}}
    if not is_private:
        return outgoing
    words = _FIELDS_WITH_WORDS.get(kind)
    if words is None:
        return None
    return {"type": kind, "payload": {**payload, **{name: "" for name in words if name in payload}}}
