"""Words of low confidence are asked again or read back, and decide nothing."""

from __future__ import annotations

import pytest

from duologue.dialogue.codec import from_json, to_json
from duologue.dialogue.commands import Cancel, Handoff, StartFlow
from duologue.dialogue.doubt import is_doubtful
from duologue.dialogue.effects import HandOver, RunAction
from duologue.dialogue.events import UserMessage
from duologue.dialogue.flow import Collect, Confirm, PerformAction
from tests.dialogue.dialogue_flows import (
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

UNSURE = 0.17


def mumbles(talker: Talker, *texts: str, confidence: float = UNSURE) -> Talker:
    for text in texts:
        talker.happen(UserMessage(text, 0, TODAY, confidence))
    return talker


def acted(talker: Talker) -> bool:
    return any(isinstance(effect, RunAction | HandOver) for effect in talker.effects)


@pytest.mark.parametrize("text", ["Okay.", "Uh-huh", "yes", "yes please"])
def test_a_doubtful_yes_is_asked_again_and_not_taken(text: str) -> None:
    # Past bug: a cough at "Shall I book it?" was heard as "Okay.", and the flight was booked.
    talker = mumbles(at_confirmation(), text)
    assert talker.phase == "confirming"
    assert not acted(talker)
    assert talker.said == "Sorry, did you say yes? Send 50 to Anna?"


def test_a_clear_yes_after_a_doubtful_one_is_taken() -> None:
    talker = mumbles(at_confirmation(), "yes").says("yes")
    assert [run.action for run in talker.runs] == ["send"]


@pytest.mark.parametrize("text", ["no", "cancel", "start over", "never mind"])
def test_a_doubtful_no_or_cancel_is_asked_again(text: str) -> None:
    talker = mumbles(at_confirmation(), text)
    assert talker.said == "Sorry, I'm not sure I heard you right. Send 50 to Anna?"
    assert talker.slots == {"to": "Anna", "account": "AB12", "amount": 50}
    assert talker.says("no", "no").phase == "idle"


def test_a_doubtful_cancel_at_a_question_keeps_the_task() -> None:
    talker = mumbles(at_amount(), "cancel")
    assert (talker.phase, talker.said) == ("waiting_for_slot", "Sorry, I'm not sure I heard you right. How much?")


def test_a_doubtful_request_for_a_person_is_asked_again() -> None:
    talker = mumbles(Talker(TRANSFER), "a person please")
    assert (talker.phase, talker.said) == ("idle", "Sorry, I'm not sure I heard you right.")
    assert not acted(talker)


@pytest.mark.parametrize("command", [Cancel(), Handoff(), StartFlow("balance")])
def test_what_nlu_makes_of_a_doubtful_message_decides_nothing(command: Cancel | Handoff | StartFlow) -> None:
    talker = mumbles(at_amount(), OTHER).means(command)
    assert not acted(talker)
    assert talker.said == "Sorry, I'm not sure I heard you right. How much?"
    assert (talker.state.current_flow, talker.state.is_doubtful) == ("transfer", False)


def test_a_doubtful_value_fills_its_slot_and_is_said_back() -> None:
    talker = mumbles(Talker(FLIGHTS).starts("book_flight"), "Chicago").valid("Chicago")
    assert talker.slots == {"origin": "Chicago"}
    assert talker.said == "So far I have origin Chicago. Where would you like to fly to?"
    assert talker.says("change the origin to Boston").valid("Boston").slots == {"origin": "Boston"}


def test_a_doubtful_value_is_confirmed_before_an_action_uses_it() -> None:
    talker = mumbles(talk(Collect("count", "count"), PerformAction("send", "send"), slots=(number("count"),)), "two")
    assert not acted(talker)
    assert talker.said == "I have count 2. Is that right?"
    assert not acted(mumbles(talker, "yes"))
    assert acted(talker.says("yes"))


def test_only_a_clear_reply_accepts_a_doubtful_value() -> None:
    first, second = number("first"), number("second")
    talker = talk(
        Collect("first", "first"), Collect("second", "second"), PerformAction("send", "send"), slots=(first, second)
    )
    mumbles(talker, "two", "three")
    assert talker.said == "I have first 2, second 3. Is that right?"


def test_a_value_that_an_action_asked_for_is_asked_again() -> None:
    talker = talk(PerformAction("pay", "pay"), slots=(number("pin"),)).done(needs=("pin",))
    mumbles(talker, "two")
    assert not acted(talker)
    assert (talker.said, talker.slots) == ("Sorry, I'm not sure I heard you right. pin?", {})


def test_a_retry_after_an_error_needs_clear_words() -> None:
    talker = mumbles(at_confirmation().says("yes").fails(), "okay")
    assert talker.phase == "error"
    assert not acted(talker)
    assert acted(talker.says("retry"))


def test_a_doubtful_message_during_a_request_is_refused_in_words() -> None:
    talker = mumbles(at_confirmation().says("yes"), "cancel")
    assert talker.said == "One moment, please. I could not take that in yet."
    assert talker.state.queue == ()


def test_a_retry_never_takes_up_a_doubtful_message_that_failed() -> None:
    talker = mumbles(at_amount(), OTHER).fails().says("retry")
    assert (talker.phase, talker.said) == ("waiting_for_slot", "How much?")


def test_doubtful_replies_are_failed_tries_and_come_to_an_end() -> None:
    talker = mumbles(at_confirmation(), *["yes"] * (TRANSFER.tries_max + 1))
    assert (talker.phase, talker.said.split(". ")[-1]) == ("idle", "Let's leave it here.")


def test_a_no_at_a_jump_back_keeps_the_answers() -> None:
    talker = talk(Collect("size", "size"), Confirm("sure", "{size}?", on_no=0), slots=(SIZE,)).says("large")
    assert mumbles(talker, "no").slots == {"size": "large"}
    assert talker.says("no").slots == {}


@pytest.mark.parametrize(("confidence", "expected"), [(1.0, False), (0.35, False), (0.34, True), (float("nan"), True)])
def test_the_limit_is_a_setting_of_the_domain(confidence: float, expected: bool) -> None:
    assert is_doubtful(TRANSFER, UserMessage("yes", 0, TODAY, confidence)) is expected


def test_doubt_survives_a_checkpoint_and_an_older_checkpoint_has_none() -> None:
    talker = mumbles(at_amount(), OTHER)
    saved = to_json(TRANSFER, talker.state)
    assert from_json(TRANSFER, saved).is_doubtful
    older = {name: value for name, value in saved.items() if name != "is_doubtful"} | {"version": 3}
    assert not from_json(TRANSFER, older).is_doubtful
