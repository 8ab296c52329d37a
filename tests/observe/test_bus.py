"""Handlers get the signals of their kind in order, and a failing handler does no harm."""

from __future__ import annotations

from typing import Any

import pytest

from duologue import Agent, ToolCall
from duologue.core.events import TokenArrived
from duologue.core.leaves import ErrorClass
from duologue.observe import signals as sg
from duologue.observe.bus import Bus
from duologue.testing import Call, Fail, Hang, ScriptedBrain, scripted_tool

SILENT = sg.WorkSilent(1, 1)
ENDED = sg.Ended(2, "hung up")


class Noted:
    """A bus, with the problems that it reported."""

    def __init__(self) -> None:
        self.problems: list[tuple[str, str]] = []
        self.bus = Bus(lambda where, failure: self.problems.append((where, type(failure).__name__)))
        self.heard: list[tuple[str, sg.Signal]] = []

    def hears(self, name: str) -> Any:
        return lambda signal: self.heard.append((name, signal))


def fail(_: object) -> None:
    raise KeyError("an observer's own mistake")


# -- Hearing


def test_a_handler_gets_signals_of_its_kind_only() -> None:
    noted = Noted()
    noted.bus.on(sg.WorkSilent, noted.hears("a"))
    noted.bus.send(ENDED)
    noted.bus.send(SILENT)
    assert noted.heard == [("a", SILENT)]


def test_handlers_are_called_in_the_order_in_which_they_were_added_and_those_for_all_kinds_last() -> None:
    noted = Noted()
    noted.bus.on(sg.Signal, noted.hears("all"))
    for name in ("a", "b", "c"):
        noted.bus.on(sg.WorkSilent, noted.hears(name))
    noted.bus.send(SILENT)
    assert [name for name, _ in noted.heard] == ["a", "b", "c", "all"]


def test_the_function_that_on_returns_removes_one_handler_once() -> None:
    noted = Noted()
    again = noted.hears("twice")
    off = noted.bus.on(sg.WorkSilent, again)
    noted.bus.on(sg.WorkSilent, again)
    noted.bus.send(SILENT)
    off()
    noted.bus.send(SILENT)
    assert len(noted.heard) == 3


def test_removing_a_handler_twice_is_harmless() -> None:
    noted = Noted()
    off = noted.bus.on(sg.WorkSilent, noted.hears("a"))
    noted.bus.on(sg.WorkSilent, noted.hears("b"))
    off()
    off()
    noted.bus.send(SILENT)
    assert [name for name, _ in noted.heard] == ["b"]


def test_a_handler_that_removes_itself_does_not_keep_a_signal_from_the_others() -> None:
    noted = Noted()
    offs: list[Any] = []
    offs.append(noted.bus.on(sg.WorkSilent, lambda _: offs[0]()))
    noted.bus.on(sg.WorkSilent, noted.hears("next"))
    noted.bus.send(SILENT)
    noted.bus.send(SILENT)
    assert len(noted.heard) == 2


def test_a_handler_that_is_added_during_a_signal_gets_the_next_one() -> None:
    noted = Noted()
    noted.bus.on(sg.WorkSilent, lambda _: noted.bus.on(sg.Ended, noted.hears("late")))
    noted.bus.send(SILENT)
    assert noted.heard == []
    noted.bus.send(ENDED)
    assert noted.heard == [("late", ENDED)]


def test_the_bus_knows_whether_there_are_handlers_for_a_kind() -> None:
    bus = Noted().bus
    assert not bus.wants(sg.Caption)
    off = bus.on(sg.Caption, print)
    assert bus.wants(sg.Caption)
    assert not bus.wants(sg.Ended)
    off()
    assert not bus.wants(sg.Caption)
    bus.on(sg.Signal, print)
    assert bus.wants(sg.Caption)


# -- Doing no harm


