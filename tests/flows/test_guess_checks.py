"""Guesses of the local NLU that are ignored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.commands import (
    Affirm,
    Cancel,
    ChitChat,
    Command,
    Deny,
    Handoff,
    Help,
    NeedTime,
    Restart,
    Skip,
    StartFlow,
)
from duologue.dialogue.effects import Understand
from duologue.dialogue.state import DialogueState, Instance
from duologue.flows import parse_flows
from duologue.flows.nlu_commands import commands_of
from duologue.nlu.understanding import Guess, Understanding
from tests.flows.guessed_intents import DOMAIN, understood


def test_nlu_must_be_very_sure_of_a_command_at_a_free_text_question() -> None:
    flows = parse_flows("""
version: 1
slots:
  fault: {type: text, prompt: "What is wrong?"}
flows:
  report: {description: report, steps: [collect: fault]}
""")
    asked = Understand(1, "it doesn't work", (), ("fault",), "fault", "What is wrong?")
    for confidence, meant in ((0.7, ()), (0.97, (Help(),))):
        found = Understanding((Guess("help", confidence),), True, 0.99, by="minilm")
        assert commands_of(flows, DialogueState(), asked, found, "2026-03-04") == meant


def test_free_text_about_the_open_task_does_not_ask_for_it_again() -> None:
    flows = parse_flows("""
version: 1
slots:
  fault: {type: text, prompt: "What is wrong?"}
flows:
  report: {description: report, steps: [collect: fault]}
