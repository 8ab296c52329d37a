"""How often a question is asked in vain, whatever goes wrong; and messages that can't wait are refused, not lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.commands import Affirm, CorrectSlot, Deny, Help, Repeat, SetSlot
from duologue.dialogue.effects import HandOver
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, Domain, PerformAction, SlotSpec
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import AMOUNT, OTHER, SIZE, TRANSFER, Talker, at_amount, choice, number, talk

CHECKED = number("amount", validator="enough")
PATIENT = replace(domain(flow("task", Collect("amount", "amount")), slots=(CHECKED,)), misses_max=3, tries_max=5)


def miss(talker: Talker) -> None:
    talker.says("")


def silence(talker: Talker) -> None:
    talker.silence()


def refuse(talker: Talker) -> None:
    talker.says("fifty").invalid("Too much.")


def help_and_miss(talker: Talker) -> None:
    talker.says("help").says("")


def times_until_given_up(talker: Talker, *ways: object) -> int:
    """How often these are done, one after the other and all over again, before it is given up."""
    for count in range(1, 40):
        ways[(count - 1) % len(ways)](talker)  # type: ignore[operator]
        if talker.phase == "idle":
            return count
    return 0


@pytest.mark.req("D-06", "D-12")
@pytest.mark.parametrize(
    ("ways", "times"),
    [
        ((miss,), 4),
        ((silence,), 4),
        ((miss, silence), 6),
        ((silence, silence, miss), 6),
        ((refuse,), 6),
        ((refuse, miss), 6),
        ((refuse, silence, miss), 6),
        ((help_and_miss,), 6),
    ],
    ids=lambda ways: " ".join(way.__name__ for way in ways) if isinstance(ways, tuple) else "",
)
def test_whatever_goes_wrong_by_turns_a_question_is_given_up(ways: tuple[object, ...], times: int) -> None:
    # Once: a miss and a silence reset each other and a refusal counts for nothing: asked for ever.
    assert times_until_given_up(Talker(PATIENT).starts("task"), *ways) == times


def test_giving_up_after_refusals_says_why_and_that_it_is_over() -> None:
    talker = Talker(PATIENT).starts("task")
    times_until_given_up(talker, refuse)
    assert talker.said == "Too much. I'm sorry, I could not get that. Let's leave it here."


def test_refusals_lead_to_a_person_where_giving_up_does() -> None:
    talker = Talker(replace(PATIENT, gives_up_by="handoff")).starts("task")
    times_until_given_up(talker, refuse, silence)
    assert any(isinstance(effect, HandOver) for effect in talker.effects)
    assert talker.said.endswith("I'll put you through to a person.")


def test_a_yes_to_a_question_that_wants_none_is_not_asked_for_ever() -> None:
    # Once: what NLU understood resets the count before it turns out to be no answer.
    for command in (Affirm(), Deny()):
        talker = Talker(PATIENT).starts("task")
        assert times_until_given_up(talker, lambda one, command=command: one.says(OTHER).means(command)) > 0


def test_a_code_that_is_never_heard_right_is_given_up() -> None:
    # Once: "no" to what is read back asks again without end.
    code = SlotSpec("code", SlotKind.CODE, "Code?", reads_back=True)
    talker = talk(Collect("code", "code"), slots=(code,))
    assert times_until_given_up(talker, lambda one: one.says("A B 1 2", "no")) > 0


def test_an_answer_that_stays_ambiguous_is_given_up() -> None:
    talker = talk(Collect("hour", "hour"), slots=(SlotSpec("hour", SlotKind.TIME, "When?"),))
    assert times_until_given_up(talker, lambda one: one.says("half past six")) > 0


def test_a_value_that_is_given_again_and_again_with_a_refused_one_is_no_progress() -> None:
    talker = talk(Collect("size", "size"), Collect("amount", "amount"), slots=(SIZE, CHECKED)).says("small")
    assert times_until_given_up(talker, lambda one: one.says("change the size to small").says("fifty").invalid()) > 0


def test_the_next_question_begins_with_all_its_patience() -> None:
    about = domain(flow("task", Collect("amount", "amount"), Collect("size", "size")), slots=(CHECKED, SIZE))
    talker = Talker(about).starts("task").says("fifty").invalid().says("forty").valid(40)
    assert (talker.state.waiting_for, talker.state.tries) == ("size", 0)


def test_the_same_question_in_the_next_round_begins_anew_too() -> None:
    letters = choice("more", "a", "b")
    about = domain(flow("task", Confirm("go", "Go?", on_no=0), Collect("more", "more")), slots=(letters,))
    talker = Talker(about).starts("task").silence().says("no")
    assert talker.state.tries == 0


def test_asking_for_help_is_no_try() -> None:
    talker = at_amount()
    for _ in range(10):
        talker.says("help", "repeat").says(OTHER).means(Help())
    assert (talker.state.waiting_for, talker.state.tries) == ("amount", 0)


# -- What can't wait any longer


def working(about: Domain = TRANSFER) -> Talker:
    return Talker(about).starts("transfer").says("Anna", "A B 1 2", "fifty")


def test_a_message_that_can_not_wait_is_refused_in_words() -> None:
    # Once: the oldest one was dropped and nobody knew.
    talker = working(replace(TRANSFER, queue_max=3)).says("one", "two", "three")
    assert talker.said == ""
    talker.says("four")
    assert talker.state.queue == ("one", "two", "three")
    assert talker.said == "One moment, please. I could not take that in yet."
    assert talker.phase == "validating_slot"


def test_every_message_that_waits_is_heard_in_its_order() -> None:
    # Once: a change was taken for a yes or no that was said of nothing, and dropped.
    talker = working(replace(TRANSFER, queue_max=3)).says("change the amount to sixty", "cancel").valid(50)
    assert talker.checks.value == 60
    assert talker.valid(60).phase == "idle"


# -- What was said before a question was asked


def test_a_question_that_a_waiting_message_changes_is_asked_once_and_as_it_is_then() -> None:
    # Once: "Send 50 to Anna? Got it … 60 … Send 60 to Anna?" in one breath.
    talker = working().says("change the amount to sixty").valid(50)
    assert talker.said == ""
    assert talker.valid(60).said == "Got it, I've updated your amount to 60. Send 60 to Anna?"


def test_what_was_said_before_a_question_is_no_failure_to_answer_it() -> None:
    # Once: it counted as a miss, and the person was told to say yes or no to a question not heard yet.
    about = domain(
        flow("task", PerformAction("find", "find", outputs=(("size", "size"),)), Confirm("sure", "Sure?")),
        slots=(SIZE,),
    )
    talker = Talker(about).starts("task").says("change the size to enormous").done(size="small")
    talker.means(CorrectSlot("nothing", 1))
    assert talker.said.endswith("Sure?")
    talker = Talker(about).starts("task").says("skip").done(size="small")
    assert (talker.said.count("Sure?"), talker.state.tries, talker.state.misses) == (1, 0, 0)


def test_a_question_that_was_not_asked_yet_is_asked_rather_than_the_last_words_repeated() -> None:
    talker = working().says(OTHER).valid(50).means(Repeat())
    assert talker.said == "Send 50 to Anna?"


def test_a_change_in_between_loses_nothing_of_what_is_read_back() -> None:
    # Once: the code that was being read back and all that waited behind it were forgotten.
    code = SlotSpec("code", SlotKind.CODE, "code?", reads_back=True)
    about = domain(
        flow("task", Collect("amount", "amount"), Collect("code", "code"), Collect("size", "size")),
        slots=(AMOUNT, code, SIZE),
    )
    talker = Talker(about).starts("task").says("five").says(OTHER)
    talker.means(SetSlot("code", "AB12"), SetSlot("size", "large"))
    assert "Is that right?" in talker.said
    talker.says("change the amount to six")
    assert talker.slots["amount"] == 6
    assert talker.said == "Got it, I've updated your amount to 6. I have A B 1, 2. Is that right?"
    talker.says("yes")
    assert (talker.slots["code"], talker.slots["size"], talker.phase) == ("AB12", "large", "idle")
