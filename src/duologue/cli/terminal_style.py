"""How the states of views, the leaf states of regions, and times look in a terminal: colours, marks and numbers.

Colours are mid-tones that can be read on black and on white. Marks differ in shape, so that the output is readable
without colour. Rule: how something looks is defined only in the tables here.
"""

from __future__ import annotations

from typing import NamedTuple

GREY, GREEN, AMBER, BLUE = "#7d8694", "#0d9466", "#b97708", "#3b82f6"
PURPLE, PINK, RED, CYAN = "#9d5cf0", "#d14bb5", "#e5484d", "#0891ab"

# The background of white letters: darker than the colour of a bar.
CHIPS = {
    GREY: "#626b79",
    GREEN: "#04764f",
    AMBER: "#94600a",
    BLUE: "#2563d9",
    PURPLE: "#7a35cf",
    PINK: "#a8288c",
    RED: "#c02a30",
    CYAN: "#0b7285",
}

_STATES = {
    GREY: ("idle", "agent_idle", "terminating", "ending"),
    GREEN: ("listening",),
    AMBER: ("processing", "thinking", "preparing", "starting", "interrupted"),
    BLUE: ("speaking", "agent_speaking"),
    PURPLE: ("tool_executing", "working"),
    PINK: ("waiting_amplifier", "waitingForCopilot", "user_speaking"),
    RED: ("error", "faulted"),
    CYAN: ("reconnecting", "suspended", "paused"),
}
_COLOURS = {state: colour for colour, states in _STATES.items() for state in states}


class Look(NamedTuple):
    """How a leaf state (a state of one region of the conversation machine) is drawn. If several leaf states fall into
    the same column of the output, the one with the highest rank is shown."""

    mark: str
    colour: str
    rank: int = 1


_REST = Look("─", GREY, 0)

LOOKS: dict[str, dict[str, Look]] = {
    "link": {
        "idle": Look("·", GREY, 0),
        "up": Look("━", GREEN, 0),
        "preparing": Look("░", AMBER),
        "suspended": Look("▒", CYAN),
        "renewing": Look("▓", CYAN),
        "healing": Look("≈", CYAN),
        "backing_off": Look("╌", RED),
        "reconnecting": Look("▚", CYAN),
        "faulted": Look("█", RED, 2),
        "terminating": Look("▁", GREY),
    },
    "user": {
        "quiet": _REST,
        "talking": Look("█", GREEN),
        "settling": Look("▒", GREEN),
        "transcribing": Look("░", GREEN),
    },
    "voice": {
        "silent": _REST,
        "playing": Look("█", BLUE),
        "held": Look("▒", AMBER, 2),
        "stopping": Look("▚", RED, 3),
        "hushed": Look("░", RED, 2),
    },
    "reply": {
        "none": _REST,
        "committing": Look("░", AMBER),
        "waiting": Look("▒", AMBER),
        "generating": Look("▓", AMBER),
        "ready": Look("█", AMBER, 2),
        "retrying": Look("▚", RED, 2),
        "guessing": Look("·", GREY),
        "drafting": Look("≈", GREY),
        "drafted": Look("╌", GREY),
    },
    "jobs": {
        "none": _REST,
        "tool": Look("█", PURPLE, 2),
        "delegated": Look("▓", PINK, 2),
        "dispatched": Look("░", PURPLE),
    },
}

# Marks for terminals without Unicode. The marks of one bar still differ from each other.
PLAIN_MARKS = str.maketrans("─━·░▒▓█▚≈╌▁→…✓╵", "-=.:o@#%~!_>.*|")


def look_of(region: str, leaf: str) -> Look:
    """The look of a leaf state. If `leaf` names several parallel jobs, this is the look of the first job."""
    return LOOKS[region].get(leaf.partition("+")[0], _REST)


def colour_of(state: str) -> str:
    """The colour of a state of a view, by the state's name. Unknown states are grey."""
    return _COLOURS.get(state, GREY)


def chip_style(state: str) -> str:
    return f"#ffffff on {CHIPS[colour_of(state)]}"


def write_ms(ms: int) -> str:
    """A readable duration: 80 ms, 1.4 s, 2 min 5 s."""
    if ms < 1_000:
        return f"{ms} ms"
    if ms < 60_000:
        return f"{ms // 100 / 10:.1f} s"
    minutes, seconds = divmod(ms // 1_000, 60)
    return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