def test_a_handler_that_raises_is_reported_and_the_others_still_get_the_signal() -> None:
    noted = Noted()
    noted.bus.on(sg.WorkSilent, fail)
    noted.bus.on(sg.WorkSilent, noted.hears("b"))
    noted.bus.on(sg.Signal, noted.hears("all"))
    noted.bus.send(SILENT)
    assert [name for name, _ in noted.heard] == ["b", "all"]
    assert noted.problems == [("observer of WorkSilent", "KeyError")]


def test_an_observer_that_always_fails_does_not_affect_the_call() -> None:
    with Call(Agent(ScriptedBrain(["Right away."]))) as call:
        for kind in (sg.Caption, sg.StateEntered, sg.TurnCompleted, sg.Transitioned):
            call.conversation.on(kind, fail)
        call.user("book it").expect_heard("Right away.").expect_nothing_lost()
    problems = {signal.where for signal in call.signals if isinstance(signal, sg.Problem)}
    assert problems == {f"observer of {name}" for name in "Caption StateEntered TurnCompleted Transitioned".split()}


@pytest.mark.parametrize("kind", [sg.Problem, sg.Signal])
def test_an_observer_that_fails_on_the_report_of_its_own_failure_ends_no_conversation(kind: type[sg.Signal]) -> None:
    with Call(Agent(ScriptedBrain(["Right away."]))) as call:
        call.conversation.on(kind, fail)
        call.conversation.engine.bus.send(sg.Problem(0, "test", "x"))
        call.user("book it").expect_heard("Right away.")


def test_a_watcher_that_fails_does_not_affect_the_call() -> None:
    with Call(Agent(ScriptedBrain(["Right away."]))) as call:
        call.conversation.engine.watchers.append(lambda m: fail(m) if isinstance(m.event, TokenArrived) else None)
        call.user("book it").expect_heard("Right away.")


# -- What a conversation sends


def of_kind(call: Call, kind: type[Any]) -> list[Any]:
    return [signal for signal in call.signals if isinstance(signal, kind)]


@pytest.mark.req("L-21")
def test_a_timeout_an_error_and_a_recovery_are_announced() -> None:
    with Call(Agent(ScriptedBrain([Hang(), Fail(ErrorClass.UNKNOWN), "Here."]))) as call:
        call.user("find it").waits(30_000)
    assert {signal.timer for signal in of_kind(call, sg.TimedOut)} >= {"attempt", "retry", "dismiss"}
    (failed,) = of_kind(call, sg.Failed)
    assert (failed.part.value, failed.error, failed.fatal) == ("brain", ErrorClass.UNKNOWN, False)
    fault, session = of_kind(call, sg.Recovered)
    assert (fault.source, session.source) == ("fault", "session")
    assert failed.at < fault.at <= session.at


@pytest.mark.req("L-21")
def test_a_timeout_of_a_call_says_which() -> None:
    brain = ScriptedBrain([[ToolCall("hang")], "Too bad."])
    with Call(Agent(brain, tools=[scripted_tool("hang", Hang())])) as call:
        call.user("do it").waits(40_000)
    (late,) = (signal for signal in of_kind(call, sg.TimedOut) if signal.timer == "job")
    assert late.call == 1


@pytest.mark.req("C-PAT-002")
def test_observers_of_states_and_turns_get_signals_until_they_are_removed() -> None:
    with Call(Agent(ScriptedBrain(["Right away.", "And again."]))) as call:
        states: list[str] = []
        turns: list[str] = []
        offs = (
            call.conversation.on_state_changed(lambda moved: states.append(moved.target)),
            call.conversation.on_turn_event(lambda signal: turns.append(f"{type(signal).__name__} {signal.turn.role}")),
        )
        call.user("book it").settles()
        for off in offs:
            off()
        call.user("once more").settles()
    assert states == ["user_speaking", "thinking", "speaking", "listening"]
    assert turns == ["TurnStarted user", "TurnCompleted user", "TurnStarted assistant", "TurnCompleted assistant"]
