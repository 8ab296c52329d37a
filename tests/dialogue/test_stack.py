"""Tasks: interrupted, resumed, restarted, called and linked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.commands import (
    Restart,
    SetSlot,
    StartFlow,
)
from duologue.dialogue.effects import Understand
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import CallFlow, Collect, Confirm, LinkFlow, PerformAction, SlotSpec
from duologue.lab.check.dialogue.domains import ROOMS, domain, flow
from tests.dialogue.dialogue_flows import (
    COLOUR,
    OTHER,
    SIZE,
    TRANSFER,
    Talker,
    at_amount,
    at_confirmation,
    talk,
)


@pytest.mark.graveyard(19)
def test_a_digression_returns_to_the_open_question() -> None:
    talker = at_amount().says("when are you open, by the way?").means(StartFlow("hours"))
    assert talker.said == "We are open from nine to five. Back to where we were. How much?"
    assert (talker.phase, talker.state.waiting_for) == ("waiting_for_slot", "amount")
    at_yes = at_confirmation().says("when are you open, by the way?").means(StartFlow("hours"))
    assert at_yes.said.endswith("Send 50 to Anna?")


TASK_CODE = SlotSpec("code", SlotKind.CODE, "Code?", reads_back=True)


def open_flows(talker: Talker) -> list[str]:
    return [one.flow for one in talker.state.stack]


def digressed() -> Talker:
    """A transfer is open, and on top of it a long way to the balance."""
    flows = {**TRANSFER.flows, "address": flow("address", Collect("street", "street"), Collect("size", "size"))}
    slots = {**TRANSFER.slots, "street": SlotSpec("street", SlotKind.TEXT, "Which street?"), "size": SIZE}
    talker = Talker(replace(TRANSFER, flows=flows, slots=slots)).starts("transfer").says("Anna", "A B 1 2")
    return talker.says("oh and my address has changed").means(StartFlow("address")).says("Elm Street")


def test_a_task_that_is_open_is_returned_to_and_the_other_waits() -> None:
    # Past bug: a second transfer was opened on top of both.
    talker = digressed().says("let's do that transfer first").means(StartFlow("transfer"))
    assert open_flows(talker) == ["address", "transfer"]
    assert talker.said == "Back to where we were. How much?"
    assert talker.says("fifty").valid(50).said == "Send 50 to Anna?"
    assert talker.says("no", "no").said == "All right, let's leave it. Back to where we were. size?"
    assert talker.slots["street"] == "Elm Street"


def test_a_task_below_the_open_one_can_be_asked_for() -> None:
    wanted = digressed().says(OTHER).effects[-1]
    assert isinstance(wanted, Understand)
    assert wanted.flows == ("transfer", "balance", "hours", "address")


def test_starting_the_open_task_asks_its_question_again() -> None:
    talker = at_amount().says(OTHER).means(StartFlow("transfer"))
    assert (open_flows(talker), talker.said) == (["transfer"], "How much?")


def test_a_called_flow_belongs_to_the_task_that_called_it() -> None:
    talker = Talker(ROOMS.domain).starts("room").says("small").says(OTHER).means(StartFlow("guide"))
    assert open_flows(talker) == ["room", "howmany", "guide"]
    talker.says(OTHER).means(StartFlow("room"))
    assert open_flows(talker) == ["guide", "room", "howmany"]
    assert talker.said == "Back to where we were. For how many?"


def test_a_link_to_a_task_that_is_open_goes_on_there() -> None:
    # Past bug: two rooms were reserved.
    talker = Talker(ROOMS.domain).starts("room").says(OTHER).means(StartFlow("guide")).says("yes")
    assert (open_flows(talker), talker.said) == (["room"], "Back to where we were. Which size?")


def test_a_link_brings_what_the_open_task_still_lacks() -> None:
    about = domain(
        flow("room", Collect("size", "size"), Collect("colour", "colour")),
        flow("guide", Collect("colour", "colour"), Collect("size", "size"), LinkFlow("over", "room")),
        slots=(SIZE, COLOUR),
    )
    talker = Talker(about).starts("room").says("small").says(OTHER).means(StartFlow("guide")).says("red", "large")
    assert talker.phase == "idle"
    assert (talker.slots["size"], talker.slots["colour"]) == ("small", "red")


def test_a_flow_may_still_call_itself() -> None:
    about = domain(flow("task", Collect("size", "size"), CallFlow("again", "task")), slots=(SIZE,))
    assert open_flows(Talker(about).starts("task").says("small")) == ["task", "task"]


def test_a_code_that_is_read_back_is_not_taken_to_another_task() -> None:
    # Past bug: the code was read back within the other task, and a yes wrote it there.
    about = domain(
        flow("task", Collect("code", "code")), flow("other", Collect("size", "size")), slots=(TASK_CODE, SIZE)
    )
    talker = Talker(about).starts("task").says("A B 1 2").says(OTHER).means(StartFlow("other"))
    assert talker.said == "size?"
    assert talker.says("small").said == "Back to where we were. Code?"


def test_start_over_empties_the_task_and_begins_it_again() -> None:
    # Past bug: the task was cancelled.
    talker = at_confirmation().says("start over")
    assert talker.said == "All right, from the beginning. To whom?"
    assert (talker.slots, open_flows(talker)) == ({}, ["transfer"])


def test_start_over_keeps_the_programs_values() -> None:
    program = (Collect("size", "size"), Collect("colour", "colour"), Confirm("sure", "Sure?"))
    talker = talk(*program, slots=(SIZE, COLOUR), size="small", who="Ann").says("red", "start over")
    assert (talker.slots, talker.said) == ({"who": "Ann", "size": "small"}, "All right, from the beginning. colour?")


def test_start_over_in_a_called_flow_begins_the_whole_task() -> None:
    talker = Talker(ROOMS.domain).starts("room").says("small").says("start over")
    assert (open_flows(talker), talker.said) == (["room"], "All right, from the beginning. Which size?")


def test_start_over_leaves_the_task_below_alone() -> None:
    talker = digressed().says("start over")
    assert talker.said == "All right, from the beginning. Which street?"
    assert open_flows(talker) == ["transfer", "address"]


@pytest.mark.req("D-14")
def test_actions_after_starting_over_have_new_keys() -> None:
    talker = talk(PerformAction("send", "send"), Confirm("sure", "Sure?"))
    first = talker.runs[0].key
    assert talker.done().says("start over").runs[0].key != first


@pytest.mark.req("D-11")
def test_start_over_gets_out_of_an_error() -> None:
    talker = at_confirmation().says("yes").fails().says("start over")
    assert (talker.phase, talker.said) == ("waiting_for_slot", "All right, from the beginning. To whom?")
    assert talker.state.trouble is None


def test_start_over_with_nothing_open_gives_help() -> None:
    assert Talker(TRANSFER).says("start over").said.startswith("I can help you with")


def test_start_over_may_be_understood_by_nlu_and_bring_values() -> None:
    talker = at_amount().says(OTHER).means(Restart(), SetSlot("to", "Bob"))
    assert (talker.slots, talker.said) == ({"to": "Bob"}, "All right, from the beginning. Which account?")


def two_tasks(slot: SlotSpec) -> Talker:
    first = flow("first", Collect("size", "size"), completed="Done.")
    second = flow("second", Collect("size", "size"), Collect("colour", "colour"), completed="{size} and {colour}.")
    return Talker(domain(first, second, slots=(slot, COLOUR)))


@pytest.mark.req("D-10")
def test_a_value_of_the_session_is_used_again_and_announced() -> None:
    talker = two_tasks(replace(SIZE, is_session=True)).starts("first").says("small").starts("second")
    assert talker.said == "So far I have size small. colour?"
    assert talker.says("red").said == "small and red."


def test_a_value_of_the_session_can_be_corrected() -> None:
    talker = two_tasks(replace(SIZE, is_session=True)).starts("first").says("small").starts("second")
    assert talker.says("no, large").slots["size"] == "large"


def test_other_values_are_asked_for_in_every_task() -> None:
    assert two_tasks(SIZE).starts("first").says("small").starts("second").said == "size?"


def test_no_action_runs_on_a_value_of_the_session_before_the_user_could_object() -> None:
    first = flow("first", Collect("size", "size"), completed="Done.")
    second = flow("second", Collect("size", "size"), PerformAction("act", "act", ("size",)))
    talker = Talker(domain(first, second, slots=(replace(SIZE, is_session=True),)))
    talker.starts("first").says("small").starts("second")
    assert (talker.said, talker.runs) == ("I have size small. Is that right?", [])
    assert len(talker.says("yes").runs) == 1
