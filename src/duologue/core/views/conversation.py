"""A view with ten states, named as in a code editor that has a voice agent.

In these names, "listening" means that the floor is open to the person. A lost line shows as suspended, because the
editor counts network resynchronisation as a suspension.
"""

from __future__ import annotations

from ..leaves import AWAY, ENDING, FROZEN, PENDING, SOUNDING, Link, Reply
from ..state import State, has_foreground
from .view import Amendment, Impossible, View

_BY_LINK = {
    Link.IDLE: "idle",
    Link.PREPARING: "preparing",
    Link.FAULTED: "faulted",
    Link.TERMINATING: "terminating",
    **dict.fromkeys((*FROZEN, *AWAY), "suspended"),
}


def see(s: State) -> str:
    if s.link is not Link.UP:
        return _BY_LINK[s.link]
    if s.voice in SOUNDING:
        return "speaking"
    if s.voice in ENDING:
        return "interrupted"
    if has_foreground(s):
        return "waitingForCopilot"
    if s.reply is Reply.COMMITTING:
        return "processing"
    return "waitingForCopilot" if s.reply in PENDING else "listening"


_ACTIVE = ("preparing", "listening", "processing", "waitingForCopilot", "speaking", "interrupted")
_ANY = ("idle", *_ACTIVE)

CONVERSATION = View(
    name="conversation",
    states=(*_ANY, "suspended", "faulted", "terminating"),
    see=see,
    table={
        "idle": ("preparing", "suspended", "faulted"),
        "preparing": ("listening", "suspended", "faulted"),
        "listening": ("processing", "suspended", "faulted"),
        "processing": ("waitingForCopilot", "listening", "suspended", "faulted"),
        "waitingForCopilot": ("speaking", "listening", "suspended", "faulted"),
        "speaking": ("listening", "interrupted", "suspended", "faulted"),
        "interrupted": ("listening", "suspended", "faulted"),
        "suspended": (*_ACTIVE, "faulted"),
        "faulted": ("terminating", "preparing", "suspended"),
        "terminating": ("idle", "suspended", "faulted"),
    },
    amendments=(
        *(Amendment(state, "terminating", "the API can end a conversation in any state") for state in _ACTIVE),
        Amendment("suspended", "terminating", "the API can end a conversation in any state"),
        Amendment("listening", "waitingForCopilot", "a request that was sent early counts when the turn ends"),
        Amendment("listening", "speaking", "an answer that was asked early is ready when the turn ends"),
        Amendment("processing", "speaking", "an answer may come before its request is acknowledged"),
        Amendment("speaking", "waitingForCopilot", "the agent stops speaking while its work continues"),
        Amendment("interrupted", "waitingForCopilot", "work may continue after a barge-in"),
        Amendment("waitingForCopilot", "processing", "an output or a retry sends the next request"),
    ),
    impossible=(
        Impossible("idle", "faulted", "before a start, nothing runs that could fail"),
        Impossible("idle", "suspended", "before a start, there is nothing to pause"),
        Impossible("terminating", "faulted", "a failure while closing is bounded by the close deadline"),
        Impossible("terminating", "suspended", "closing is bounded and is not paused"),
        Impossible("suspended", "preparing", "a line that is lost while preparing comes back ready"),
    ),
)
