"""Finds notices that were shown in a finished call although they were not true.

The judge reads the lines of the call's journal by itself: which events came, when, and whether they changed the state.
Beside the journal it reads only what the services noted about themselves. Rule: nothing here uses the conversation
machine, its states and effects, or the rows that choose the notices. So a mistake in any of these is found here. A
notice that the judge doesn't know is reported too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from duologue.observe import signals as sg

from .caller_account import CallerAccount, ServiceSpan

_ERRORS = (
    "RATE_LIMIT", "NETWORK_TIMEOUT", "TOOL_ERROR", "INVALID_ARGS", "SESSION_EXPIRED", "AUTH_FAILURE", "SERVER_ERROR",
    "UNKNOWN",
)  # fmt: skip
# Notices that only a server shows, about its store, its end and its other processes. No simulated call shows them.
OF_SERVERS = ("unsaved", "saved_again", "stopping", "gone")
FAILED_MS_MAX = 15_000  # a problem of a service is reported within this time after the service failed
SLOW_MS_MIN = 1_000  # a service that works for this long without a result is slow
SLOW_CLOSE_MS_MIN = 400  # the same, while it is being closed

_LOSSES = ("LinkClosed", "SessionEnded", "SessionFailed", "ReconnectRequested")
_LOSS_TIMERS = ("heal", "renew")
_TIMEOUTS = {
    "prepare": "session", "connect": "link", "reconnect": "link", "attempt": "brain", "answer": "brain",
    "stall": "voice",
}  # fmt: skip
_PLAYED = ("PlaybackFinished", "PlaybackStopped", "PlaybackProgressed")
_NEWS = ("JobFinished", "JobFailed", "JobAsked")
# The services whose failure a problem may be about. In simulated calls, the journal never fails.
_SERVICES = {
    "ears": ("ears",), "voice": ("voice",), "cue": ("voice",), "brain": ("brain",), "tool": ("tool",),
    "line": ("line",), "session": ("session", "line", "close"), "close": ("close",), "journal": (),
}  # fmt: skip
_LIFE = ("ReplyAccepted", "TokenArrived", "AudioBuffered", "PlaybackFinished")


class JournalFact(NamedTuple):
    """One event of a journal: its time, its kind, its fields, and whether it changed the state."""

    at: int
    kind: str
    given: Mapping[str, Any]
    is_used: bool

    @property
    def timer(self) -> str:
        """The deadline that has passed; empty for other events."""
        return str(self.given.get("timer", "")) if self.kind == "TimerFired" else ""


class JournalFacts(NamedTuple):
    """What a journal says, without a replay. `answering` are the numbers of the requests that had something to answer,
    as the brain has noted them."""

    settings: Mapping[str, Any]
    facts: Sequence[JournalFact]
    answering: Collection[int] = ()

    def used(self, until_ms: int) -> list[JournalFact]:
        """The events up to this time that changed the state."""
        return [fact for fact in self.facts if fact.is_used and fact.at <= until_ms]

    def at(self, at_ms: int) -> list[JournalFact]:
        """The events at this time that changed the state."""
        return [fact for fact in self.facts if fact.is_used and fact.at == at_ms]


def read_facts(lines: Iterable[str]) -> JournalFacts:
    """Read the lines of a journal. An event has changed the state if the digest after it differs from the digest before
    it."""
    rows = [json.loads(line) for line in lines if line.strip()]
    digest, facts = rows[0]["digest"], []
    for row in rows[1:]:
        if "event" not in row:
            continue
        given = row["event"]
        facts.append(JournalFact(given["at"], given["type"], given, row["digest"] != digest))
        digest = row["digest"]
    return JournalFacts(rows[0]["settings"], facts)


def untrue_notices(
    lines: Iterable[str], signals: Sequence[sg.Signal], account: CallerAccount | None = None
) -> list[str]:
    """One line for each notice that was not true when it was shown. `lines` are the lines of the journal."""
    told = account or CallerAccount()
    journal = read_facts(lines)._replace(answering=told.answering)
    found: list[str] = []
    shown: list[sg.Noticed] = []
    for signal in signals:
        if isinstance(signal, sg.Lost) and _is_asked_later(journal, signal, told):
            found.append(f"'lost' was shown at {signal.at} ms, but the brain was asked again by itself")
        if isinstance(signal, sg.Problem) and _is_invented(signal, told):
            found.append(f"a problem of {signal.where!r} was reported at {signal.at} ms, but it had not failed")
        if not isinstance(signal, sg.Noticed):
            continue
        check = _CHECKS.get(signal.code)
        if check is None:
            found.append(f"{signal.code!r} was shown at {signal.at} ms, and nothing is known about this notice")
        elif not check(journal, signal, shown):
            found.append(f"{signal.code!r} was shown at {signal.at} ms, but it was not true")
        shown.append(signal)
    return found


Check = Callable[[JournalFacts, sg.Noticed, Sequence[sg.Noticed]], bool]


# -- The connection


def _was_lost(journal: JournalFacts, notice: sg.Noticed, shown: Sequence[sg.Noticed]) -> bool:
    """Was there an attempt to connect again, after the line had been lost by itself, and was the person not told yet
    that the connection is back?"""
    used = journal.used(notice.at)
    ready = [place for place, fact in enumerate(used) if fact.kind == "SessionReady"]
    if not ready:
        return False
    since = used[(ready[-2] + 1 if len(ready) > 1 else 0) : ready[-1]]
    losses = [fact for fact in since if _is_loss(fact)]
    is_by_itself = bool(losses) and losses[0].kind != "ReconnectRequested"
    was_told = any(one.code == "restored" and one.at >= used[ready[-1]].at for one in shown)
    return is_by_itself and any(fact.timer == "backoff" for fact in since) and not was_told


def _is_loss(fact: JournalFact) -> bool:
    has_expired = fact.given.get("error") == "SESSION_EXPIRED"
    return fact.kind in _LOSSES or fact.timer in _LOSS_TIMERS or has_expired


def _is_given_up(journal: JournalFacts, notice: sg.Noticed, _: Sequence[sg.Noticed]) -> bool:
    """Did an attempt to connect again fail at this time, or did the time for all attempts end?"""
    is_tried = any(fact.timer == "backoff" for fact in journal.used(notice.at))
    ends = journal.at(notice.at)
    is_over = any(fact.timer in ("connect", "reconnect") for fact in ends)
    return is_over or (is_tried and any(fact.kind in ("SessionFailed", "LinkClosed") for fact in ends))


# -- Faults


def _shows_fault(journal: JournalFacts, notice: sg.Noticed, _: Sequence[sg.Noticed]) -> bool:
    """Did a part fail at this time with this class? If the notice says that the conversation is over, nothing of an
    answer may come after it. Otherwise the conversation must not end right after it."""
    is_failure = any(_failed_part(fact, notice.code) == notice.part for fact in journal.at(notice.at))
    later = [fact for fact in journal.facts if fact.is_used and fact.at > notice.at]
    if notice.fatal:
        return is_failure and not any(fact.kind in _LIFE for fact in later)
    is_hung_up = any(fact.kind == "EndRequested" for fact in journal.at(notice.at))
    return is_failure and (is_hung_up or not _ends_at_once(later))


def _failed_part(fact: JournalFact, error: str) -> str:
    """The part that failed with this class in this event; empty if none did."""
    if fact.timer in _TIMEOUTS:
        return _TIMEOUTS[fact.timer] if error == "NETWORK_TIMEOUT" else ""
    if fact.kind == "LinkClosed":
        return "link" if error == "NETWORK_TIMEOUT" else ""
    if fact.given.get("error") != error:
        return ""
    if fact.kind in ("ServiceFailed", "ReplyFailed"):
        return str(fact.given["part"])
    return {"PlaybackFailed": "voice", "SessionFailed": "session"}.get(fact.kind, "")


def _of_session(check: Check) -> Check:
    """Make a check that also accepts "line" as the name of a session that can't be opened. The notice may use either
    name, depending on whether the line had been lost."""

    def either(journal: JournalFacts, notice: sg.Noticed, shown: Sequence[sg.Noticed]) -> bool:
        if notice.part == "link" and any(fact.kind == "SessionFailed" for fact in journal.at(notice.at)):
            was_lost = any(fact.timer == "backoff" for fact in journal.used(notice.at))
            return was_lost and any(fact.given.get("error") == notice.code for fact in journal.at(notice.at))
        return check(journal, notice, shown)

    return either


def _ends_at_once(later: Sequence[JournalFact]) -> bool:
    """Does the session close right away, with no event before that except the end of the time for which the fault is
    shown?"""
    for fact in later:
        if fact.kind == "SessionClosed" or fact.timer == "close":
            return True
        if fact.timer != "dismiss":
            return False
    return False


def _has_worked(journal: JournalFacts, notice: sg.Noticed, shown: Sequence[sg.Noticed]) -> bool:
    """Did the part of the newest fault work after the fault? The ears have worked if they reported words, any other
    part if something of an answer was heard or shown. A greeting, a check-in or a goodbye is no answer."""
    faults = [one for one in shown if one.level == "error"]
    if not faults:
        return False
    since = [fact for fact in journal.used(notice.at) if fact.at >= faults[-1].at]
    if faults[-1].part == "ears":
        return any(fact.kind == "WordsHeard" and fact.given["words"] > 0 for fact in since)
    return any(_answer_in(fact, journal) in journal.answering for fact in since)


def _answer_in(fact: JournalFact, journal: JournalFacts) -> int:
    """The number of the request of whose answer something was heard or shown in this event; 0 if nothing was."""
    if fact.kind == "ReplyFinished":
        return int(fact.given["reply"])
    if fact.kind not in _PLAYED or fact.given["heard_ms"] <= 0:
        return 0
    begin = next(at for at, one in enumerate(journal.facts) if one.given.get("voice") == fact.given["voice"])
    replies = [one.given["reply"] for one in journal.facts[:begin] if one.kind == "AudioBuffered" and one.is_used]
    return int(replies[-1]) if replies else 0


# -- Times


def _took(setting: str, timer: str, *begins: str) -> Check:
    """Make a check that a notice came in time: this deadline has passed, and one of these events had come before it, at
    least as long before as the setting says."""

    def check(journal: JournalFacts, notice: sg.Noticed, _: Sequence[sg.Noticed]) -> bool:
        latest = notice.at - journal.settings[setting]
        is_due = any(fact.timer == timer for fact in journal.at(notice.at))
        return is_due and any(fact.kind in begins and fact.at <= latest for fact in journal.used(notice.at))

    return check


def _stalled(journal: JournalFacts, notice: sg.Noticed, _: Sequence[sg.Noticed]) -> bool:
    """Has the line reported no progress of the sound for as long as the setting says?"""
    since = notice.at - journal.settings["stall_ms_max"]
    is_due = any(fact.timer == "stall" for fact in journal.at(notice.at))
    return is_due and not any(fact.kind == "PlaybackProgressed" and fact.at > since for fact in journal.used(notice.at))


# -- Lost words, and problems of services


def _is_asked_later(journal: JournalFacts, lost: sg.Lost, account: CallerAccount) -> bool:
    """Was the brain asked about these words again after they had been reported as lost, although there were no new
    words and no news from a job in between?"""
    words = {word for text in lost.texts for word in text.split()}
    again = [at for at, text in account.asked if at > lost.at and words and words <= set(text.split())]
    if not again:
        return False
    between = [fact for fact in journal.used(again[0]) if fact.at >= lost.at]
    return not any(_brings_news(fact) for fact in between)


def _brings_news(fact: JournalFact) -> bool:
    if fact.kind == "WordsHeard":
        return bool(fact.given["words"])
    return fact.kind in ("TextTyped", "AnswerOverheard", *_NEWS)


def _is_invented(problem: sg.Problem, account: CallerAccount) -> bool:
    """Does a notice say that a service of the simulation failed, although the service has noted no failure and wasn't
    slow?"""
    services = _SERVICES.get(problem.where.partition(" ")[0])
    if services is None:
        return False  # it is about the agent's own code, which isn't simulated
    has_failed = any(service in services and at <= problem.at <= at + FAILED_MS_MAX for at, service in account.failed)
    is_slow = any(
        one.service in services and one.start_ms + _slow_ms_min(one) <= problem.at <= one.end_ms
        for one in account.worked
    )
    return not has_failed and not is_slow


def _slow_ms_min(work: ServiceSpan) -> int:
    return SLOW_CLOSE_MS_MIN if work.service == "close" else SLOW_MS_MIN


_CHECKS: dict[str, Check] = {
    "restored": _was_lost,
    "recovered": _has_worked,
    "not_restored": _is_given_up,
    "stalled": _stalled,
    "long_turn": _took("talk_ms_max", "talk", "SpeechStarted", "PttPressed"),
    "long_speech": _took("long_speech_ms", "long_speech", "AudioBuffered"),
    "pause_over": _took("suspend_ms_max", "suspend", "SuspendRequested"),
    **dict.fromkeys(_ERRORS, _of_session(_shows_fault)),
}
JUDGED = (*_CHECKS, "lost", "problem_ears", "problem_voice", "problem_journal")
