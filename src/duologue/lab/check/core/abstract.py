"""The abstraction that makes the state space finite.

Of ids, only the order is kept; of deadlines, only whether they are armed; of the sound of a reply, only whether any
part of it was heard. `abstract` maps a state to the simplest state that behaves the same. The result is an ordinary
state, so the real `step` runs on it. Rule: everything that a condition in the machine's table reads is kept.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from duologue.core.leaves import (
    FOREGROUND,
    LIVE,
    SOUNDING,
    TIMER_INDEX,
    Cue,
    ErrorClass,
    FaultSource,
    JobKind,
    Timer,
    User,
)
from duologue.core.state import Fault, JobRecord, State

DUE = 1  # the due time of every armed deadline
ID = 1  # the id of everything current; 0 is a stale id

# Timers that only show or warn. Each counts as armed while its leaf lasts, because nothing else depends on
# whether it has already fired. A cue is armed exactly while the person waits in silence, which is a law of its own.
SOFT = frozenset((Timer.SESSION_WARNING, Timer.LONG_SPEECH, Timer.COMMIT, Timer.HEARTBEAT, Timer.FEEDBACK, Timer.CUE))
_WARNING = TIMER_INDEX[Timer.SESSION_WARNING]
_LONG_SPEECH = TIMER_INDEX[Timer.LONG_SPEECH]
_COMMIT = TIMER_INDEX[Timer.COMMIT]
_FAULTS = {fatal: Fault(FaultSource.LINK, ErrorClass.UNKNOWN, fatal) for fatal in (False, True)}


def abstract(s: State, late_turns: bool = True) -> State:
    """The simplest state that behaves like `s`. `late_turns` says whether a closed turn can still get its text."""
    answered, asked, said, asked_again, floor_turn, turn = _turns(
        s.answered,
        s.asked,
        s.said,
        s.asked_again,
        s.floor_turn if s.voice in SOUNDING else None,
        s.turn,
        1 if s.user is User.QUIET or not late_turns else 2,
    )
    jobs = _jobs(s.jobs) if s.jobs else ()
    return tuple.__new__(
        State,
        (
            s.settings, 0, s.link, s.user, s.voice, s.reply, jobs,
            0, ID, ID, ID, ID, len(jobs),
            turn, said, asked, answered, floor_turn, turn if s.overheard else 0,
            s.words, s.final, s.unread, 0,
            1 if s.heard_ms else 0, s.ask, s.called, s.firm, s.news, s.telling,
            s.says, asked_again, s.losses if asked_again else 0, s.cut, s.cues,
            0, 1 if s.sign_at else 0, _told(s.told), 0, s.ending,
            ID if s.guess else 0, s.guesses, s.paused, s.retries, s.attempts, s.check_ins, s.faults,
            s.faults_in_a_row, s.fault and _FAULTS[s.fault.fatal], _dues(s),
        ),
    )  # fmt: skip


def _told(cue: Cue) -> Cue:
    return cue if cue is Cue.SOUND else Cue.APOLOGY


_PLACES = {name: place for place, name in enumerate(State._fields)}
_CONSTANT = frozenset(
    _PLACES[name]
    for name in (
        "settings",
        "at",
        "seq",
        "onset",
        "session_id",
        "reply_id",
        "voice_id",
        "call_id",
        "content",
        "quiet_at",
        "told_at",
    )
)
_TURN, _SAID, _ASKED, _ANSWERED, _FLOOR_TURN, _OVERHEARD, _ASKED_AGAIN, _LINK, _USER, _VOICE, _JOBS, _CALL_ID, _DUE = (
    _PLACES[name]
    for name in (
        "turn", "said", "asked", "answered", "floor_turn", "overheard", "asked_again", "link", "user", "voice",
        "jobs", "call_id", "due",
    )
)  # fmt: skip
_LOSSES = _PLACES["losses"]
_MOVES_TURNS = frozenset(
    (_TURN, _SAID, _ASKED, _ANSWERED, _FLOOR_TURN, _OVERHEARD, _ASKED_AGAIN, _LOSSES, _USER, _VOICE)
)
_MOVES_DUES = frozenset((_LINK, _USER, _VOICE))


class AbstractChange:
    """What a step changes, in a form that can be applied to abstract states. `apply` returns the same abstract state as
    `abstract` would return for the state after the step, but it is faster: it simplifies only the fields that the step
    changed, and the fields that depend on them."""

    __slots__ = ("dues", "fields", "moves_dues", "moves_turns")

    def __init__(self, fields: dict[int, Any], dues: dict[int, int]) -> None:
        """`fields` has the changed fields, except the due times, by their index in a state. `dues` has the changed due
        times by the index of their timer."""
        kept = {place: _simplest(place, value) for place, value in fields.items() if place not in _CONSTANT}
        if _JOBS in kept:
            kept[_CALL_ID] = len(kept[_JOBS])
        self.fields = tuple(kept.items())
        self.dues = tuple(dues.items())
        self.moves_turns = not _MOVES_TURNS.isdisjoint(kept)
        self.moves_dues = bool(dues) or not _MOVES_DUES.isdisjoint(kept)

    def apply(self, s: State, late_turns: bool = True) -> State:
        """The abstract state after the step from the abstract state `s`."""
        values: list[Any] = list(s)
        for place, value in self.fields:
            values[place] = value
        if self.moves_turns:
            sounding, is_quiet = values[_VOICE] in SOUNDING, values[_USER] is User.QUIET
            (
                values[_ANSWERED], values[_ASKED], values[_SAID], values[_ASKED_AGAIN], values[_FLOOR_TURN],
                values[_TURN],
            ) = _turns(
                values[_ANSWERED], values[_ASKED], values[_SAID], values[_ASKED_AGAIN],
                values[_FLOOR_TURN] if sounding else None, values[_TURN], 1 if is_quiet or not late_turns else 2,
            )  # fmt: skip
            values[_OVERHEARD] = values[_TURN] if values[_OVERHEARD] else 0
            values[_LOSSES] = values[_LOSSES] if values[_ASKED_AGAIN] else 0
        if self.moves_dues:
            due = s.due
            if self.dues:
                dues = list(due)
                for index, at in self.dues:
                    dues[index] = at
                due = tuple(dues)
            is_live = values[_LINK] in LIVE and s.settings.session_warning_ms > 0
            is_open = values[_USER] in (User.TALKING, User.SETTLING)
            values[_DUE] = _armed(due, is_live, values[_VOICE] in SOUNDING, is_open)
        return tuple.__new__(State, values)


def _simplest(place: int, value: Any) -> Any:
    """The simplest value that behaves like this value of a field. The value is returned unchanged if simplifying it
    needs other fields of the state."""
    match State._fields[place]:
        case "jobs":
            return _jobs(value) if value else ()
        case "heard_ms":
            return 1 if value else 0
        case "guess":
            return ID if value else 0
        case "sign_at":
            return 1 if value else 0
        case "told":
            return _told(value)
        case "fault":
            return value and _FAULTS[value.fatal]
    return value


@cache
def _turns(
    answered: int, asked: int, said: int, asked_again: int, floor_turn: int | None, turn: int, gap_max: int
) -> tuple[int, int, int, int, int, int]:
    """Replace six turn numbers by the smallest numbers that have the same order. Numbers that are equal stay equal.
    `turn` (the newest turn) becomes at most `gap_max` greater than `said` and `floor_turn`. `floor_turn` is None if no
    voice plays, and then becomes 0. Returns the new numbers in the order of the first six arguments."""
    sounding = set() if floor_turn is None else {floor_turn}
    marks = {answered, asked, said, max(answered, asked_again)} | sounding
    place = {mark: number for number, mark in enumerate(sorted(marks), start=1)}
    newest = max(said, *sounding) if sounding else said
    return (
        1,
        place[asked],
        place[said],
        place[asked_again] if asked_again > answered else 0,
        0 if floor_turn is None else place[floor_turn],
        place[newest] + min(gap_max, turn - newest),
    )


def _jobs(jobs: tuple[JobRecord, ...]) -> tuple[JobRecord, ...]:
    return _ordered(tuple((job.kind, job.cancellable) for job in jobs))


@cache
def _ordered(kinds: tuple[tuple[JobKind, bool], ...]) -> tuple[JobRecord, ...]:
    in_order = sorted(kinds, key=lambda job: (job[0].value, job[1]))
    return tuple(_job(call, kind, cancellable) for call, (kind, cancellable) in enumerate(in_order, start=1))


def _job(call: int, kind: JobKind, cancellable: bool) -> JobRecord:
    return JobRecord(
        call,
        kind,
        cancellable,
        DUE,
        heartbeat_due=0 if kind is JobKind.TOOL else DUE,
        feedback_due=DUE if kind in FOREGROUND else 0,
    )


def _dues(s: State) -> tuple[int, ...]:
    is_live = s.link in LIVE and s.settings.session_warning_ms > 0
    return _armed(s.due, is_live, s.voice in SOUNDING, s.user in (User.TALKING, User.SETTLING))


@cache
def _armed(due: tuple[int, ...], is_live: bool, is_sounding: bool, is_open: bool) -> tuple[int, ...]:
    dues = [DUE if one else 0 for one in due]
    dues[_WARNING] = DUE if is_live else 0
    dues[_LONG_SPEECH] = DUE if is_sounding else 0
    dues[_COMMIT] = DUE if is_open else 0
    return tuple(dues)
