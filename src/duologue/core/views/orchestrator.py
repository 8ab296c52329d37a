"""A view with the system states of a full-duplex orchestrator: idle, listening, processing, speaking, interrupted.

While the link is suspended, renewing or healing, the view shows the same state as if the link were up. If the link is
neither up nor in one of these three leaves, the view shows idle.
"""

from __future__ import annotations

from ..leaves import ENDING, LIVE, PENDING, SOUNDING
from ..state import State, has_foreground
from .view import Amendment, View


def see(s: State) -> str:
    if s.link not in LIVE:
        return "idle"
    if s.voice in SOUNDING:
        return "speaking"
    if s.voice in ENDING:
        return "interrupted"
    return "processing" if s.reply in PENDING or has_foreground(s) else "listening"


ORCHESTRATOR = View(
    name="orchestrator",
    states=("idle", "listening", "processing", "speaking", "interrupted"),
    see=see,
    table={
        "idle": ("listening",),
        "listening": ("processing",),
        "processing": ("speaking",),
        "speaking": ("listening", "interrupted"),
        "interrupted": ("listening",),
    },
    amendments=(
        *(
            Amendment(state, "idle", "a conversation may end, and its line may be lost, at any time")
            for state in ("listening", "processing", "speaking", "interrupted")
        ),
        Amendment("listening", "speaking", "an answer that was asked early is ready when the turn ends"),
        Amendment("processing", "listening", "the person continues, or the answer was only text or failed"),
        Amendment("idle", "processing", "work may still be running when the line is back"),
        Amendment("speaking", "processing", "the agent stops speaking while its work continues"),
        Amendment("interrupted", "processing", "work may continue after a barge-in"),
    ),
    impossible=(),
)