""")
    asked = Understand(1, "my phone is broken", ("report",), ("fault",), "fault", "What is wrong?")
    found = Understanding((Guess("flow report", 0.97),), True, 0.99, by="minilm")
    assert commands_of(flows, DialogueState(stack=(Instance(0, "report"),)), asked, found, "2026-03-04") == ()


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("text", "intent", "by", "meant"),
    [
        ("yes mate", "affirm", "minilm", (Affirm(),)),
        ("wait", "affirm", "minilm", ()),
        ("are you sure", "affirm", "words", ()),
        ("yes but for five", "affirm", "minilm", ()),
        ("yes and the twins need high chairs", "affirm", "minilm", ()),
        ("that's wrong", "deny", "minilm", (Deny(),)),
        ("sorry", "deny", "minilm", ()),
        ("makes sense", "affirm", "llm", (Affirm(),)),
    ],
)
def test_a_guessed_yes_or_no_must_be_in_the_message(
    text: str, intent: str, by: str, meant: tuple[Command, ...]
) -> None:
    asked = Understand(1, text, ("book_table",), (), question="A table for four. Shall I book it?")
    assert commands_of(DOMAIN, DialogueState(), asked, understood(intent, by), "2026-03-04") == meant


def test_cancel_it_after_shall_i_cancel_it_does_not_cancel_the_task() -> None:
    asked = Understand(1, "well then cancel it", ("book_table",), (), question="A table on Friday. Shall I cancel it?")
    assert commands_of(DOMAIN, DialogueState(), asked, understood("cancel", "minilm"), "2026-03-04") == ()
    other = Understand(1, "drop the whole thing", ("book_table",), (), question="A table. Shall I cancel it?")
    assert commands_of(DOMAIN, DialogueState(), other, understood("cancel", "minilm"), "2026-03-04") == (Cancel(),)


@pytest.mark.parametrize("text", ["leave it as it is", "just keep it like that"])
def test_leave_it_as_it_is_cancels_nothing(text: str) -> None:
    # Past bug: "leave it as it is", after "is that right?", ended the call's task.
    guess = understood("cancel", "minilm")
    asked = Understand(1, text, ("book_table",), (), question="A table on Friday. Is that right?")
    assert commands_of(DOMAIN, DialogueState(), asked, guess, "2026-03-04") == ()
    changing = Understand(1, text, ("book_table",), (), question="For how many?", waiting_for="people")
    assert commands_of(DOMAIN, DialogueState(), changing, guess, "2026-03-04") == (Skip(),)
    assert commands_of(DOMAIN, DialogueState(reading_back=True), changing, guess, "2026-03-04") == ()


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["on the weekend", "april 8", "three nights", "at nine pm", "20 euros"])
def test_a_bare_value_starts_no_task_while_something_is_asked(text: str) -> None:
    # Past bug: "on the weekend" started the flow with the opening hours, whose examples have such words.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, text, ("book_table", "cancel"), (), question="Inside or outside?")
    guess = understood("flow cancel", "minilm")
    assert commands_of(DOMAIN, asking, asked, guess, "2026-03-04") == ()
    assert commands_of(DOMAIN, DialogueState(), asked, guess, "2026-03-04") == (StartFlow("cancel"),)  # it is sure
    by_llm = commands_of(DOMAIN, asking, asked, understood("flow cancel", "llm"), "2026-03-04")
    assert by_llm == (StartFlow("cancel"),)


@pytest.mark.req("D-05")
@pytest.mark.parametrize("intent", ["flow cancel", "go_back", "start_over", "cancel"])
def test_an_unsure_guess_does_not_leave_the_open_question(intent: str) -> None:
    # Past bug: "the later one" took an answer back, and "it was gone when I came back" blocked a card.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, "the later one", ("book_table", "cancel"), (), question="At six or at eight?")
    unsure, sure = (Understanding((Guess(intent, how),), True, how, by="minilm") for how in (0.57, 0.7))
    assert commands_of(DOMAIN, asking, asked, unsure, "2026-03-04") == ()
    said = replace(asked, text="go back, cancel it and start over")
    assert commands_of(DOMAIN, asking, said, sure, "2026-03-04") != ()


@pytest.mark.req("D-05")
@pytest.mark.parametrize("intent", ["wait", "go_back", "start_over", "skip", "cancel"])
def test_a_command_needs_a_word_that_speaks_of_it(intent: str) -> None:
    # Past bug: "as soon as possible" was answered with "take your time".
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, "as soon as possible", ("book_table",), (), question="When?")
    guess = Understanding((Guess(intent, 0.8),), True, 0.8, by="minilm")
    assert commands_of(DOMAIN, asking, asked, guess, "2026-03-04") == ()


@pytest.mark.parametrize(("text", "meant"), [("no waiting", ()), ("wait, I don't have it here", (NeedTime(),))])
def test_no_waiting_is_not_a_request_for_time(text: str, meant: tuple[Command, ...]) -> None:
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, text, ("book_table",), (), question="How long should the driver wait?")
    assert commands_of(DOMAIN, asking, asked, understood("wait", "minilm"), "2026-03-04") == meant


@pytest.mark.parametrize(
    ("text", "meant"), [("wait how much is it", ()), ("sorry, can you wait a second", (NeedTime(),))]
)
def test_a_wait_that_opens_a_question_is_not_a_request_for_time(text: str, meant: tuple[Command, ...]) -> None:
    # Past bug: "wait how much is it" was answered with "take your time".
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, text, ("book_table",), (), question="When?")
    assert commands_of(DOMAIN, asking, asked, understood("wait", "minilm"), "2026-03-04") == meant


def test_a_question_about_cancelling_cancels_nothing() -> None:
    # Past bug: "is the booking free to cancel?" dropped the booking.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, "is the booking free to cancel?", ("book_table",), (), question="For how many?")
    assert commands_of(DOMAIN, asking, asked, understood("cancel", "minilm"), "2026-03-04") == ()


def test_an_unsure_cancel_is_ignored_when_nothing_is_open() -> None:
    # Past bug: "I don't mind" was answered by "There is nothing to cancel.".
    asked = Understand(1, "I don't mind", ("book_table",), ())
    guess = Understanding((Guess("cancel", 0.8),), True, 0.8, by="minilm")
    assert commands_of(DOMAIN, DialogueState(), asked, guess, "2026-03-04") == ()


@pytest.mark.parametrize(
    ("text", "confidence", "meant"),
    [
        ("you can call me", 0.66, ()),
        ("you can call me", 0.85, ()),
        ("put your manager on", 0.66, ()),
        ("put your manager on", 0.85, (Handoff(),)),
    ],
)
def test_an_open_task_is_handed_over_only_if_the_guess_is_sure_and_a_word_speaks_of_it(
    text: str, confidence: float, meant: tuple[Command, ...]
) -> None:
    # Past bug: "you can call me", after "shall we call you?", handed the call over to a human.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, text, ("book_table",), (), question="Shall we call you?")
    guess = Understanding((Guess("handoff", confidence),), True, confidence, by="minilm")
    assert commands_of(DOMAIN, asking, asked, guess, "2026-03-04") == meant


CARD = parse_flows("""
version: 1
slots:
  card: {type: choice, prompt: "Which card?", choices: [debit, credit]}
flows:
  block_card: {description: block a card, examples: [block my card, freeze my card], steps: [collect: card]}
  card_limit: {description: show the limit, examples: [what is my limit], steps: [collect: card]}
