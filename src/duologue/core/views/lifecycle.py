"""A view with eight states: the lifecycle of a voice session.

Here, "listening" means that the person is speaking. While the session is being opened or closed, the view shows idle.
During a pause, the view shows the state before the pause. If several states apply at once, the view shows the first in
this order: the agent's sound, running work, a pending reply, the person's speech.
"""

from __future__ import annotations

from ..leaves import AWAY, ENDING, LIVE, PENDING, SOUNDING, JobKind, Link, User
from ..state import State
from .view import Amendment, View


def see(s: State) -> str:
    if s.link not in LIVE:
        return "error" if s.link is Link.FAULTED else "reconnecting" if s.link in AWAY else "idle"
    if s.voice in SOUNDING:
        return "speaking"
    kinds = [job.kind for job in s.jobs]
    if JobKind.DELEGATED in kinds:
        return "waiting_amplifier"
    if JobKind.TOOL in kinds:
        return "tool_executing"
    if s.reply in PENDING:
        return "processing"
    if s.user is User.TALKING or s.voice in ENDING:
        return "listening"
    return "idle" if s.user is User.QUIET else "processing"


LIFECYCLE = View(
    name="lifecycle",
    states=(
        "idle",
        "listening",
        "processing",
        "speaking",
        "tool_executing",
        "waiting_amplifier",
        "error",
        "reconnecting",
    ),
    see=see,
    table={
        "idle": ("listening", "error", "reconnecting"),
        "listening": ("processing", "error", "reconnecting"),
        "processing": ("idle", "listening", "speaking", "tool_executing", "error", "reconnecting"),
        "speaking": ("idle", "listening", "tool_executing", "error", "reconnecting"),
        "tool_executing": ("processing", "waiting_amplifier", "error", "reconnecting"),
        "waiting_amplifier": ("idle", "processing", "error", "reconnecting"),
        "error": ("idle", "reconnecting"),
        "reconnecting": ("idle", "error"),
    },
    amendments=(
        Amendment("listening", "idle", "a noise isn't a turn, and a conversation can end in any state"),
        Amendment("listening", "speaking", "an answer that was asked early is ready when the turn ends"),
        Amendment("idle", "speaking", "a turn that ended in a pause is answered early, too"),
        Amendment("tool_executing", "idle", "a cancelled call causes no request; a conversation may end"),
        Amendment("idle", "processing", "the brain is asked for an answer or a check-in"),
        Amendment("waiting_amplifier", "tool_executing", "a second call still runs when the delegated job ends"),
        Amendment("tool_executing", "speaking", "a reply may speak while its call runs"),
        Amendment("waiting_amplifier", "speaking", "a reply may speak while its job runs"),
        Amendment("tool_executing", "listening", "the call ends while the person is speaking"),
        Amendment("waiting_amplifier", "listening", "the job ends while the person is speaking"),
        Amendment("speaking", "waiting_amplifier", "the agent stops speaking while the job continues"),
        Amendment("speaking", "processing", "the agent stops speaking while the person's words are transcribed"),
        Amendment("reconnecting", "listening", "the person may be speaking when the line is back"),
        Amendment("reconnecting", "processing", "the person's last words may still be in transcription"),
        Amendment("reconnecting", "tool_executing", "a lost line doesn't cancel the call"),
        Amendment("reconnecting", "waiting_amplifier", "a lost line doesn't cancel the job"),
    ),
    impossible=(),
)
