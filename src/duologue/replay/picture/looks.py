"""The colours of leaves (the innermost states of a region), states and events. The hue shows the region, and the tone
shows how prominent something is.

Each region has its own hue, as in the diagrams. A state of a view has the hue of the region that it is derived from,
and errors are always red. Rule: how something looks is defined only in the tables of this module.
"""

from __future__ import annotations

from duologue.core import events as ev
from duologue.draw.typography import HUES as DRAWN

from ..timeline import REGIONS

RED, GREY = "red", "grey"
HUES: dict[str, tuple[str, str]] = {
    **{hue: (day, night) for hue, (day, _, night, _) in DRAWN.items()},
    RED: ("#b8382f", "#ff8d83"),
    GREY: ("#77818c", "#7d8794"),
}
_OF_REGION = dict(zip(REGIONS, DRAWN, strict=True))
BLUE, TEAL, VIOLET, AMBER, ROSE = _OF_REGION.values()

PAPER = ("#ffffff", "#0f141b")
INK = ("#1f2328", "#e6edf3")

# Tones: `rest` is a thin line, the others are bars; `hatch` marks waiting for something.
_TONES: dict[str, dict[str, str]] = {
    "link": {
        "idle": f"{BLUE} idle rest",
        "up": "rest",
        "preparing": "soft",
        "suspended": "grey hatch",
        "renewing": "grey soft",
        "healing": "hatch",
        "backing_off": "red soft",
        "reconnecting": "full",
        "faulted": "red full",
        "terminating": "faint",
    },
    "user": {"quiet": "rest", "talking": "full", "settling": "soft", "transcribing": "hatch"},
    "voice": {"silent": "rest", "playing": "full", "held": "hatch", "stopping": "red full", "hushed": "red soft"},
    "reply": {
        "none": "rest",
        "committing": "faint",
        "waiting": "soft",
        "generating": "full",
        "ready": "hatch",
        "retrying": "red soft",
        "guessing": "grey faint",
        "drafting": "grey soft",
        "drafted": "grey hatch",
    },
    "jobs": {"none": "rest", "tool": "full", "delegated": "soft", "dispatched": "hatch", "refused": "red full"},
}
_STATES = {
    "phase": {
        "idle": "grey idle rest",
        "starting": f"{BLUE} soft",
        "listening": f"{TEAL} faint",
        "user_speaking": f"{TEAL} full",
        "thinking": f"{AMBER} soft",
        "working": f"{ROSE} full",
        "speaking": f"{VIOLET} full",
        "interrupted": "red soft",
        "paused": f"{BLUE} hatch",
        "reconnecting": f"{BLUE} full",
        "error": "red full",
        "ending": f"{BLUE} faint",
    },
    "lifecycle": {
        "idle": "grey idle rest",
        "listening": f"{TEAL} full",
        "processing": f"{AMBER} soft",
        "speaking": f"{VIOLET} full",
        "tool_executing": f"{ROSE} full",
        "waiting_amplifier": f"{ROSE} soft",
        "error": "red full",
        "reconnecting": f"{BLUE} full",
    },
    "conversation": {
        "idle": "grey idle rest",
        "preparing": f"{BLUE} soft",
        "listening": f"{TEAL} faint",
        "processing": f"{AMBER} faint",
        "waitingForCopilot": f"{AMBER} soft",
        "speaking": f"{VIOLET} full",
        "interrupted": "red soft",
        "suspended": f"{BLUE} hatch",
        "faulted": "red full",
        "terminating": f"{BLUE} faint",
    },
    "orchestrator": {
        "idle": "grey idle rest",
        "listening": f"{TEAL} full",
        "processing": f"{AMBER} soft",
        "speaking": f"{VIOLET} full",
        "interrupted": "red soft",
    },
    "phone": {
        "agent_idle": "grey idle rest",
        "agent_speaking": f"{VIOLET} full",
        "interrupted": "red soft",
    },
}
LOOKS: dict[str, dict[str, str]] = {
    **_STATES,
    **{
        region: {leaf: tone if " " in tone else f"{_OF_REGION[region]} {tone}" for leaf, tone in tones.items()}
        for region, tones in _TONES.items()
    },
}

_FAILED = (
    ev.SessionFailed,
    ev.ServiceFailed,
    ev.ReplyFailed,
    ev.ReplyWasEmpty,
    ev.PlaybackFailed,
    ev.JobFailed,
    ev.LinkClosed,
)
_PERSON = (
    ev.SpeechStarted,
    ev.SpeechStopped,
    ev.WordsHeard,
    ev.TurnEnded,
    ev.OverlapJudged,
    ev.PttPressed,
    ev.PttReleased,
    ev.SendPressed,
    ev.TextTyped,
    ev.InterruptRequested,
)
_EVENT_HUES: tuple[tuple[tuple[type[ev.Event], ...], str], ...] = (
    (_FAILED, RED),
    ((ev.TimerFired,), GREY),
    (_PERSON, TEAL),
    ((ev.AboutVoice, ev.LastWordsHeard), VIOLET),
    ((ev.ToolCalled, ev.AboutCall), ROSE),
    ((ev.AboutReply,), AMBER),
)


def look_of(lane: str, state: str) -> str:
    """The CSS classes of a leaf or state. If several jobs run at the same time, the first job decides."""
    return LOOKS[lane].get(state.partition("+")[0], "grey faint")


def is_rest(lane: str, state: str) -> bool:
    return look_of(lane, state).endswith("rest")


def hue_of_event(event: ev.Event) -> str:
    """The hue of the region that an event belongs to. Events of the session and requests from the program have the hue
    of the region `link`."""
    return next((hue for kinds, hue in _EVENT_HUES if isinstance(event, kinds)), BLUE)


def colours(night: bool) -> list[str]:
    """One CSS rule for each hue. The rule defines the strong colour, the fill colours, and text colours that are
    readable on the fill colours."""
    paper, ink = PAPER[night], INK[night]
    lines = []
    for hue, both in HUES.items():
        strong = both[night]
        values = {
            "strong": strong,
            "body": mix(strong, paper, 0.86) if night else strong,
            "soft": mix(strong, paper, 0.36),
            "faint": mix(strong, paper, 0.18),
            "on": paper if night else "#ffffff",
            "deep": mix(strong, ink, 0.45),
        }
        lines.append(f".{hue} {{ {' '.join(f'--{name}: {value};' for name, value in values.items())} }}")
    return lines


def mix(one: str, other: str, part: float) -> str:
    """Mix two colours. `part` is the share of the first colour, from 0 to 1."""
    pairs = ((int(one[n : n + 2], 16), int(other[n : n + 2], 16)) for n in (1, 3, 5))
    return "#" + "".join(f"{round(a * part + b * (1 - part)):02x}" for a, b in pairs)
