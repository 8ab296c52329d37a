"""Messages that arrive while a request is running."""

from __future__ import annotations

from dataclasses import replace

from duologue.dialogue.commands import CorrectSlot, Repeat
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, Domain, PerformAction, SlotSpec
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import OTHER, SIZE, TRANSFER, Talker, number, talk


def working(about: Domain = TRANSFER) -> Talker:
    return Talker(about).starts("transfer").says("Anna", "A B 1 2", "fifty")


def test_a_message_is_refused_in_words_when_the_queue_is_full() -> None:
    # Past bug: the oldest one was silently dropped.
    talker = working(replace(TRANSFER, queue_max=3)).says("one", "two", "three")
    assert talker.said == ""
    talker.says("four")
    assert talker.state.queue == ("one", "two", "three")
    assert talker.said == "One moment, please. I could not take that in yet."
    assert talker.phase == "validating_slot"


def test_queued_messages_are_processed_in_order() -> None:
    # Past bug: a correction was taken for a yes or no without a question, and dropped.
    talker = working(replace(TRANSFER, queue_max=3)).says("change the amount to sixty", "cancel").valid(50)
    assert talker.checks.value == 60
    assert talker.valid(60).phase == "idle"


def test_a_question_changed_by_a_queued_message_is_asked_once() -> None:
    # Past bug: "Send 50 to Anna? Got it … 60 … Send 60 to Anna?" in one response.
    talker = working().says("change the amount to sixty").valid(50)
    assert talker.said == ""
    assert talker.valid(60).said == "Got it, I've updated your amount to 60. Send 60 to Anna?"


def test_a_message_said_before_a_question_is_not_a_failed_try() -> None:
    # Past bug: it counted as a miss, and the user was asked for yes or no to a question not asked yet.
    about = domain(
        flow("task", PerformAction("find", "find", outputs=(("size", "size"),)), Confirm("sure", "Sure?")),
        slots=(SIZE,),
    )
    talker = Talker(about).starts("task").says("change the size to enormous").done(size="small")
    talker.means(CorrectSlot("nothing", 1))
    assert talker.said.endswith("Sure?")
    talker = Talker(about).starts("task").says("skip").done(size="small")
    assert (talker.said.count("Sure?"), talker.state.tries, talker.state.misses) == (1, 0, 0)


def test_repeat_asks_a_question_that_was_not_asked_yet() -> None:
    talker = working().says(OTHER).valid(50).means(Repeat())
    assert talker.said == "Send 50 to Anna?"


NAME = SlotSpec("guest", SlotKind.NAME, "Which name?", label="name")


def acting() -> Talker:
    wish = SlotSpec("wish", SlotKind.TEXT, "Any wishes?")
    talker = talk(
        Collect("a", "amount"), PerformAction("look", "look"), Collect("b", "wish"), slots=(number("amount"), wish)
    )
    return talker.says("five")


def test_a_message_said_before_the_question_is_not_a_miss() -> None:
    talker = acting().says(OTHER).done().means()
    assert (talker.state.misses, talker.state.tries) == (0, 0)
    assert talker.said == "Sorry, I didn't get that. Any wishes?"


def test_a_message_said_before_the_question_is_not_its_answer() -> None:
    # Past bug: "are you still there" was the wish.
    talker = acting().says("it is so quiet here").done().means()
    assert "wish" not in talker.slots
    assert talker.says("a quiet room, with a view of the sea").means().slots["wish"].startswith("a quiet room")  # type: ignore[union-attr]


def test_an_answer_in_two_messages_is_still_an_answer() -> None:
    # Past bug: the second half waited for the first to be understood, and was then not taken as an answer.
    talker = talk(Collect("a", "amount"), Collect("b", "guest"), slots=(NAME, number("amount")))
    talker.says(OTHER, "five").means()
    assert talker.slots == {"amount": 5}
    assert talker.said.endswith("Which name?")


def test_a_queued_yes_confirms_nothing() -> None:
    talker = talk(
        Collect("a", "amount"), Confirm("sure", "{amount}?"), PerformAction("send", "send"), slots=(number("amount"),)
    )
    talker.says("five", OTHER, "yes").means()
    assert (talker.phase, talker.runs) == ("confirming", [])
