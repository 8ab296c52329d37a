"""Finds notices that were shown in a finished call although they were not true.

Each kind of notice has one condition on the events and effects that came before it. Rule: nothing here uses the
machine's rows that choose the notices. So a row that shows a notice too often is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import AWAY, Ask, ErrorClass, Link, Timer
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg

_NEWS = (ev.JobFinished, ev.JobFailed, ev.JobAsked)


def untrue_notices(records: Sequence[StepRecord], signals: Sequence[sg.Signal]) -> list[str]:
    """One line for each notice that was not true when it was shown."""
    found = []
    shown: list[sg.Noticed] = []
    for signal in signals:
        if isinstance(signal, sg.Lost) and _is_asked_later(records, signal):
            found.append(f"'lost' was shown at {signal.at} ms, but the brain was asked again by itself")
        if not isinstance(signal, sg.Noticed):
            continue
        before = [record for record in records if record.event.at <= signal.at]
        check = _CHECKS.get(signal.code)
        if check is not None and not check(before, signal, shown):
            found.append(f"{signal.code!r} was shown at {signal.at} ms, but it was not true")
        shown.append(signal)
    return found


def _since(records: Sequence[StepRecord], begins: Callable[[StepRecord], bool]) -> Sequence[StepRecord] | None:
    """The steps from the newest step for which `begins` returns true to the last one. None if there is no such step."""
    places = [place for place, record in enumerate(records) if begins(record)]
    return records[places[-1] :] if places else None


def _is_loss(record: StepRecord) -> bool:
    return record.before.link not in AWAY and record.after.link in AWAY


def _was_lost(records: Sequence[StepRecord], _: sg.Noticed, shown: Sequence[sg.Noticed]) -> bool:
    """Was the connection lost after the newest notice "restored", and was the loss not requested by the user?"""
    after = _since(records, _is_loss)
    if after is None or isinstance(after[0].event, ev.ReconnectRequested):
        return False
    earlier = [one.at for one in shown if one.code == "restored"]
    return not earlier or after[0].event.at >= earlier[-1]


def _has_worked(records: Sequence[StepRecord], _: sg.Noticed, __: Sequence[sg.Noticed]) -> bool:
    """Did something work after the newest fault: was an answer heard, or did the ears report words of the caller?"""
    after = _since(records, lambda record: any(isinstance(effect, fx.ShowFault) for effect in record.effects))
    return after is not None and any(_is_proof(record) for record in after)


def _is_proof(record: StepRecord) -> bool:
    event = record.event
    if isinstance(event, ev.PlaybackFinished | ev.PlaybackProgressed):
        return event.heard_ms > 0
    if isinstance(event, ev.WordsHeard):
        return event.words > 0
    cut = any(isinstance(effect, fx.TruncateReply) and effect.heard_ms for effect in record.effects)
    return cut or isinstance(event, ev.ReplyFinished)


def _is_asked_later(records: Sequence[StepRecord], lost: sg.Lost) -> bool:
    """Was the brain asked about these turns again after they had been reported as lost, although there were no new
    words and no news from a job in between?"""
    after = _since(records, lambda record: record.event.at == lost.at and _reports(record, lost))
    for record in after[1:] if after else ():
        if record.after.said > record.before.said or isinstance(record.event, _NEWS):
            return False
        if any(_asks(effect) and effect.last <= lost.last for effect in record.effects):  # type: ignore[attr-defined]
            return True
    return False


def _reports(record: StepRecord, lost: sg.Lost) -> bool:
    return fx.ReportLost(lost.first, lost.last) in record.effects


def _asks(effect: fx.Effect) -> bool:
    return isinstance(effect, fx.StartReply) and effect.ask is Ask.ANSWER


def _shows_fault(records: Sequence[StepRecord], notice: sg.Noticed, _: Sequence[sg.Noticed]) -> bool:
    """Did the step at the time of this notice cause exactly the fault that the notice shows?"""
    error = ErrorClass(notice.code)
    return any(
        isinstance(effect, fx.ShowFault)
        and (effect.error, effect.fatal, effect.part.value) == (error, notice.fatal, notice.part)
        for record in records
        if record.event.at == notice.at
        for effect in record.effects
    )


def _is_given_up(records: Sequence[StepRecord], notice: sg.Noticed, _: Sequence[sg.Noticed]) -> bool:
    """Did the machine give up a lost connection at the time of this notice?"""
    return any(
        record.event.at == notice.at and record.before.link in AWAY and record.after.link is Link.FAULTED
        for record in records
    )


def _fired(timer: Timer) -> Callable[[Sequence[StepRecord], sg.Noticed, Sequence[sg.Noticed]], bool]:
    def check(records: Sequence[StepRecord], notice: sg.Noticed, _: Sequence[sg.Noticed]) -> bool:
        return any(
            record.event.at == notice.at and isinstance(record.event, ev.TimerFired) and record.event.timer is timer
            for record in records
        )

    return check


_CHECKS: dict[str, Callable[[Sequence[StepRecord], sg.Noticed, Sequence[sg.Noticed]], bool]] = {
    "restored": _was_lost,
    "recovered": _has_worked,
    "long_turn": _fired(Timer.TALK),
    "long_speech": _fired(Timer.LONG_SPEECH),
    "stalled": _fired(Timer.STALL),
    "pause_over": _fired(Timer.SUSPEND),
    "not_restored": _is_given_up,
    **{error.value: _shows_fault for error in ErrorClass},
}
