"""Which slice of the machine one exploration covers.

The whole product of faults, pauses, jobs and check-ins is too large to visit at once, and most of it
is independent. Each scope leaves some events or counters out; together they fire every row and rule.
Rule: a scope only leaves out, it never changes what an event does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from duologue.core import events as ev
from duologue.core.settings import Settings


class Scope(NamedTuple):
    """A name, how it narrows the settings, and which events it leaves out."""

    name: str
    narrow: Callable[[Settings], Settings]
    without: frozenset[type[ev.Event]]
    fillers: bool = True  # words that are none
    late_turns: bool = True  # text for a turn before the last one


_PAUSES = frozenset((ev.SuspendRequested, ev.LinkWobbled))
_WORK = frozenset((ev.ToolCalled,))
_FAULTS = frozenset((ev.ServiceFailed, ev.PlaybackFailed, ev.ReplyFailed, ev.LinkClosed, ev.ReconnectRequested))


def _small(settings: Settings) -> Settings:
    return replace(
        settings,
        retry_ms=settings.retry_ms[:1],
        backoff_ms=settings.backoff_ms[:1],
        check_ins_max=1,
        faults_max=2,
        faults_in_a_row_max=2,
        session_ms_max=0,
        session_warning_ms=0,
        jobs_max=0,
    )


def _small_link(settings: Settings) -> Settings:
    return replace(
        _small(settings),
        backoff_ms=settings.backoff_ms[:2],
        dead_air_ms=0,
        session_ms_max=settings.session_ms_max,
        session_warning_ms=settings.session_warning_ms,
    )


def _small_work(settings: Settings) -> Settings:
    return replace(_small(settings), dead_air_ms=0, faults_max=1, faults_in_a_row_max=1, jobs_max=1)


SMALL: tuple[Scope, ...] = (
    Scope("talk", _small, _PAUSES | _WORK | {ev.ServiceFailed}),
    Scope("link", _small_link, _WORK, fillers=False, late_turns=False),
    Scope("work", _small_work, _PAUSES | {ev.ServiceFailed}, fillers=False, late_turns=False),
)
