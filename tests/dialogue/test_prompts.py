"""Questions: proposed values, reprompts, and how often a question is asked before it is given up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.commands import (
    Affirm,
    Deny,
    Help,
)
from duologue.dialogue.effects import HandOver
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, Confirm, SlotSpec
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import (
    AMOUNT,
    OTHER,
    SIZE,
    Talker,
    at_amount,
    choice,
    number,
    talk,
)


def test_yes_to_a_proposed_value_takes_it() -> None:
    program = Collect("size", "size", "Is {proposed} all right?", proposed="usual")
    talker = talk(program, slots=(SIZE,), usual="large")
    assert talker.said == "Is large all right?"
    assert talker.says("yes").slots["size"] == "large"


def test_no_to_a_proposed_value_asks_without_it() -> None:
    program = Collect("size", "size", "Is {proposed} all right?", proposed="usual")
    talker = talk(program, slots=(SIZE,), usual="large").says("no")
    assert (talker.phase, talker.said) == ("waiting_for_slot", "size?")


def test_nothing_to_propose_asks_without_it() -> None:
    # Past bug: "Is all right?": the prompt with a gap is used though there is no value for it.
    talker = talk(Collect("size", "size", "Is {proposed} all right?", proposed="usual"), slots=(SIZE,))
    assert talker.said == "size?"


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
def test_a_question_is_given_up_after_too_many_misses(gives_up_by: str) -> None:
    about = domain(flow("task", Collect("amount", "amount")), slots=(AMOUNT,), gives_up_by=gives_up_by)
    talker = Talker(about).starts("task").says("", "")
    assert talker.phase == "idle"
    assert any(isinstance(effect, HandOver) for effect in talker.effects) is (gives_up_by == "handoff")


@pytest.mark.parametrize("gives_up_by", ["cancel", "handoff"])
def test_a_question_is_given_up_after_too_much_silence(gives_up_by: str) -> None:
    # Past bug: AssertionError: waiting_for_slot -> completed is not in the matrix.
    about = domain(flow("task", Collect("amount", "amount")), slots=(AMOUNT,), gives_up_by=gives_up_by)
    assert Talker(about).starts("task").silence(2).phase == "idle"


def test_a_miss_at_one_question_is_not_mentioned_at_the_next() -> None:
    # Past bug: a yes or no didn't reset the count: an understood reply was answered by "Sorry, I didn't get that."
    talker = talk(Confirm("sure", "Sure?"), Collect("size", "size"), slots=(SIZE,)).says("", "yes")
    assert talker.said == "size?"


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
    """How often these are done in turn before the question is given up."""
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
    # Past bug: a miss and a silence reset each other and a refusal counts for nothing: asked for ever.
    assert times_until_given_up(Talker(PATIENT).starts("task"), *ways) == times


def test_giving_up_after_refusals_says_why_and_that_it_is_over() -> None:
    talker = Talker(PATIENT).starts("task")
    times_until_given_up(talker, refuse)
    assert talker.said == "Too much. I'm sorry, I could not get that. Let's leave it here."


def test_refusals_lead_to_a_handoff_if_giving_up_does() -> None:
    talker = Talker(replace(PATIENT, gives_up_by="handoff")).starts("task")
    times_until_given_up(talker, refuse, silence)
    assert any(isinstance(effect, HandOver) for effect in talker.effects)
    assert talker.said.endswith("I'll put you through to a person.")


def test_a_question_answered_only_by_yes_is_given_up() -> None:
    # Past bug: what NLU understood resets the count before it turns out to be no answer.
    for command in (Affirm(), Deny()):
        talker = Talker(PATIENT).starts("task")
        assert times_until_given_up(talker, lambda one, command=command: one.says(OTHER).means(command)) > 0


def test_a_code_that_is_never_heard_right_is_given_up() -> None:
    # Past bug: "no" to what is read back asks again without end.
    code = SlotSpec("code", SlotKind.CODE, "Code?", reads_back=True)
    talker = talk(Collect("code", "code"), slots=(code,))
    assert times_until_given_up(talker, lambda one: one.says("A B 1 2", "no")) > 0


def test_an_answer_that_stays_ambiguous_is_given_up() -> None:
    talker = talk(Collect("hour", "hour"), slots=(SlotSpec("hour", SlotKind.TIME, "When?"),))
    assert times_until_given_up(talker, lambda one: one.says("half past six")) > 0


def test_a_value_that_is_given_again_and_again_with_a_refused_one_is_no_progress() -> None:
    talker = talk(Collect("size", "size"), Collect("amount", "amount"), slots=(SIZE, CHECKED)).says("small")
    assert times_until_given_up(talker, lambda one: one.says("change the size to small").says("fifty").invalid()) > 0


def test_the_next_question_starts_with_zero_tries() -> None:
    about = domain(flow("task", Collect("amount", "amount"), Collect("size", "size")), slots=(CHECKED, SIZE))
    talker = Talker(about).starts("task").says("fifty").invalid().says("forty").valid(40)
    assert (talker.state.waiting_for, talker.state.tries) == ("size", 0)


def test_the_same_question_in_the_next_round_starts_with_zero_tries() -> None:
    letters = choice("more", "a", "b")
    about = domain(flow("task", Confirm("go", "Go?", on_no=0), Collect("more", "more")), slots=(letters,))
    talker = Talker(about).starts("task").silence().says("no")
    assert talker.state.tries == 0


def test_asking_for_help_is_not_a_failed_try() -> None:
    talker = at_amount()
    for _ in range(10):
        talker.says("help", "repeat").says(OTHER).means(Help())
    assert (talker.state.waiting_for, talker.state.tries) == ("amount", 0)


def test_apologies_vary_and_the_second_one_comes_with_help() -> None:
    about = replace(SIZE, help="It is on the label.")
    patient = Talker(replace(domain(flow("size", Collect("size", "size")), slots=(about,)), misses_max=3, tries_max=5))
    patient.starts("size")
    said = [patient.says(OTHER).means().said for _ in range(3)]
    assert said == [
        "Sorry, I didn't get that. size?",
        "I'm sorry, I still didn't get that. It is on the label. size?",
        "I'm sorry, I still didn't get that. size?",
    ]
