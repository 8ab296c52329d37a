"""The lifecycle of a voice session in eight states (L-01).

"listening" means here that the person is speaking. Preparing and terminating show as idle, a pause
shows what is underneath it, and sound beats work beats thought beats speech.
"""

from __future__ import annotations

from ..leaves import AWAY, ENDING, LIVE, PENDING, SOUNDING, Job, Link, User
from ..state import State
from .view import Amendment, Impossible, View


def see(s: State) -> str:
    if s.link not in LIVE:
        return "error" if s.link is Link.FAULTED else "reconnecting" if s.link in AWAY else "idle"
    if s.voice in SOUNDING:
        return "speaking"
    kinds = [job.kind for job in s.jobs]
    if Job.DELEGATED in kinds:
        return "waiting_amplifier"
    if Job.TOOL in kinds:
        return "tool_executing"
    if s.reply in PENDING:
        return "processing"
    if s.user is User.TALKING:
        return "listening"
    if s.user is not User.QUIET:
        return "processing"
    return "listening" if s.voice in ENDING else "idle"


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
    amendments=(),
    impossible=(),
)
