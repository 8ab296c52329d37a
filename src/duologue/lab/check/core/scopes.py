"""Scopes: the part of the machine that one exploration covers.

There are too many combinations of faults, pauses, jobs and check-ins to visit in one exploration, and most of them are
independent. Each scope omits some events or lowers some limits. Every row and rule fires in at least one scope. Rule: a
scope never changes what an event does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from duologue.core import events as ev
from duologue.core.settings import Settings, with_changes


class CheckScope(NamedTuple):
    """The part of the machine that one exploration covers. `narrow` lowers limits in the settings, and the events in
    `without` are omitted."""

    name: str
    narrow: Callable[[Settings], Settings]
    without: frozenset[type[ev.Event]]
    fillers: bool = True  # tries transcripts that contain only filler words
    late_turns: bool = True  # tries late text for a turn before the last one
    cancellable: bool = True  # tries calls that a barge-in may drop
    states_max: int = 10_000_000  # the exploration stops after this many states: the nearest ones to the start


_PAUSES = frozenset((ev.SuspendRequested, ev.LinkWobbled))
_WORK = frozenset((ev.ToolCalled,))
_LOSSES = frozenset((ev.LinkClosed, ev.ReconnectRequested, ev.SessionFailed, ev.SessionEnded))
_FAULTS = _LOSSES | {ev.ServiceFailed, ev.PlaybackFailed, ev.ReplyFailed}


def _no_session_limit(settings: Settings) -> Settings:
    return replace(settings, session_ms_max=0, session_warning_ms=0)


def _small(settings: Settings) -> Settings:
    return replace(
        settings,
        retry_ms=settings.retry_ms[:1],
        backoff_ms=settings.backoff_ms[:2],
        check_ins_max=1,
        faults_max=2,
        faults_in_a_row_max=2,
        line_losses_max=1,
        cue_ms=settings.cue_ms[:1],
    )


def _small_talk(settings: Settings) -> Settings:
    return replace(_no_session_limit(_small(settings)), backoff_ms=settings.backoff_ms[:1], jobs_max=0)


def _small_link(settings: Settings) -> Settings:
    return with_changes(_small(settings), dead_air_ms=0, jobs_max=0, suspend_ms_max=30_000)


def _small_work(settings: Settings) -> Settings:
    return with_changes(_small_talk(settings), dead_air_ms=0, faults_max=1, faults_in_a_row_max=1, jobs_max=1)


def _small_over(settings: Settings) -> Settings:
    return replace(_small_work(settings), jobs_max=0)


def _small_audible(settings: Settings) -> Settings:
    """In every profile, the agent says goodbye after a long silence."""
    return replace(_small_talk(settings), cue_ms=settings.cue_ms[:2], hangs_up=True)


def _small_early(settings: Settings) -> Settings:
    return replace(_small_over(settings), early_requests_max=2)


def _quick_early(settings: Settings) -> Settings:
    return replace(_small_over(settings), early_requests_max=1)


def _small_pair(settings: Settings) -> Settings:
    return replace(_small_work(settings), jobs_max=2)


# What becomes of words over the agent is independent of faults, pauses and work, so only the scope `over` tries these.
_OVER = frozenset((ev.ReplyBecameFirm, ev.AnswerOverheard))
# Only the scope `audible` tries a question that was lost with the line.
_MISSED = frozenset((ev.QuestionMissed,))
# Only the scope `program` tries what a program does to a conversation.
_PROGRAM = frozenset((ev.SpeechRequested, ev.TurnTaken, ev.AgentChangeRequested))
# Only the scope `ending` tries that a conversation ends after its last words, and only `audible` counts cues.
_ENDING = frozenset((ev.EndAfterSpeaking,))
# Only the scope `early` asks the brain before the end of the turn is certain.
_EARLY = frozenset((ev.TurnGuessed,))
_BUTTONS = frozenset((ev.PttPressed, ev.PttReleased, ev.SendPressed))
_BACKGROUND_WORK = frozenset((ev.CallDispatched, ev.JobAsked))
_SPEECH = frozenset((ev.SpeechStarted, ev.PttPressed, ev.WordsHeard, ev.TurnEnded))

SMALL: tuple[CheckScope, ...] = (
    CheckScope(
        "work",
        _small_work,
        _OVER | _MISSED | _PROGRAM | _ENDING | _EARLY | _PAUSES | {ev.ServiceFailed},
        fillers=False,
        late_turns=False,
    ),
    CheckScope(
        "talk", _small_talk, _OVER | _MISSED | _PROGRAM | _ENDING | _EARLY | _PAUSES | _WORK | {ev.ServiceFailed}
    ),
    CheckScope(
        "link", _small_link, _OVER | _MISSED | _PROGRAM | _ENDING | _EARLY | _WORK, fillers=False, late_turns=False
    ),
    CheckScope(
        "pair",
        _small_pair,
        _OVER | _MISSED | _PROGRAM | _ENDING | _EARLY | _PAUSES | _SPEECH | _FAULTS - {ev.LinkClosed, ev.ReplyFailed},
        fillers=False,
        late_turns=False,
    ),
    CheckScope("over", _small_over, _MISSED | _PROGRAM | _ENDING | _EARLY | _PAUSES | _WORK | _FAULTS),
    CheckScope(
        "audible",
        _small_audible,
        _OVER | _PROGRAM | _ENDING | _EARLY | _PAUSES | _BUTTONS | _WORK | {ev.ServiceFailed},
        late_turns=False,
    ),
    CheckScope(
        "ending",
        _small_work,
        _OVER | _MISSED | _PROGRAM | _EARLY | _PAUSES | _BUTTONS | _BACKGROUND_WORK | _FAULTS,
        fillers=False,
        late_turns=False,
        cancellable=False,
    ),
    CheckScope(
        "early",
        _small_early,
        _MISSED | _PROGRAM - {ev.AgentChangeRequested} | _ENDING | _WORK | (_FAULTS - {ev.LinkClosed, ev.ReplyFailed}),
        fillers=False,
    ),
    CheckScope(
        "program",
        _small_work,
        _OVER
        | _MISSED
        | _EARLY
        | _ENDING
        | _PAUSES
        | _BUTTONS
        | _BACKGROUND_WORK
        | _FAULTS
        | {ev.SoundDismissed, ev.RetryRequested},
        fillers=False,
        late_turns=False,
        cancellable=False,
    ),
)

# For a quick check: fewer variants of words, without the costliest combinations, and only the states nearest to the
# start. In the profile `confirm` they fire the same rows and test the same promises as all states of these scopes.
# `link` and `ending` are whole, so that laws about a whole graph are checked too.
QUICK_STATES_MAX = 1_500
_QUICK_SCOPES: tuple[CheckScope, ...] = (
    SMALL[0]._replace(cancellable=False, without=SMALL[0].without | _BUTTONS | _BACKGROUND_WORK | _FAULTS),
    SMALL[1]._replace(fillers=False, late_turns=False),
    SMALL[2]._replace(without=SMALL[2].without | _SPEECH),
    SMALL[3],
    SMALL[4],
    SMALL[5]._replace(fillers=False, without=SMALL[5].without | _LOSSES),
    SMALL[6]._replace(without=SMALL[6].without | _WORK),
    SMALL[7]._replace(
        narrow=_quick_early,
        late_turns=False,
        without=SMALL[7].without | _BUTTONS | {ev.LinkClosed, ev.LinkWobbled},
    ),
    SMALL[8]._replace(without=SMALL[8].without | _WORK),
)
_QUICK_AND_WHOLE = ("link", "ending")
QUICK = tuple(
    one if one.name in _QUICK_AND_WHOLE else one._replace(states_max=QUICK_STATES_MAX) for one in _QUICK_SCOPES
)

# The full scopes use the limits of the profiles, and at most two jobs at a time.


def _full_talk(settings: Settings) -> Settings:
    return replace(_no_session_limit(settings), jobs_max=0)


def _full_link(settings: Settings) -> Settings:
    return with_changes(settings, dead_air_ms=0, jobs_max=0)


def _full_work(settings: Settings) -> Settings:
    once = {"faults_max": 1, "faults_in_a_row_max": 1}
    return with_changes(_no_session_limit(settings), **once, dead_air_ms=0, jobs_max=2)


def _full_pause(settings: Settings) -> Settings:
    return replace(_full_work(settings), retry_ms=settings.retry_ms[:1], jobs_max=1)


def _full_over(settings: Settings) -> Settings:
    return replace(_full_work(settings), retry_ms=settings.retry_ms[:1], jobs_max=0)


FULL: tuple[CheckScope, ...] = (
    CheckScope("talk", _full_talk, _OVER | _PROGRAM | _ENDING | _EARLY | _PAUSES | _WORK | {ev.ServiceFailed}),
    CheckScope(
        "work",
        _full_work,
        _OVER | _MISSED | _PROGRAM | _ENDING | _EARLY | _PAUSES | _BUTTONS | {ev.ServiceFailed},
        fillers=False,
        late_turns=False,
    ),
    CheckScope(
        "pause",
        _full_pause,
        _OVER | _MISSED | _PROGRAM | _ENDING | _EARLY | _FAULTS | _BUTTONS | {ev.LinkWobbled},
        fillers=False,
        late_turns=False,
    ),
    CheckScope("link", _full_link, _OVER | _PROGRAM | _ENDING | _EARLY | _WORK, fillers=False, late_turns=False),
    CheckScope("over", _full_over, _MISSED | _PROGRAM | _ENDING | _EARLY | _PAUSES | _WORK | _FAULTS),
    SMALL[6],  # how a conversation ends after its last words doesn't depend on the limits
    SMALL[7],
    SMALL[8],  # nor does what a program does
)

SCOPES: dict[str, tuple[CheckScope, ...]] = {"quick": QUICK, "small": SMALL, "full": FULL}
