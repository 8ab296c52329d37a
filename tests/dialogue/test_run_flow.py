"""Running a flow: actions with their needs and questions, the end of a flow, calls and links."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.conditions import parse
from duologue.dialogue.effects import HandOver, Respond
from duologue.dialogue.flow import CallFlow, Collect, HandOff, Jump, JumpUnless, LinkFlow, PerformAction, SayText
from duologue.lab.check.dialogue.domains import RELAY, domain, flow
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    COLOUR,
    SIZE,
    Talker,
    at_confirmation,
    number,
    talk,
)


@pytest.mark.req("D-08")
def test_an_action_gets_its_slots_and_returns_others() -> None:
    talker = at_confirmation().says("yes")
    assert talker.runs[0].slots == (("to", "Anna"), ("account", "AB12"), ("amount", 50))
    assert talker.said == "One moment."
    talker.done(ref="R1", other=1)
    assert talker.said == "Done: R1. Anything else?"
    assert "other" not in talker.slots


@pytest.mark.req("D-08")
def test_an_action_may_ask_for_more_slots() -> None:
    talker = talk(PerformAction("pay", "pay"), SayText("paid", "Paid."), slots=(number("pin"),)).done(needs=("pin",))
    assert (talker.phase, talker.said) == ("waiting_for_slot", "pin?")
    assert talker.says("four").runs[0].slots == (("pin", 4),)
    assert talker.done().said == "Paid."


@pytest.mark.req("D-08")
def test_an_action_may_ask_for_a_yes() -> None:
    talker = talk(PerformAction("pay", "pay"), SayText("paid", "Paid.")).done(confirm="It costs a fee, all right?")
    assert (talker.phase, talker.said) == ("confirming", "It costs a fee, all right?")
    assert talker.says("yes").runs[0].confirmed
    assert talker.done().said == "Paid."


def test_an_actions_question_is_not_asked_about_old_values() -> None:
    # Past bug: "Pay 2?" is asked again after the amount became 5, and a yes to it pays 5.
    talker = talk(Collect("amount", "amount"), PerformAction("pay", "pay"), slots=(AMOUNT,))
    talker.says("two").done(confirm="Pay 2?").says("no, make it five")
    assert talker.runs
    assert "Pay 2?" not in talker.said


def test_an_actions_question_does_not_outlive_its_failure() -> None:
    # Past bug: `confirm` and `needs` stay when a failure leads on: the next action asks the question of the first.
    talker = talk(PerformAction("pay", "pay", on_failure=2), Jump("over", 3), PerformAction("report", "report"))
    talker.done(confirm="Pay?").says("yes").fails()
    assert [run.action for run in talker.runs] == ["report"]


@pytest.mark.req("D-10")
def test_a_completed_flow_leaves_its_slots_and_nothing_else() -> None:
    talker = at_confirmation().says("yes").done(ref="R1")
    state = talker.state
    assert (talker.phase, state.current_flow, state.waiting_for, state.stack) == ("idle", "none", None, ())
    assert talker.slots == {"to": "Anna", "account": "AB12", "amount": 50, "ref": "R1"}
    moves = [dict(line.data)["after"] for line in state.trace if line.event == "transition"]
    assert moves[-2:] == ["completed", "idle"]


def test_a_new_task_never_says_values_of_an_old_one() -> None:
    # Past bug: gaps are filled from `kept`: a transfer whose action returned no ref says the ref of the last one.
    talker = (
        at_confirmation().says("yes").done(ref="R1").starts("transfer").says("Bob", "X Y 3 4").says("fifty").valid(50)
    )
    assert "R1" not in talker.says("yes").done().said


def test_a_called_flow_that_links_to_another_returns_after_the_call() -> None:
    # Past bug: the call is made again, for ever, and cancel never gets out.
    talker = Talker(RELAY.domain).starts("outer").says("small")
    assert [run.action for run in talker.runs] == ["finish"]


@pytest.mark.parametrize(
    "program",
    [
        (Jump("round", 0),),
        (JumpUnless("while", parse("size is None"), 2), Jump("round", 0)),
        (SayText("on", "And on."), Jump("round", 0)),
    ],
)
def test_a_flow_that_loops_without_asking_is_stopped_and_reported(program: tuple[Jump, ...]) -> None:
    talker = talk(*program)
    assert (talker.phase, talker.state.trouble and talker.state.trouble.type) == ("error", "FlowLoops")
    assert talker.says("cancel").phase == "idle"


def test_a_flow_that_loops_does_not_talk_for_ever() -> None:
    # Past bug: everything that a loop says until it is stopped is said: 250 times the same words.
    talker = talk(SayText("on", "And on."), Jump("round", 0))
    assert sum(isinstance(effect, Respond) for effect in talker.effects) < 20


def test_flows_that_call_each_other_without_end_are_reported() -> None:
    talker = Talker(domain(flow("task", CallFlow("again", "task")))).starts("task")
    assert talker.state.trouble is not None
    assert talker.state.trouble.type == "FlowsTooDeep"
    assert talker.says("cancel").phase == "idle"


def test_a_flow_that_loops_through_an_action_is_reported() -> None:
    # Past bug: every run is a wait, so nothing counts: it acts for ever and never asks.
    talker = talk(PerformAction("poll", "poll"), Jump("round", 0))
    for _ in range(1_000):
        if talker.phase == "error":
            break
        talker.done()
    assert talker.phase == "error"


def test_an_action_that_asks_for_what_it_has_is_reported() -> None:
    talker = talk(Collect("size", "size"), PerformAction("go", "go"), slots=(SIZE,)).says("small").done(needs=("size",))
    assert talker.state.trouble is not None
    assert talker.state.trouble.type == "ActionLoops"


def test_a_step_hands_over_with_a_reason_and_ends_every_flow() -> None:
    talker = talk(Collect("size", "size"), HandOff("over", "Wants {size}, urgently"), slots=(SIZE,)).says("small")
    assert [effect.reason for effect in talker.effects if isinstance(effect, HandOver)] == ["Wants small, urgently"]
    assert (talker.said, talker.phase) == ("I'll put you through to a person.", "idle")


def test_a_link_passes_slots_under_other_names() -> None:
    first = flow("first", Collect("size", "size"), LinkFlow("over", "second", (("size", "other"),)))
    second = flow(
        "second", Collect("size", "size"), Collect("other", "other"), Collect("colour", "colour"), hidden=True
    )
    about = domain(first, second, slots=(SIZE, replace(SIZE, name="other"), COLOUR))
    talker = Talker(about).starts("first").says("small")
    assert (talker.slots["size"], talker.slots["other"], talker.said) == ("small", "small", "colour?")
