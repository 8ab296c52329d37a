"""Which parts of a message a watcher may see.

A watcher is an operator who follows a conversation. Watchers are offered no commands, and get no words of a private
agent's conversation. Rule: of a private conversation, watchers get only messages that are in the table.
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
