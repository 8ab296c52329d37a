"""What a dialogue does, requirement by requirement (D-01 to D-16), and the failures of others that must end well."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from duologue.dialogue.commands import (
    Affirm,
    ClearSlot,
    CorrectSlot,
    Deny,
    Handoff,
    SetSlot,
    StartFlow,
)
from duologue.dialogue.conditions import parse
from duologue.dialogue.effects import HandOver, Understand
from duologue.dialogue.english import ANY, SlotKind
from duologue.dialogue.flow import Collect, Confirm, Jump, PerformAction, SayText, SlotSpec
from duologue.dialogue.state import Phase
from duologue.flows.load import parse_flows
from duologue.lab.check.dialogue.domains import RELAY, domain, flow
from duologue.nlu.cached import CachedNlu
from duologue.nlu.understanding import Intent, MessageScope, Understanding
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    COLOUR,
    FLIGHTS,
    OTHER,
    SIZE,
    TODAY,
    TRANSFER,
    Talker,
    at_amount,
    at_confirmation,
    number,
    talk,
)

# -- D-01, D-02: states and the record


@pytest.mark.req("D-01")
def test_a_dialogue_is_in_one_of_eight_states() -> None:
    assert [phase.value for phase in Phase] == [
        "idle",
        "understanding",
        "waiting_for_slot",
        "validating_slot",
        "executing_action",
        "confirming",
        "completed",
        "error",
    ]


@pytest.mark.req("D-02")
def test_the_record_tells_everything_about_a_dialogue() -> None:
    talker = Talker(TRANSFER).says("send some money").means(StartFlow("transfer")).says("Anna")
    state = talker.state
    assert [(one.role, one.content, one.timestamp) for one in state.messages] == [
        ("user", "send some money", 1_000),
        ("assistant", "To whom?", 2_000),
        ("user", "Anna", 3_000),
        ("assistant", "Which account?", 3_000),
    ]
    assert (state.current_flow, state.phase.value, talker.step) == ("transfer", "waiting_for_slot", "account")
    assert (state.waiting_for, state.turn_count, state.last_response) == ("account", 2, "Which account?")
    assert state.last_nlu_call == 1_000
    assert state.slots == {"to": "Anna"}
    assert {"flow_started", "slot_set", "transition"} <= {line.event for line in state.trace}
    assert dict(state.metadata)["today"] == TODAY
    filled = state.stack[-1].filled("to")
    assert filled is not None
    assert (filled.raw, filled.span, filled.source, filled.turn) == ("Anna", (0, 4), "grammar", 2)


# -- D-03: flows are configuration


@pytest.mark.req("D-03")
def test_a_flow_written_in_yaml_runs() -> None:
    written = parse_flows(
        """
        version: 1
        slots:
          people: {type: number, prompt: "For how many?"}
        flows:
          table:
            description: book a table
            steps:
              - collect: people
              - branch:
                  - if: people > 6
                    steps: [{say: That is a lot.}]
              - action: book
              - say: Booked.
        """
    )
    talker = Talker(written).starts("table").says("eight")
    assert talker.said == "That is a lot."
    assert talker.runs[0].slots == (("people", 8),)
    assert talker.done().said == "Booked."


# -- D-04, D-05: plain answers and everything else


@pytest.mark.req("D-04")
@pytest.mark.parametrize("text", ["fifty", "50", "I'd say fifty, please", "uh, fifty"])
def test_a_plain_answer_costs_no_nlu(text: str) -> None:
    talker = at_amount().says(text)
    assert not talker.asked_nlu
    assert talker.checks.value == 50


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["what are your opening hours?", "first tell me my balance", "Bob is my brother"])
def test_something_else_is_understood_by_nlu(text: str) -> None:
    talker = at_amount().says(text)
    assert talker.phase == "understanding"
    wanted = talker.effects[-1]
    assert isinstance(wanted, Understand)
    assert (wanted.text, wanted.flows, wanted.waiting_for) == (text, ("transfer", "balance", "hours"), "amount")
    assert wanted.question == "How much?"


@pytest.mark.req("D-05")
def test_cancel_at_a_question_goes_through_understanding() -> None:
    talker = at_amount().says("cancel")
    moves = [dict(line.data)["after"] for line in talker.state.trace if line.event == "transition"]
    assert moves[-3:] == ["understanding", "completed", "idle"]


# -- D-06: validate before writing


@pytest.mark.req("D-06")
@pytest.mark.graveyard(24)
def test_a_value_is_written_only_after_it_was_checked() -> None:
    talker = at_amount().says("fifty")
    assert talker.phase == "validating_slot"
    assert "amount" not in talker.slots
    talker.invalid("You have only forty.")
    assert talker.said == "You have only forty. How much?"
    assert "amount" not in talker.slots
    assert talker.says("thirty").valid(30).slots["amount"] == 30


@pytest.mark.req("D-06")
def test_a_refusal_without_a_reason_has_words_too() -> None:
    assert at_amount().says("fifty").invalid().said == "That amount doesn't work. How much?"


@pytest.mark.req("D-06")
def test_the_normalised_value_is_stored() -> None:
    talker = talk(
        Collect("day", "day"), slots=(SlotSpec("day", SlotKind.DATE, "When?", prefers="last", normaliser="n"),)
    )
    talker.says("next Friday")
    assert talker.checks.value == "2025-12-12"
    assert talker.valid("2025-12-12T00:00").slots["day"] == "2025-12-12T00:00"


@pytest.mark.req("D-06", "D-07")
def test_a_refused_correction_leaves_the_old_value() -> None:
    talker = at_confirmation().says("change the amount to five hundred").invalid("Too much.")
    assert talker.slots["amount"] == 50
    assert talker.said == "Too much. Send 50 to Anna?"


@pytest.mark.graveyard(24)
@pytest.mark.parametrize("value", [0, False, ""])
def test_only_none_is_unfilled(value: object) -> None:
    program = (Collect("one", "one"), SayText("told", "Thanks."))
    talker = talk(*program, slots=(number("one"),), one=value)  # type: ignore[arg-type]
    assert talker.said == "Thanks."
    asked = (
        talk(Collect("one", "one"), PerformAction("go", "go"), slots=(number("one", validator="v"),))
        .says("zero")
        .valid(0)
    )
    assert asked.runs[0].slots == (("one", 0),)
    assert not parse("one is None").holds({"one": value})


# -- D-07: corrections


@pytest.mark.req("D-07")
def test_a_correction_says_so_and_goes_on_with_the_open_question() -> None:
    talker = at_amount().says("change the to to Bob")
    assert talker.said.startswith("Got it, I've updated your to to Bob.")
    assert talker.slots["to"] == "Bob"


@pytest.mark.req("D-07")
def test_what_depends_on_a_corrected_slot_is_asked_again_and_nothing_else() -> None:
    talker = at_confirmation().says("change the to to Bob")
    assert talker.said == "Got it, I've updated your to to Bob. Which account?"
    assert talker.slots == {"to": "Bob", "amount": 50}
    assert talker.says("X Y 3 4").said == "Send 50 to Bob?"


@pytest.mark.req("D-07", "D-09")
@pytest.mark.parametrize("text", ["no, make it sixty", "sixty", "actually sixty", "change the amount to sixty"])
def test_no_make_it_five_works_in_one_turn(text: str) -> None:
    talker = at_confirmation().says(text)
    assert (talker.checks.slot, talker.checks.value) == ("amount", 60)
    assert talker.valid(60).said == "Got it, I've updated your amount to 60. Send 60 to Anna?"


@pytest.mark.req("D-07")
def test_no_make_it_five_works_at_the_next_question() -> None:
    talker = talk(Collect("amount", "amount"), Collect("size", "size"), slots=(AMOUNT, SIZE))
    talker.says("four", "no, make it five")
    assert talker.slots == {"amount": 5}
    assert talker.said == "Got it, I've updated your amount to 5. size?"


@pytest.mark.req("D-07")
def test_a_correction_that_a_branch_went_by_takes_the_other_way() -> None:
    talker = at_confirmation().says("make it five hundred").valid(500)
    assert talker.said == "Got it, I've updated your amount to 500. What for?"


@pytest.mark.req("D-05", "D-07")
@pytest.mark.parametrize("text", ["well that is a pity", "it is urgent", "make it quick", "it's for my mother"])
def test_a_remark_is_no_correction_of_a_name(text: str) -> None:
    # Once: "make it quick" sends the money to "quick": an open name reads anything, as free text does.
    assert at_amount().says(text).slots["to"] == "Anna"


@pytest.mark.req("D-07", "D-09")
def test_no_with_a_new_value_from_nlu_is_a_correction() -> None:
    # Once: (Deny, CorrectSlot) at a confirmation cancels the flow and drops the value; NLU and language models give
    # exactly that for "no, I meant sixty".
    talker = at_confirmation().says(OTHER).means(Deny(), CorrectSlot("amount", 60))
    assert talker.phase == "validating_slot"


def test_no_with_a_value_from_nlu_at_a_question_is_that_value() -> None:
    # Once: (Deny, SetSlot) where no value is proposed counts as a miss, and the value is dropped.
    talker = at_amount().says(OTHER).means(Deny(), SetSlot("amount", 50))
    assert talker.phase == "validating_slot"


def test_yes_with_a_value_from_nlu_keeps_the_value() -> None:
    # Once: (Affirm, SetSlot) drops the value, at a question with a proposal and without.
    talker = talk(
        Collect("size", "size", proposed="usual"), Collect("n", "n"), slots=(SIZE, number("n")), usual="large"
    )
    talker.says(OTHER).means(Affirm(), SetSlot("n", 3))
    assert talker.slots == {"usual": "large", "size": "large", "n": 3}


# -- D-08: actions


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


def test_going_back_from_a_slot_that_an_action_wants_asks_the_one_before() -> None:
    # Once: what the action needs is asked again instead: `needs` outlives the step.
    talker = talk(Collect("amount", "amount"), PerformAction("pay", "pay"), slots=(AMOUNT, number("pin")))
    talker.says("two").done(needs=("pin",)).says("go back")
    assert talker.said == "amount?"


def test_going_back_after_a_slot_that_an_action_wanted_does_not_break() -> None:
    # Once: StopIteration: `_go_back` looks for a Collect of a slot that only the action asked for.
    talker = talk(Collect("amount", "amount"), PerformAction("pay", "pay"), slots=(AMOUNT, number("pin")))
    talker.says("two").done(needs=("pin",)).says("four").done(confirm="Really?").says("go back")
    assert talker.phase == "waiting_for_slot"


def test_an_actions_question_is_asked_about_the_values_of_now() -> None:
    # Once: "Pay 2?" is asked again after the amount became 5, and a yes to it pays 5.
    talker = talk(Collect("amount", "amount"), PerformAction("pay", "pay"), slots=(AMOUNT,))
    talker.says("two").done(confirm="Pay 2?").says("no, make it five")
    assert talker.runs
    assert "Pay 2?" not in talker.said


def test_an_actions_question_does_not_outlive_its_failure() -> None:
    # Once: `confirm` and `needs` stay when a failure leads on: the next action asks the question of the first.
    talker = talk(PerformAction("pay", "pay", on_failure=2), Jump("over", 3), PerformAction("report", "report"))
    talker.done(confirm="Pay?").says("yes").fails()
    assert [run.action for run in talker.runs] == ["report"]


# -- D-09: confirmation


@pytest.mark.req("D-09")
@pytest.mark.parametrize("text", ["yes", "sure, go ahead", "yes, that's right"])
def test_yes_leads_to_the_action(text: str) -> None:
    assert at_confirmation().says(text).phase == "executing_action"


@pytest.mark.req("D-09")
def test_no_ends_the_flow() -> None:
    talker = at_confirmation().says("no")
    assert (talker.phase, talker.said) == ("idle", "All right, let's leave it.")
    assert talker.slots["amount"] == 50


@pytest.mark.req("D-09")
def test_no_may_lead_elsewhere() -> None:
    talker = talk(
        Confirm("sure", "Sure?", on_no=2), Jump("over", 3), SayText("well", "Well then."), SayText("end", "Bye.")
    )
    assert talker.says("no").said == "Well then. Bye."


@pytest.mark.req("D-09")
def test_a_change_without_a_value_is_understood() -> None:
    talker = at_confirmation().says("I would like to change something about it")
    assert talker.phase == "understanding"


@pytest.mark.req("D-09")
def test_cancel_at_a_confirmation_cancels_even_if_a_no_leads_elsewhere() -> None:
    # Once: "cancel" is read as a no; where a no leads back to the question, nothing gets out of it.
    talker = talk(Collect("size", "size"), Confirm("sure", "{size}?", on_no=0), slots=(SIZE,))
    assert talker.says("small", "cancel", "cancel").phase == "idle"


def test_a_no_that_leads_to_an_answered_question_asks_it_again() -> None:
    # Once: the slot is filled, so the question is skipped and the same yes is asked for: no, no, no for ever.
    talker = talk(Collect("size", "size"), Confirm("sure", "{size}?", on_no=0), slots=(SIZE,)).says("small", "no")
    assert talker.said == "size?"


def test_yes_to_a_proposed_value_means_it() -> None:
    program = Collect("size", "size", "Is {proposed} all right?", proposed="usual")
    talker = talk(program, slots=(SIZE,), usual="large")
    assert talker.said == "Is large all right?"
    assert talker.says("yes").slots["size"] == "large"


def test_no_to_a_proposed_value_asks_without_it() -> None:
    program = Collect("size", "size", "Is {proposed} all right?", proposed="usual")
    talker = talk(program, slots=(SIZE,), usual="large").says("no")
    assert (talker.phase, talker.said) == ("waiting_for_slot", "size?")


def test_nothing_to_propose_asks_without_it() -> None:
    # Once: "Is all right?": the prompt with a gap is used though there is no value for it.
    talker = talk(Collect("size", "size", "Is {proposed} all right?", proposed="usual"), slots=(SIZE,))
    assert talker.said == "size?"


# -- D-10, D-12: the end, and help


@pytest.mark.req("D-10")
def test_a_completed_flow_leaves_its_slots_and_nothing_else() -> None:
    talker = at_confirmation().says("yes").done(ref="R1")
    state = talker.state
    assert (talker.phase, state.current_flow, state.waiting_for, state.stack) == ("idle", "none", None, ())
    assert talker.slots == {"to": "Anna", "account": "AB12", "amount": 50, "ref": "R1"}
    moves = [dict(line.data)["after"] for line in state.trace if line.event == "transition"]
    assert moves[-2:] == ["completed", "idle"]


@pytest.mark.req("D-10")
@pytest.mark.parametrize("text", ["help", "what can you do?"])
def test_help_is_answered_when_nothing_is_open(text: str) -> None:
    talker = Talker(TRANSFER).says(text)
    assert (talker.phase, talker.said) == ("idle", "I can help you with: do transfer, do balance, do hours.")


@pytest.mark.req("D-12")
def test_what_nobody_understands_is_help_at_rest_and_a_miss_at_a_question() -> None:
    assert Talker(TRANSFER).says("colourless green ideas").means().said.startswith("Sorry, I didn't understand.")
    talker = at_amount().says("colourless green ideas").means()
    assert (talker.phase, talker.state.misses) == ("waiting_for_slot", 1)
    assert talker.said == "Sorry, I didn't get that. How much?"


@pytest.mark.parametrize("text", ["repeat", "go back", "skip"])
def test_every_message_at_rest_gets_an_answer(text: str) -> None:
    # Once: silence: `repeat` with nothing said yet, `back` and `skip` with nothing open.
    assert Talker(TRANSFER).says(text).said


def test_a_value_understood_at_rest_gets_an_answer() -> None:
    # Once: silence: NLU found a value and no flow.
    assert Talker(TRANSFER).says("fifty for Anna").means(SetSlot("amount", 50)).said


def test_cancelling_an_error_at_rest_gets_an_answer() -> None:
    # Once: silence.
    talker = Talker(TRANSFER).says("colourless green ideas").fails().says("cancel")
    assert talker.phase == "idle"
    assert talker.said


def test_a_new_task_never_tells_values_of_an_old_one() -> None:
    # Once: gaps are filled from `kept`: a transfer whose action returned no ref tells the ref of the last one.
    talker = (
        at_confirmation().says("yes").done(ref="R1").starts("transfer").says("Bob", "X Y 3 4").says("fifty").valid(50)
    )
    assert "R1" not in talker.says("yes").done().said


# -- The ladder, digressions, commands


def test_misses_and_silences_are_counted_apart() -> None:
    spec = replace(AMOUNT, reprompts=("Once more?", "A number?"), silence_prompts=("Hello?",))
    about = replace(domain(flow("task", Collect("amount", "amount")), slots=(spec,)), misses_max=3, tries_max=5)
    talker = Talker(about).starts("task")
    assert talker.says("").said == "Once more?"
    assert talker.says("").said == "A number?"
    assert talker.silence().said == "Hello?"
    assert (talker.state.misses, talker.state.silences) == (0, 1)
    assert talker.says("").said == "Once more?"


@pytest.mark.parametrize("gives_up_by", ["cancel", "handoff"])
def test_it_is_given_up_after_too_many_misses(gives_up_by: str) -> None:
    about = domain(flow("task", Collect("amount", "amount")), slots=(AMOUNT,), gives_up_by=gives_up_by)
    talker = Talker(about).starts("task").says("", "")
    assert talker.phase == "idle"
    assert any(isinstance(effect, HandOver) for effect in talker.effects) is (gives_up_by == "handoff")


@pytest.mark.parametrize("gives_up_by", ["cancel", "handoff"])
def test_it_is_given_up_after_too_much_silence(gives_up_by: str) -> None:
    # Once: AssertionError: waiting_for_slot -> completed is not in the matrix.
    about = domain(flow("task", Collect("amount", "amount")), slots=(AMOUNT,), gives_up_by=gives_up_by)
    assert Talker(about).starts("task").silence(2).phase == "idle"


def test_a_miss_at_one_question_is_not_told_at_the_next() -> None:
    # Once: a yes or no to a confirmation doesn't reset the count: "Sorry, I didn't get that." is said to what was got.
    talker = talk(Confirm("sure", "Sure?"), Collect("size", "size"), slots=(SIZE,)).says("", "yes")
    assert talker.said == "size?"


@pytest.mark.graveyard(19)
def test_a_digression_returns_to_the_open_question() -> None:
    talker = at_amount().says("when are you open, by the way?").means(StartFlow("hours"))
    assert talker.said == "We are open from nine to five. Back to where we were. How much?"
    assert (talker.phase, talker.state.waiting_for) == ("waiting_for_slot", "amount")
    at_yes = at_confirmation().says("when are you open, by the way?").means(StartFlow("hours"))
    assert at_yes.said.endswith("Send 50 to Anna?")


def test_a_person_takes_over_from_everything_that_is_open() -> None:
    # Once: "Back to where we were." is said in between.
    talker = at_amount().says("what is my balance?").means(StartFlow("balance")).fails().says(OTHER)
    talker.means(Handoff())
    assert (talker.phase, talker.said) == ("idle", "I'll put you through to a person.")


def test_a_called_flow_that_goes_over_to_another_comes_back_behind_the_call() -> None:
    # Once: the call is made again, for ever, and cancel never gets out.
    talker = Talker(RELAY.domain).starts("outer").says("small")
    assert [run.action for run in talker.runs] == ["finish"]


def test_skipping_drops_the_candidates_of_the_question() -> None:
    # Once: "Did you mean 6:30 am or 6:30 pm?" is asked for the next slot.
    hour = SlotSpec("hour", SlotKind.TIME, "When?", is_optional=True)
    talker = talk(Collect("hour", "hour"), Collect("size", "size"), slots=(hour, SIZE)).says("half past six", "skip")
    assert talker.slots["hour"] == ANY
    assert talker.said == "All right, we leave that out. size?"


def test_going_back_asks_the_question_before_and_takes_its_dependants() -> None:
    talker = at_amount().says("go back")
    assert talker.said == "Which account?"
    assert talker.slots == {"to": "Anna"}


def test_a_slot_that_is_cleared_is_asked_for_again() -> None:
    # Once: only dependants are looked for; the cleared slot itself is never asked for, and the action runs without it.
    talker = talk(Collect("size", "size"), Collect("colour", "colour"), PerformAction("go", "go"), slots=(SIZE, COLOUR))
    talker.says("small", OTHER).means(ClearSlot("size"))
    assert talker.says("red").phase == "waiting_for_slot"


def test_what_was_left_out_is_never_said_by_its_code() -> None:
    # Once: it asks for a table "at dontcare".
    hour = SlotSpec("hour", SlotKind.TIME, "When?", is_optional=True)
    talker = talk(Collect("hour", "hour"), Confirm("sure", "A table at {hour}?"), slots=(hour,)).says("skip")
    assert ANY not in talker.said


# -- D-15, D-16


@pytest.mark.req("D-15")
def test_the_same_message_is_understood_once_within_a_second() -> None:
    asked: list[str] = []
    clock = [0]

    class Counting:
        async def understand(self, message: str, scope: MessageScope) -> Understanding:
            asked.append(message)
            return Understanding()

    async def run() -> None:
        nlu, scope = CachedNlu(Counting(), lambda: clock[0]), MessageScope((Intent("a", ("a",)),))
        for now in (0, 999, 2_500):
            clock[0] = now
            await nlu.understand("hello", scope)

    asyncio.run(run())
    assert asked == ["hello", "hello"]


def flying() -> Talker:
    return Talker(FLIGHTS).says("I want to book a flight").means(StartFlow("book_flight"))


@pytest.mark.req("D-16")
def test_the_flight_booking_of_the_source_word_for_word() -> None:
    talker = flying()
    assert (talker.said, talker.step) == ("Where would you like to fly from?", "collect_origin")
    assert talker.says("New York").valid("New York").said == "Where would you like to fly to?"
    assert talker.says("Los Angeles").valid("Los Angeles").said == "When would you like to depart?"
    talker.says("Next Friday").valid("2025-12-12")
    assert (talker.phase, talker.step, talker.state.waiting_for) == ("executing_action", "search_flights", None)
    talker.done(booking_ref="BK-98765")
    assert talker.said == "Your flight is booked! Booking reference: BK-98765"
    assert (talker.phase, talker.state.current_flow) == ("idle", "none")
    assert talker.slots == {
        "origin": "New York",
        "destination": "Los Angeles",
        "departure_date": "2025-12-12",
        "booking_ref": "BK-98765",
    }


@pytest.mark.req("D-07", "D-16")
def test_the_correction_of_the_source_word_for_word() -> None:
    talker = flying().says("New York").valid("New York").says("Actually, change the origin to Boston").valid("Boston")
    assert talker.said == "Got it, I've updated your origin to Boston. Where would you like to fly to?"
    assert (talker.phase, talker.step) == ("waiting_for_slot", "collect_destination")
    assert (talker.state.waiting_for, talker.slots) == ("destination", {"origin": "Boston"})


# -- The failures of others


@pytest.mark.graveyard(19)
def test_a_step_that_was_taken_stays_taken_whatever_is_said_meanwhile() -> None:
    talker = at_amount().says("fifty")
    request = talker.state.pending
    talker.says("wait")
    assert (talker.phase, talker.state.pending) == ("validating_slot", request)
    assert talker.valid(50).slots["amount"] == 50


@pytest.mark.graveyard(24)
def test_what_one_conversation_says_stays_in_it() -> None:
    first, second = at_amount(), Talker(TRANSFER)
    second.says("help")
    assert first.slots == {"to": "Anna", "account": "AB12"}
    assert second.slots == {}
    assert "How much?" not in second.said


# -- Days that have passed


@pytest.mark.req("D-06")
def test_a_day_that_has_passed_is_refused_before_anybody_checks_it() -> None:
    day = SlotSpec("day", SlotKind.DATE, "Which day?", validator="free", is_future=True)
    talker = talk(Collect("day", "day"), slots=(day,)).says("yesterday")
    assert (talker.said, talker.state.waiting_for, talker.state.tries) == ("That day has passed. Which day?", "day", 1)
    assert talker.says("today").checks.value == TODAY


def test_a_correction_to_a_day_that_has_passed_leaves_the_old_one() -> None:
    day = SlotSpec("day", SlotKind.DATE, "Which day?", is_future=True)
    talker = talk(Collect("day", "day"), Collect("size", "size"), slots=(day, SIZE)).says("tomorrow")
    talker.says("change the day to yesterday")
    assert talker.slots == {"day": "2025-12-03"}
    assert talker.said == "That day has passed. size?"


def test_elsewhere_yesterday_is_a_day_like_any_other() -> None:
    talker = talk(Collect("day", "day"), slots=(SlotSpec("day", SlotKind.DATE, "Which day?"),)).says("yesterday")
    assert talker.state.phase is Phase.IDLE
