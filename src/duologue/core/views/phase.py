"""The phases of a conversation: the plain vocabulary that the API, the test kit, the panel and the metrics use.

Unlike the other views, the phases don't come from a specification, so there is no table of moves to check them against.
Rule: every state of the machine has exactly one phase.
"""

from __future__ import annotations

from ..leaves import AWAY, ENDING, PENDING, SOUNDING, Link, User
from ..state import State, has_foreground
from .view import View

PHASES: dict[str, str] = {
    "idle": "no conversation is running",
    "starting": "the session is being opened",
    "listening": "the floor is open: neither side speaks and no answer is pending",
    "user_speaking": "the user is talking, or has just paused",
    "thinking": "the turn is over, and nothing of the answer has been heard yet",
    "working": "the answer waits for a tool or a delegated job",
    "speaking": "the agent's voice is playing, or is held while an overlap is judged",
    "interrupted": "the user took the floor and the voice is being stopped",
    "paused": "the user or the program paused the conversation",
    "reconnecting": "the line or the session was lost, or is being renewed",
    "error": "a fault is shown",
    "ending": "the session is being closed",
}

_BY_LINK = {
    Link.IDLE: "idle",
    Link.PREPARING: "starting",
    Link.SUSPENDED: "paused",
    Link.FAULTED: "error",
    Link.TERMINATING: "ending",
    **dict.fromkeys((Link.HEALING, Link.RENEWING, *AWAY), "reconnecting"),
}


def phase_of(s: State) -> str:
    """The phase of a state. If several phases apply at once, the first in this order is returned: the agent's sound, a
    tool call or job, the user's speech, thinking."""
    if s.link is not Link.UP:
        return _BY_LINK[s.link]
    if s.voice in SOUNDING:
        return "speaking"
    if s.voice in ENDING:
        return "interrupted"
    if has_foreground(s):
        return "working"
    if s.user in (User.TALKING, User.SETTLING):
        return "user_speaking"
    return "thinking" if s.reply in PENDING or s.user is not User.QUIET else "listening"


PHASE = View(name="phase", states=tuple(PHASES), see=phase_of, table={}, amendments=(), impossible=())
