"""What of a message may be told to somebody who only watches.

A watcher can do nothing about it, and of a private agent's conversation gets no word. Rule: of a private
conversation, what the table does not name is not told.
"""

from __future__ import annotations

from .server_messages import ServerMessage

# Of each message, the fields that may hold words.
_WORDS: dict[str, tuple[str, ...]] = {
    "duologue.conversation": (),
    "duologue.state": (),
    "duologue.hearing": (),
    "duologue.turn": (),
    "duologue.decision": (),
    "duologue.work": ("text", "question"),
    "duologue.wait": ("detail",),
    "duologue.metrics": (),
    "duologue.debug": (),
    "duologue.moment": (),
    "duologue.ended": ("reason",),
}


def as_watched(told: ServerMessage, is_private: bool) -> ServerMessage | None:
    """The message for a watcher; None if it is not for one."""
    kind, payload = told["type"], told["payload"]
    if kind == "duologue.notification":
        return None if is_private else {"type": kind, "payload": {**payload, "actions": []}}
    if not is_private:
        return told
    words = _WORDS.get(kind)
    if words is None:
        return None
    return {"type": kind, "payload": {**payload, **{name: "" for name in words if name in payload}}}
