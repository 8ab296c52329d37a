"""A view of the agent on a telephone line: idle, speaking, interrupted."""

from __future__ import annotations

from ..leaves import ENDING, LIVE, SOUNDING
from ..state import State
from .view import Amendment, Impossible, View


def see(s: State) -> str:
    if s.link in LIVE:
        if s.voice in SOUNDING:
            return "agent_speaking"
        if s.voice in ENDING:
            return "interrupted"
    return "agent_idle"


PHONE = View(
    name="phone",
    states=("agent_idle", "agent_speaking", "interrupted"),
    see=see,
    table={
        "agent_idle": ("agent_speaking",),
        "agent_speaking": ("agent_idle", "interrupted"),
        "interrupted": ("agent_speaking",),
    },
    amendments=(Amendment("interrupted", "agent_idle", "once its voice is silent, the agent is idle"),),
    impossible=(
        Impossible("interrupted", "agent_speaking", "silence is confirmed first, so a new answer starts from idle"),
    ),
)
