"""A notice that isn't so is found, and one that is so isn't."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import ErrorClass, FaultSource, Link, Timer
from duologue.core.settings import PROFILES
from duologue.core.state import State, initial
from duologue.core.step_record import StepRecord
from duologue.lab.sim.untrue_notices import untrue_notices
from duologue.observe.signals import Lost, Noticed


def state(link: Link = Link.UP) -> State:
    return initial(PROFILES["confirm"])._replace(link=link)


def step(event: ev.Event, before: Link = Link.UP, after: Link = Link.UP, *effects: fx.Effect) -> StepRecord:
    return StepRecord(event, state(before), state(after), effects, ())


def shown(code: str, at: int = 5_000) -> list[Noticed]:
    return [Noticed(at, code, "info", code)]


FAULT = step(
    ev.ServiceFailed(1_000, 1, FaultSource.EARS, ErrorClass.UNKNOWN),
    Link.UP,
    Link.FAULTED,
    fx.ShowFault(FaultSource.EARS, ErrorClass.UNKNOWN, fatal=False),
)
LOST = step(ev.LinkClosed(1_000, 1), Link.UP, Link.BACKING_OFF)
ON_REQUEST = step(ev.ReconnectRequested(1_000, 1), Link.UP, Link.BACKING_OFF)
HEARD = step(ev.PlaybackFinished(4_000, 1, 800))


@pytest.mark.req("H-11")
@pytest.mark.parametrize(
    ("code", "so", "not_so"),
    [
        ("restored", [LOST], [ON_REQUEST]),
        ("recovered", [FAULT, HEARD], [HEARD, FAULT]),
        ("long_turn", [step(ev.TimerFired(5_000, Timer.TALK, 5_000))], [HEARD]),
        ("long_speech", [step(ev.TimerFired(5_000, Timer.LONG_SPEECH, 5_000))], [HEARD]),
        ("stalled", [step(ev.TimerFired(5_000, Timer.STALL, 5_000))], [HEARD]),
        ("pause_over", [step(ev.TimerFired(5_000, Timer.SUSPEND, 5_000))], [HEARD]),
    ],
)
def test_a_notice_is_judged_by_what_happened(code: str, so: list[StepRecord], not_so: list[StepRecord]) -> None:
    assert untrue_notices(so, shown(code)) == []
    assert untrue_notices(not_so, shown(code)) == [f"{code!r} was shown at 5000 ms, but it was not true"]


@pytest.mark.req("H-11")
def test_a_fault_is_judged_by_its_part_its_class_and_whether_it_ends_the_conversation() -> None:
    told = Noticed(1_000, "UNKNOWN", "error", "fault_unknown", part="ears")
    assert untrue_notices([FAULT], [told]) == []
    for other in (replace(told, part="brain"), replace(told, fatal=True), replace(told, code="RATE_LIMIT")):
        assert untrue_notices([FAULT], [other]) == [f"{other.code!r} was shown at 1000 ms, but it was not true"]
    given_up = replace(told, code="not_restored")
    assert untrue_notices([step(ev.LinkClosed(1_000, 1), Link.RECONNECTING, Link.FAULTED)], [given_up]) == []
    assert untrue_notices([FAULT], [given_up]) != []


GIVEN_UP = step(ev.ReplyFailed(5_000, 3, ErrorClass.UNKNOWN), Link.UP, Link.FAULTED, fx.ReportLost(1, 1))
ASKED = step(ev.TimerFired(6_000, Timer.BEAT, 6_000), Link.UP, Link.UP, fx.StartReply(4, 2, 1))
NEW_WORDS = StepRecord(ev.TextTyped(5_500, 1), state(), state()._replace(said=2, turn=2), (), ())
NEWS = step(ev.JobFinished(5_500, 7))


@pytest.mark.req("H-11", "H-02")
@pytest.mark.parametrize(
    ("later", "is_so"), [([], True), ([ASKED], False), ([NEW_WORDS, ASKED], True), ([NEWS, ASKED], True)]
)
def test_a_turn_that_is_told_to_be_lost_is_not_answered_later_by_itself(later: list[StepRecord], is_so: bool) -> None:
    assert (untrue_notices([GIVEN_UP, *later], [Lost(5_000, 1, 1, ("a table",))]) == []) is is_so


def test_the_connection_is_back_only_once() -> None:
    assert untrue_notices([LOST], [*shown("restored"), *shown("restored", 6_000)]) != []
