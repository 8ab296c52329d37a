"""What a no and a value that is taken away do, and what was done stays done."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import ClearSlot, SetSlot, StartFlow
from duologue.dialogue.flow import Collect, Confirm, Domain, PerformAction
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.lab.check.dialogue.domains import EMPTIED, domain, flow
from tests.dialogue.dialogue_flows import COLOUR, OTHER, SIZE, Talker, talk


def shop(**more: object) -> Domain:
    buy = PerformAction("pay", "pay", ("size",), is_final=True, on_change="exchange")
    return domain(
        flow("buy", Collect("size", "size"), Confirm("sure", "Buy {size}?"), buy, Collect("colour", "colour")),
        flow(
            "exchange",
            Collect("size", "size"),
            Confirm("change", "Exchange it for {size}?"),
            PerformAction("swap", "swap", ("size",), is_final=True),
            hidden=True,
        ),
        slots=(SIZE, COLOUR),
        **more,  # type: ignore[arg-type]
    )


def bought(**more: object) -> Talker:
    talker = Talker(shop(**more)).starts("buy").says("small", "yes").done()
    assert talker.said == "colour?"
    return talker


@pytest.mark.req("D-09", "D-14")
def test_a_refused_value_that_no_step_asks_for_runs_no_action() -> None:
    # Past bug: "no" emptied the value, and the flow went on to its action.
    size = SetSlot("size", "small")
    talker = Talker(EMPTIED.domain).says(OTHER).means(StartFlow("hire"), size, SetSlot("amount", 5, source=PICKED_OUT))
    assert talker.said == "I have amount 5. Is that right?"
    talker.says("no")
    assert (talker.said, talker.runs) == ("All right. What should I change?", [])
    assert talker.says("the size").said == "Which size?"


@pytest.mark.req("D-09", "D-14")
def test_a_value_that_is_taken_away_before_an_action_runs_nothing() -> None:
    talker = talk(PerformAction("send", "send"), size="small", slots=(SIZE,)).done(confirm="Really?")
    talker.says(OTHER).means(ClearSlot("size"))
    assert talker.runs == []


@pytest.mark.req("D-14")
def test_a_change_after_a_final_action_says_what_was_done_and_opens_the_flow_for_changes() -> None:
    talker = bought().says("change the size to large")
    assert talker.said == "That's done already, with size small. Exchange it for large?"
    assert talker.runs == []
    assert [run.action for run in talker.says("yes").runs] == ["swap"]
    assert talker.done().said == "Back to where we were. colour?"


@pytest.mark.req("D-14")
def test_a_refused_exchange_leaves_what_was_done() -> None:
    talker = bought().says("change the size to large", "no")
    assert talker.said == "All right, let's leave it. Back to where we were. colour?"
    assert talker.slots["size"] == "small"


@pytest.mark.req("D-14")
def test_what_was_done_cannot_be_emptied_or_gone_back_to() -> None:
    assert bought().says("the size is wrong").said == "That's done already, with size small. size?"
    assert bought().says("go back").said == "This is where we began. colour?"


@pytest.mark.req("D-14")
def test_stop_during_a_final_action_is_answered_with_what_happened() -> None:
    talker = Talker(shop()).starts("buy").says("small", "yes", "stop").done()
    assert talker.said == "It was done before I could stop it. colour?"


@pytest.mark.req("D-10", "D-14")
def test_a_task_that_ended_can_be_corrected_for_a_few_turns() -> None:
    talker = bought(correctable_turns=3).says("red")
    assert talker.phase == "idle"
    talker.says("actually make it large")
    assert talker.said == "That's done already, with size small. Exchange it for large?"


@pytest.mark.req("D-10", "D-14")
def test_a_task_without_a_final_action_asks_again_before_it_acts_again() -> None:
    asks = domain(
        flow("ask", Collect("size", "size"), Confirm("sure", "{size}?"), PerformAction("order", "order")),
        slots=(SIZE,),
        correctable_turns=3,
    )
    talker = Talker(asks).starts("ask").says("small", "yes").done().says("no, make it large")
    assert (talker.said, talker.runs) == ("Got it, I've updated your size to large. large?", [])
    acts = domain(
        flow("act", Collect("size", "size"), PerformAction("send", "send")), slots=(SIZE,), correctable_turns=3
    )
    talker = Talker(acts).starts("act").says("small").done().says("no, make it large")
    assert (talker.said, talker.runs) == (
        "Got it, I've updated your size to large. I have size large. Is that right?",
        [],
    )
    assert len(talker.says("yes").runs) == 1


@pytest.mark.req("D-10")
def test_after_those_turns_a_correction_is_a_message_like_any_other() -> None:
    talker = bought(correctable_turns=1).says("red", "thanks", "thank you", "actually make it large")
    assert talker.asked_nlu
