"""Decided calls for the tests of the comparison: each pause is written as what happens in it.

Rule: a pause begins at 1,000 ms.
"""

from __future__ import annotations

from duologue.lab.tune.pauses import DecidedCall, DecidedOverlap, DecidedPause

SILENT_AT = 1_000


def end(wait_ms: int | None, answered_ms: int | None = None) -> DecidedPause:
    """The end of a turn, found after this wait."""
    answered_at = None if answered_ms is None else SILENT_AT + answered_ms
    return DecidedPause(1, SILENT_AT, None, answered_at, True, None if wait_ms is None else SILENT_AT + wait_ms)


def middle(cut_in_ms: int | None = None, resumed_ms: int = 900) -> DecidedPause:
    """A pause in which the user went on."""
    ended_at = None if cut_in_ms is None else SILENT_AT + cut_in_ms
    return DecidedPause(1, SILENT_AT, SILENT_AT + resumed_ms, None, False, ended_at)


def call(*pauses: DecidedPause, overlaps: tuple[DecidedOverlap, ...] = ()) -> DecidedCall:
    return DecidedCall(pauses, overlaps)
