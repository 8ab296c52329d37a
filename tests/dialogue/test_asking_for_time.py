"""A user who asks for a moment gets it: the question stays open, and nothing counts as a miss."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import NeedTime
from duologue.dialogue.english import Direct, Question, Slot, SlotKind, SpokenCommand, read
from tests.dialogue.dialogue_flows import OTHER, TRANSFER, Talker, at_amount, at_confirmation

THE_DAY = "2026-03-04"


@pytest.mark.req("D-12")
@pytest.mark.parametrize("said", ["hold on", "one moment please", "uh, let me think", "Wait a second."])
def test_a_moment_is_given_and_the_question_is_not_asked_again(said: str) -> None:
    talker = at_amount().says(said)
    assert talker.said == "Take your time."
    assert not talker.asked_nlu
    assert (talker.phase, talker.state.waiting_for) == ("waiting_for_slot", "amount")
    assert talker.says("fifty").checks.value == 50


def test_asking_for_time_is_never_a_failed_try() -> None:
    talker = at_amount()
    for _ in range(20):
        talker.says("hold on")
    assert talker.state.tries == talker.state.misses == 0
    assert talker.phase == "waiting_for_slot"


def test_the_question_can_be_repeated_afterwards() -> None:
    assert at_amount().says("hold on", "what was that").said == "How much?"


@pytest.mark.req("D-09")
def test_at_a_confirmation_it_is_neither_yes_nor_no() -> None:
    talker = at_confirmation().says("wait")
    assert (talker.said, talker.phase, talker.runs) == ("Take your time.", "confirming", [])
    assert talker.says("yes").runs


@pytest.mark.req("D-09")
@pytest.mark.parametrize("said", ["not yet", "no, not yet", "well, not just yet please"])
def test_not_yet_does_not_cancel_the_task(said: str) -> None:
    talker = at_confirmation().says(said)
    assert (talker.said, talker.phase) == ("Take your time.", "confirming")
    assert talker.says("yes").runs


@pytest.mark.req("D-11")
def test_in_an_error_the_error_stays_open() -> None:
    talker = at_confirmation().says("yes").fails().says("one moment")
    assert (talker.said, talker.phase) == ("Take your time.", "error")
    assert talker.state.trouble is not None
    assert talker.says("retry").runs


def test_it_is_answered_when_no_task_is_open() -> None:
    talker = Talker(TRANSFER).says("hold on")
    assert (talker.said, talker.phase) == ("Take your time.", "idle")


@pytest.mark.req("D-17")
def test_nlu_may_understand_it_as_well() -> None:
    assert at_amount().says(OTHER).means(NeedTime()).said == "Take your time."


def test_asking_for_time_before_a_question_does_not_stop_it_from_being_asked() -> None:
    talker = Talker(TRANSFER).starts("transfer").says("Anna", "A B 1 2", "200").says("hold on").valid(200)
    assert talker.said == "What for?"


def test_a_minute_is_an_answer_where_it_is_asked_how_long() -> None:
    length = Question(Slot("length", SlotKind.DURATION), "How long?")
    assert isinstance(read(length, "one minute", THE_DAY), Direct)
    assert read(length, "hold on", THE_DAY) == SpokenCommand("wait")
    assert read(Question(Slot("people", SlotKind.NUMBER)), "one minute", THE_DAY) == SpokenCommand("wait")


@pytest.mark.parametrize("kind", [SlotKind.NUMBER, SlotKind.MONEY, SlotKind.NAME, SlotKind.TIME, SlotKind.TEXT])
@pytest.mark.parametrize("said", ["one moment", "hang on"])
def test_asking_for_time_is_not_a_value_of_another_kind(kind: SlotKind, said: str) -> None:
    assert read(Question(Slot("asked", kind)), said, THE_DAY) == SpokenCommand("wait")