""")


def test_a_task_that_does_the_opposite_is_offered_and_not_started() -> None:
    asked = Understand(1, "please unblock my card", ("block_card", "card_limit"), (), None, "")
    found = Understanding((Guess("flow block_card", 0.97),), True, 0.99, by="minilm")
    (said,) = commands_of(CARD, DialogueState(), asked, found, "2026-03-04")
    assert said == ChitChat("I'm not sure I can do that. I can help you with: block a card.")


@pytest.mark.parametrize(
    ("text", "confidence", "meant"),
    [
        ("what is my limit now", 0.7, (StartFlow("card_limit"),)),
        ("the one from last year", 0.7, ()),
        ("the one from last year", 0.95, (StartFlow("card_limit"),)),
    ],
)
def test_an_open_question_is_not_left_for_a_task_that_shares_no_word(
    text: str, confidence: float, meant: tuple[Command, ...]
) -> None:
    asked = Understand(1, text, ("block_card", "card_limit"), ("card",), "card", "Which card?")
    found = Understanding((Guess("flow card_limit", confidence),), True, 0.99, by="minilm")
    state = DialogueState(stack=(Instance(0, "block_card"),), waiting_for="card")
    assert commands_of(CARD, state, asked, found, "2026-03-04") == meant


@pytest.mark.req("D-05")
def test_a_denied_word_of_the_open_question_does_not_deny_the_task() -> None:
    flows = parse_flows("""
version: 1
slots:
  firm: {type: text, prompt: "What's the name of the team?"}
flows:
  enter_team: {description: enter a team for the race, steps: [collect: firm]}
""")
    state, guess = DialogueState(stack=(Instance(0, "enter_team"),)), understood("flow enter_team", "minilm")
    asked = Understand(
        1, "we don't have a team name", ("enter_team",), ("firm",), "firm", "What's the name of the team?"
    )
    assert Cancel() not in commands_of(flows, state, asked, guess, "2026-03-04")
    confirming = replace(asked, text="not any team", waiting_for=None, question="Team Red. Shall I do that?")
    assert Cancel() not in commands_of(flows, state, confirming, guess, "2026-03-04")
    denied = replace(asked, text="I don't want to race")
    assert Cancel() in commands_of(flows, state, denied, guess, "2026-03-04")


@pytest.mark.req("D-05")
def test_even_a_sure_guess_needs_a_word_for_it_to_cancel_a_task() -> None:
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, "the usual place", ("book_table",), (), question="Where?")
    assert commands_of(DOMAIN, asking, asked, understood("cancel", "minilm"), "2026-03-04") == ()


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "is_started"),
    [
        ("is there a table by the window", False),
        ("how long can we have the table", False),
        ("can I book a table for Sunday as well", True),
        ("I need another table", True),
    ],
)
def test_a_question_right_after_a_task_starts_none(text: str, is_started: bool) -> None:
    # Past bug: "how long until I get my money", after a refund, opened another refund.
    ended = DialogueState(ended=Instance(1, "count"), ended_turn=3, turn_count=4)
    asked = Understand(1, text, ("book_table",), (), question="")
    commands = commands_of(DOMAIN, ended, asked, understood("flow book_table", "minilm"), "2026-03-04")
    assert (StartFlow("book_table") in commands) is is_started
    later = replace(ended, turn_count=40)
    assert StartFlow("book_table") in commands_of(DOMAIN, later, asked, understood("flow book_table"), "2026-03-04")


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "restarts"),
    [
        ("could the party begin half an hour later", False),
        ("we'd rather start from the back gate", False),
        ("can we start at nine instead of eight", False),
        ("let's start the whole thing over", True),
        ("oh dear let's begin again", True),
        ("i want to go from the top", True),
    ],
)
def test_to_start_something_is_not_to_start_over(text: str, restarts: bool) -> None:
    # Past bug: "can we start an hour later" lost all answers.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, text, ("book_table",), (), question="Shall I book it?")
    guess = Understanding((Guess("start_over", 0.97),), True, 0.97, by="minilm")
    assert (commands_of(DOMAIN, asking, asked, guess, "2026-03-04") == (Restart(),)) is restarts


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "is_wish"),
    [
        ("who'll ring me about it", False),
        ("will anybody ring me", False),
        ("you ring me back don't you", False),
        ("who can i talk to", True),
        ("is there a human there", True),
        ("i want somebody to help me", True),
    ],
)
def test_a_question_about_a_call_is_no_wish_for_a_person(text: str, is_wish: bool) -> None:
    # Past bug: "who'll be in touch with me" handed the call over.
    asked = Understand(1, text, ("book_table",), ())
    guess = Understanding((Guess("handoff", 0.97),), True, 0.97, by="minilm")
    assert (commands_of(DOMAIN, DialogueState(), asked, guess, "2026-03-04") == (Handoff(),)) is is_wish


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "is_wish"), [("when is it my turn then, how long is the wait", False), ("wait, give me two minutes", True)]
)
def test_a_question_for_a_time_is_no_request_for_time(text: str, is_wish: bool) -> None:
    # Past bug: "how long do I have to wait" was answered with "Take your time."
    asked = Understand(1, text, ("book_table",), ())
    guess = Understanding((Guess("wait", 0.97),), True, 0.97, by="minilm")
    state = DialogueState(stack=(Instance(1, "book_table"),))
    assert (commands_of(DOMAIN, state, asked, guess, "2026-03-04") == (NeedTime(),)) is is_wish
