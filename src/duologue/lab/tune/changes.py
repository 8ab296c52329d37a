"""Finds the pauses of recorded calls in which two turn-taking policies decide differently about the end of the turn.

Rule: two decisions are the same if they end the turn less than 100 ms apart. If it isn't known when one of the policies
would have ended the turn, the difference counts neither as better nor as worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .pauses import DecidedCall, DecidedPause

DIFFERENCE_MS_MIN = 100


class ChangedPause(NamedTuple):
    """A pause in which two policies decide differently about the end of the turn."""

    call: str
    recorded: DecidedPause
    other: DecidedPause

    @property
    def what(self) -> str:
        """What the other policy changes in this pause, in a few words."""
        recorded, other = self.recorded, self.other
        if other.is_cut_in or recorded.is_cut_in:
            return "would cut in" if other.is_cut_in else "would not cut in any more"
        if recorded.wait_ms is None or other.wait_ms is None:
            return "not known: the user spoke, acted or hung up before the other setting would have ended the turn"
        difference = other.wait_ms - recorded.wait_ms
        return f"would answer {abs(difference)} ms {'later' if difference > 0 else 'earlier'}"

    def to_json(self) -> dict[str, Any]:
        """This change as plain values. Times are in milliseconds from the start of the call."""
        return {
            "call": self.call,
            "turn": self.recorded.turn,
            "what": self.what,
            "silent_at": self.recorded.silent_at,
            "resumed_at": self.recorded.resumed_at,
            "answered_at": self.recorded.answered_at,
            "recorded": decision_to_json(self.recorded),
            "other": decision_to_json(self.other),
        }


def decision_to_json(pause: DecidedPause) -> dict[str, Any]:
    return {
        "ended_at": pause.ended_at,
        "wait_ms": pause.wait_ms,
        "cut_in": pause.is_cut_in,
        "unknown": pause.is_unknown,
        "assumed": pause.is_assumed,
    }


def changes(names: Sequence[str], recorded: Sequence[DecidedCall], other: Sequence[DecidedCall]) -> list[ChangedPause]:
    """The pauses in which the two policies decide differently, in the order of the calls."""
    found = []
    for name, before, after in zip(names, recorded, other, strict=True):
        for one, two in zip(before.pauses, after.pauses, strict=True):
            if is_changed(one, two):
                found.append(ChangedPause(name, one, two))
    return found


def is_changed(one: DecidedPause, two: DecidedPause) -> bool:
    """Are these two decisions about a pause different? Yes, if only one of them cuts in, if only one of them leaves the
    end of the turn unknown, or if they end the turn at different times."""
    if one.is_cut_in is not two.is_cut_in or one.is_unknown is not two.is_unknown:
        return True
    return abs((one.wait_ms or 0) - (two.wait_ms or 0)) >= DIFFERENCE_MS_MIN
