"""Decides which notices the person is shown. The decisions are rows in a table.

A row has a code, a condition, the code of a text, and the actions that the person is offered. A condition depends on
one input and on the history. An input is a step of the conversation machine, or a fact from outside it. The history
remembers only what a later notice needs. Rule: a notice is shown only by a row, and its text is true whenever the
condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias, TypeVar

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import AWAY, CLOSED, LIVE, SOUNDING, Ask, ErrorClass, FaultSource, Link, Timer, Voice
from duologue.core.settings import POLICIES
from duologue.core.state import is_owed
from duologue.core.step_record import StepRecord

from .fault_hints import hint_code


class Outside(NamedTuple):
    """A fact from outside the conversation machine, such as "unsaved" (the conversation can't be saved)."""

    fact: str


Input: TypeAlias = StepRecord | Outside


@dataclass(frozen=True, slots=True)
class NoticeHistory:
    """The facts from earlier inputs that later notices depend on."""

    trouble: FaultSource | None = None  # the part of a shown fault; None once it works or is dismissed
    is_lost: bool = False  # the connection was lost, and isn't back
    is_broken: bool = False  # the answer that is being played has failed
    is_unsaved: bool = False  # the person was told that the conversation can't be saved
    is_no_answer: bool = False  # after a fault: what is being played answers nothing, such as a check-in


class Notice(NamedTuple):
    """A notice to show to the person. `text` is the code of its text."""

    code: str
    level: str  # info, warning or error
    text: str
    actions: tuple[str, ...] = ()
    fatal: bool = False
    part: str = ""  # the part that a fault is about
    turns: tuple[int, int] = (1, 0)  # the first and the last turn that got no answer


Condition: TypeAlias = Callable[[NoticeHistory, Input], bool]
E = TypeVar("E", bound=fx.Effect)


class NoticeRow(NamedTuple):
    """A row of the table: the notice `code` is shown when the condition `when` is true."""

    code: str
    level: str
    when: Condition
    text: str
    actions: tuple[str, ...] = ()
    fatal: bool = False


def step(h: NoticeHistory, i: Input) -> tuple[NoticeHistory, tuple[Notice, ...]]:
    """The history after this input, and the notices to show. A step that doesn't change the state shows no notice. But
    if such a step says that an answer failed while the answer is being played, the history remembers that."""
    if isinstance(i, StepRecord):
        if i.after is i.before:
            return (replace(h, is_broken=True) if fails_while_played(i) else h), ()
        if is_ordinary(h, i):
            return h, ()
    shown = tuple(_notice(row, i) for row in NOTICE_ROWS if row.when(h, i))
    return (_after_outside(h, i) if isinstance(i, Outside) else after_step(h, i)), shown


def is_ordinary(h: NoticeHistory, r: StepRecord) -> bool:
    """Is it certain that this step shows no notice and leaves the history unchanged? This is true for nearly every
    step, and then the rows needn't be checked."""
    if h.trouble is not None or h.is_lost or h.is_broken or r.after.link is not r.before.link:
        return False
    if type(r.event) in _TELLING_EVENTS:
        return False
    return not any(type(effect) in _TELLING_EFFECTS for effect in r.effects)


def about(fact: str) -> Notice | None:
    """The notice for this fact, which comes from outside the conversation machine; None if this fact leads to no
    notice. Earlier events aren't considered."""
    shown = step(NoticeHistory(), Outside(fact))[1]
    return shown[0] if shown else None


def _notice(row: NoticeRow, i: Input) -> Notice:
    notice = Notice(row.code, row.level, row.text, row.actions, row.fatal)
    if isinstance(i, Outside):
        return notice
    if row.actions == AGAIN and not is_owed(i.after):
        notice = notice._replace(actions=("dismiss",))  # the question was given up, so nothing can be tried again
    fault, lost = _effect(i, fx.ShowFault), _effect(i, fx.ReportLost)
    if row.text.startswith("fault_") and fault is not None:
        return notice._replace(part=fault.part.value)
    return notice._replace(turns=(lost.first, lost.last)) if row.code == "lost" and lost is not None else notice


# -- The history


def _after_outside(h: NoticeHistory, i: Outside) -> NoticeHistory:
    return replace(h, is_unsaved=i.fact == "unsaved") if i.fact in ("unsaved", "saved") else h


def after_step(h: NoticeHistory, r: StepRecord) -> NoticeHistory:
    if r.after.link in CLOSED or is_dismissed(r):
        return NoticeHistory(is_unsaved=h.is_unsaved)
    fault = _effect(r, fx.ShowFault)
    trouble = fault.part if fault is not None else None if has_worked(h, r) or is_back(h, r) else h.trouble
    return NoticeHistory(
        trouble,
        (h.is_lost or loses_connection(r)) and r.after.link not in LIVE,
        (h.is_broken or fails_while_played(r)) and r.after.voice is not Voice.SILENT,
        h.is_unsaved,
        trouble is not None and (h.is_no_answer or r.after.ask is not Ask.ANSWER) and r.after.voice is not Voice.SILENT,
    )


def is_dismissed(r: StepRecord) -> bool:
    """Does the person dismiss the fault in this step?"""
    return isinstance(r.event, ev.DismissRequested) and r.before.link is Link.FAULTED


def loses_connection(r: StepRecord) -> bool:
    """Is the connection lost in this step? False if the program itself asked to reconnect."""
    return r.before.link not in AWAY and r.after.link in AWAY and not isinstance(r.event, ev.ReconnectRequested)


def fails_while_played(r: StepRecord) -> bool:
    """Does the answer fail in this step, while it is being played?"""
    return isinstance(r.event, ev.ReplyFailed) and r.before.voice in SOUNDING and r.event.reply == r.before.reply_id


def is_heard(h: NoticeHistory, r: StepRecord) -> bool:
    """Was an answer heard or shown in this step? True if the answer didn't fail, and was heard or shown completely or
    until the person interrupted it."""
    if h.is_broken or h.is_no_answer or r.before.ask is not Ask.ANSWER or r.after.link not in LIVE:
        return False
    cut = _effect(r, fx.TruncateReply)
    if isinstance(r.event, ev.PlaybackFinished):
        return r.before.voice in SOUNDING and r.event.heard_ms > 0
    if isinstance(r.event, ev.ReplyFinished):
        return r.after.answered > r.before.answered
    return cut is not None and cut.heard_ms > 0


def has_worked(h: NoticeHistory, r: StepRecord) -> bool:
    """Does this step show that the part that failed works again? For the ears, this means that they heard words; for
    any other part, that an answer was heard."""
    if h.trouble is FaultSource.EARS:
        return isinstance(r.event, ev.WordsHeard) and r.event.words > 0 and r.after.link in LIVE
    return h.trouble is not None and is_heard(h, r)


def is_back(h: NoticeHistory, r: StepRecord) -> bool:
    """Has the lost connection come back in this step?"""
    return h.is_lost and r.after.link in LIVE


# -- Conditions


def _effect(r: StepRecord, kind: type[E]) -> E | None:
    return next((effect for effect in r.effects if isinstance(effect, kind)), None)


def _is_timer(r: StepRecord, timer: Timer) -> bool:
    return isinstance(r.event, ev.TimerFired) and r.event.timer is timer


def _in_step(condition: Callable[[NoticeHistory, StepRecord], bool]) -> Condition:
    return lambda h, i: not isinstance(i, Outside) and condition(h, i)


def _does(kind: type[fx.Effect]) -> Condition:
    return _in_step(lambda _, r: _effect(r, kind) is not None)


def _told(fact: str) -> Condition:
    return lambda _, i: i == Outside(fact)


def _shows_fault(error: ErrorClass, fatal: bool) -> Condition:
    """A condition that is true when a fault of this class is shown. It is false for an answer that stalls and for a
    reconnect that fails, because other rows handle them."""

    def condition(_: NoticeHistory, r: StepRecord) -> bool:
        fault = _effect(r, fx.ShowFault)
        if fault is None or fault.error is not error or fault.fatal is not fatal:
            return False
        return fatal or not (_is_stall(r) or _gives_up(r))

    return _in_step(condition)


def _is_stall(r: StepRecord) -> bool:
    """Is a fault shown because the sound of an answer has stopped arriving? The cause may be the brain or the voice."""
    return _effect(r, fx.ShowFault) is not None and _is_timer(r, Timer.STALL)


def _gives_up(r: StepRecord) -> bool:
    return r.before.link in AWAY and r.after.link is Link.FAULTED


def _fatal_text(error: ErrorClass) -> str:
    """The code of the text for a fault that ends the conversation. A fault ends the conversation because of its class,
    or because there were too many faults."""
    return hint_code(error) if POLICIES[error].ends else "fault_too_often"


def _is_recoverable(r: StepRecord) -> bool:
    fault = _effect(r, fx.ShowFault)
    return fault is not None and not fault.fatal


AGAIN, RESTART = ("retry", "dismiss"), ("restart",)
_TELLING_EVENTS = frozenset({ev.TimerFired, ev.ReplyFailed, ev.DismissRequested})
_TELLING_EFFECTS = frozenset({fx.ShowFault, fx.WarnLongTalk, fx.WarnLongSpeech, fx.ReportLost})

NOTICE_ROWS: tuple[NoticeRow, ...] = (
    *(
        NoticeRow(e.value, "error", _shows_fault(e, fatal=False), hint_code(e), AGAIN)
        for e in ErrorClass
        if not POLICIES[e].ends
    ),
    *(NoticeRow(e.value, "error", _shows_fault(e, fatal=True), _fatal_text(e), RESTART, True) for e in ErrorClass),
    NoticeRow("stalled", "error", _in_step(lambda _, r: _is_stall(r) and _is_recoverable(r)), "stalled", AGAIN),
    NoticeRow(
        "not_restored",
        "error",
        _in_step(lambda _, r: _gives_up(r) and _is_recoverable(r)),
        "not_restored",
        ("retry", "restart"),
    ),
    NoticeRow("restored", "info", _in_step(is_back), "restored"),
    NoticeRow("recovered", "info", _in_step(has_worked), "recovered"),
    NoticeRow("long_turn", "info", _does(fx.WarnLongTalk), "long_turn"),
    NoticeRow("long_speech", "info", _does(fx.WarnLongSpeech), "long_speech"),
    NoticeRow("lost", "warning", _does(fx.ReportLost), "lost"),
    NoticeRow(
        "pause_over",
        "warning",
        _in_step(lambda _, r: _is_timer(r, Timer.SUSPEND) and r.after.link in CLOSED),
        "pause_over",
        RESTART,
    ),
    NoticeRow("problem_ears", "warning", _told("problem_ears"), "problem_ears"),
    NoticeRow("problem_voice", "warning", _told("problem_voice"), "problem_voice"),
    NoticeRow("problem_journal", "warning", _told("problem_journal"), "problem_journal"),
    NoticeRow("problem_tools", "warning", _told("problem_tool"), "problem_tools"),
    NoticeRow("unsaved", "warning", _told("unsaved"), "unsaved"),
    NoticeRow("saved_again", "info", lambda h, i: h.is_unsaved and i == Outside("saved"), "saved_again"),
    NoticeRow("stopping", "warning", _told("stopping"), "stopping"),
    NoticeRow("gone", "warning", _told("gone"), "gone", RESTART),
)
