"""The lifecycle of a voice session in eight states (L-01).

"listening" means here that the person is speaking. Preparing and terminating show as idle, a pause
shows what is underneath it, and sound beats work beats thought beats speech.
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
        Amendment("listening", "idle", "a noise is not a turn; ending a call is allowed from anywhere"),
        Amendment("tool_executing", "idle", "a cancelled call causes no request; ending is allowed from anywhere"),
        Amendment("idle", "processing", "owed work and check-ins are asked from an open floor"),
        Amendment("waiting_amplifier", "tool_executing", "a second call runs beside the delegated job"),
        Amendment("tool_executing", "speaking", "a reply may go on speaking while its call runs"),
        Amendment("waiting_amplifier", "speaking", "a reply may go on speaking while its job runs"),
        Amendment("tool_executing", "listening", "the call ends while the person is speaking"),
        Amendment("waiting_amplifier", "listening", "the job ends while the person is speaking"),
        Amendment("speaking", "waiting_amplifier", "the sound ends, the job that it announced runs on"),
        Amendment("speaking", "processing", "the sound ends while the person's last words are transcribed"),
        Amendment("reconnecting", "listening", "the person may be speaking when the line is back"),
        Amendment("reconnecting", "processing", "the person's last words may still be transcribed then"),
        Amendment("reconnecting", "tool_executing", "a lost line cancels nothing: the call still runs"),
        Amendment("reconnecting", "waiting_amplifier", "a lost line cancels nothing: the job still runs"),
    ),
    impossible=(),
)
