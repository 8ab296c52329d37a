"""From what NLU understood to commands: names are ids, and only words that somebody says are learned."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import Affirm, Cancel, Command, Deny, Handoff, SetSlot, Skip, StartFlow, Wait
from duologue.dialogue.effects import Understand
from duologue.dialogue.state import DialogueState, Instance
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.flows import parse_flows
from duologue.flows.intents import scope_of
from duologue.flows.nlu_commands import commands_of
from duologue.flows.partial_values import first_values
from duologue.nlu.understanding import Guess, Quote, Understanding

DOMAIN = parse_flows("""
version: 1
flows:
  book_table:
    description: book a table
    examples: [a table please]
    steps:
      - say: "Done."
  cancel:
    description: cancel a booking
    examples: [I can't come tonight]
    steps:
      - say: "Cancelled."
  count:
    description: count
    examples: [let me count]
    steps:
      - collect: people
slots:
  people: {type: number, prompt: "For how many?"}
""")
ASKED = Understand(1, "please", ("book_table", "cancel"), ())


def understood(intent: str, by: str = "") -> Understanding:
    return Understanding((Guess(intent, 0.9),), True, 0.9, by=by)


def test_no_intent_is_taught_a_word_that_only_tells_flows_from_commands() -> None:
    scope = scope_of(DOMAIN, ASKED, is_confirming=True)
    words = {word for intent in scope.intents for phrase in intent.phrases for word in phrase.split()}
    assert "flow" not in words
    assert scope.intents[0].phrases == ("a table please", "book a table", "book table")


def test_a_flow_and_a_command_of_one_name_are_two_intents() -> None:
    scope = scope_of(DOMAIN, ASKED, is_confirming=False)
    flow, command = (intent.name for intent in scope.intents if "cancel" in intent.name)
    assert commands_of(DOMAIN, DialogueState(), ASKED, understood(flow), "2026-03-04") == (StartFlow("cancel"),)
    assert commands_of(DOMAIN, DialogueState(), ASKED, understood(command), "2026-03-04") == (Cancel(),)


@pytest.mark.req("D-09")
@pytest.mark.parametrize(
    ("text", "intent", "by", "meant"),
    [
        ("yes mate", "affirm", "minilm", (Affirm(),)),
        ("wait", "affirm", "minilm", ()),
        ("are you sure", "affirm", "words", ()),
        ("yes but for five", "affirm", "minilm", ()),
        ("that's wrong", "deny", "minilm", (Deny(),)),
        ("sorry", "deny", "minilm", ()),
        ("makes sense", "affirm", "llm", (Affirm(),)),
    ],
)
def test_a_model_that_compares_phrases_hears_no_yes_that_was_not_said(
    text: str, intent: str, by: str, meant: tuple[Command, ...]
) -> None:
    asked = Understand(1, text, ("book_table",), (), question="A table for four. Shall I book it?")
    assert commands_of(DOMAIN, DialogueState(), asked, understood(intent, by), "2026-03-04") == meant


def test_cancel_it_after_shall_i_cancel_it_does_not_drop_the_task() -> None:
    asked = Understand(1, "well then cancel it", ("book_table",), (), question="A table on Friday. Shall I cancel it?")
    assert commands_of(DOMAIN, DialogueState(), asked, understood("cancel", "minilm"), "2026-03-04") == ()
    other = Understand(1, "drop the whole thing", ("book_table",), (), question="A table. Shall I cancel it?")
    assert commands_of(DOMAIN, DialogueState(), other, understood("cancel", "minilm"), "2026-03-04") == (Cancel(),)


@pytest.mark.parametrize("text", ["leave it as it is", "just keep it like that"])
def test_what_is_to_stay_as_it_is_is_not_dropped(text: str) -> None:
    # Once: "leave it as it is", after "is that right?", ended the call's task.
    guess = understood("cancel", "minilm")
    asked = Understand(1, text, ("book_table",), (), question="A table on Friday. Is that right?")
    assert commands_of(DOMAIN, DialogueState(), asked, guess, "2026-03-04") == ()
    changing = Understand(1, text, ("book_table",), (), question="For how many?", waiting_for="people")
    assert commands_of(DOMAIN, DialogueState(), changing, guess, "2026-03-04") == (Skip(),)
    assert commands_of(DOMAIN, DialogueState(reading_back=True), changing, guess, "2026-03-04") == ()


@pytest.mark.req("D-05")
@pytest.mark.parametrize("text", ["on the weekend", "april 8", "three nights", "at nine pm", "20 euros"])
def test_a_bare_value_starts_no_task_while_something_is_asked(text: str) -> None:
    # Once: "on the weekend" told the opening hours, because they are asked for in such words.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, text, ("book_table", "cancel"), (), question="Inside or outside?")
    guess = understood("flow cancel", "minilm")
    assert commands_of(DOMAIN, asking, asked, guess, "2026-03-04") == ()
    assert commands_of(DOMAIN, DialogueState(), asked, guess, "2026-03-04") == (StartFlow("cancel"),)
    told = commands_of(DOMAIN, asking, asked, understood("flow cancel", "llm"), "2026-03-04")
    assert told == (StartFlow("cancel"),)


@pytest.mark.req("D-05")
@pytest.mark.parametrize("intent", ["flow cancel", "go_back", "start_over", "cancel"])
def test_a_guess_takes_nobody_away_from_an_open_question(intent: str) -> None:
    # Once: "the later one" took an answer back, and "it was gone when I came back" blocked a card.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, "the later one", ("book_table", "cancel"), (), question="At six or at eight?")
    unsure, sure = (Understanding((Guess(intent, how),), True, how, by="minilm") for how in (0.57, 0.7))
    assert commands_of(DOMAIN, asking, asked, unsure, "2026-03-04") == ()
    assert commands_of(DOMAIN, asking, asked, sure, "2026-03-04") != ()


@pytest.mark.parametrize(("text", "meant"), [("no waiting", ()), ("wait, I don't have it here", (Wait(),))])
def test_who_wants_nobody_to_wait_needs_no_time(text: str, meant: tuple[Command, ...]) -> None:
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, text, ("book_table",), (), question="How long should the driver wait?")
    assert commands_of(DOMAIN, asking, asked, understood("wait", "minilm"), "2026-03-04") == meant


def test_who_asks_about_cancelling_cancels_nothing() -> None:
    # Once: "is the booking free to cancel?" dropped the booking.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, "is the booking free to cancel?", ("book_table",), (), question="For how many?")
    assert commands_of(DOMAIN, asking, asked, understood("cancel", "minilm"), "2026-03-04") == ()


def test_what_is_near_to_a_cancel_is_none_where_nothing_is_open() -> None:
    # Once: "I don't mind" was told that there is nothing to cancel.
    asked = Understand(1, "I don't mind", ("book_table",), ())
    guess = Understanding((Guess("cancel", 0.8),), True, 0.8, by="minilm")
    assert commands_of(DOMAIN, DialogueState(), asked, guess, "2026-03-04") == ()


@pytest.mark.parametrize(("confidence", "meant"), [(0.66, ()), (0.85, (Handoff(),))])
def test_an_open_task_is_left_to_a_person_only_if_that_is_sure(confidence: float, meant: tuple[Command, ...]) -> None:
    # Once: "you can call me", after "shall we call you?", put the caller through to somebody.
    asking = DialogueState(stack=(Instance(1, "book_table"),))
    asked = Understand(1, "you can call me", ("book_table",), (), question="Shall we call you?")
    guess = Understanding((Guess("handoff", confidence),), True, confidence, by="minilm")
    assert commands_of(DOMAIN, asking, asked, guess, "2026-03-04") == meant


DOCTOR = parse_flows("""
version: 1
slots:
  time: {type: time, prompt: "When?", hours: [8, 18]}
  is_new: {type: yes_no, prompt: "Are you new here?"}
  patient: {type: name, prompt: "Your name?"}
  people: {type: number, prompt: "How many?"}
flows:
  visit:
    description: see a doctor
    examples: [I need a doctor]
    steps: [collect: time, collect: is_new, collect: patient, collect: people]
""")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("text", "values"),
    {
        "I need to see a doctor": {},
        "checkup please": {},
        "I need a doctor at nine": {"time": "09:00"},
        "I need a doctor for two people at nine": {"people": 2, "time": "09:00"},
        "a doctor for two": {"people": 2},
    }.items(),
)
def test_who_asks_for_a_task_has_answered_none_of_its_questions_by_that(text: str, values: dict[str, object]) -> None:
    # Once: "I need to see a doctor" was a yes to the question whether one is new here.
    found = first_values(DOCTOR, "visit", text, "2026-03-04")
    assert {one.slot: one.value for one in found if isinstance(one, SetSlot)} == values


# -- A message that is understood in part

VISIT = """
version: 1
slots:
  people: {type: number, prompt: "How many?"}
  day: {type: date, prompt: "Which day?"}
  time: {type: time, prompt: "What time?"}
  nickname: {type: text, prompt: "What are you called?"}
  is_member: {type: yes_no, prompt: "Are you a member?"}
flows:
  visit:
    description: see the castle
    examples: [we want to see the castle]
    steps: [collect: people, collect: day, collect: time, collect: nickname, collect: is_member]
  hours:
    description: opening hours
    examples: [when are you open]
    steps: [say: "From nine to five."]
"""


def heard_in_part(text: str, found: Understanding, waiting_for: str = "people") -> tuple[Command, ...]:
    domain = parse_flows(VISIT)
    state = DialogueState(stack=(Instance(1, "visit"),), waiting_for=waiting_for)
    asked = Understand(1, text, ("visit", "hours"), (), waiting_for=waiting_for)
    return commands_of(domain, state, asked, found, "2026-03-04")


NOBODY_KNOWS = Understanding((), False, 0.1, by="minilm")


@pytest.mark.req("D-04")
def test_a_message_that_starts_a_task_brings_what_stands_for_itself() -> None:
    text = "we want to see the castle on Friday with six people and a very old aunt"
    found = first_values(parse_flows(VISIT), "visit", text, "2026-03-04")
    assert [(one.slot, one.value, one.source) for one in found] == [
        ("day", "2026-03-06", PICKED_OUT),
        ("people", 6, PICKED_OUT),
    ]


@pytest.mark.req("D-04", "D-12")
def test_an_answer_with_words_beside_it_is_an_answer() -> None:
    text = "six of us, my aunt wants to come as well, on Friday"
    for found in (NOBODY_KNOWS, understood("flow visit", "minilm")):
        values = heard_in_part(text, found)
        assert [(one.slot, one.value) for one in values if isinstance(one, SetSlot)] == [
            ("people", 6),
            ("day", "2026-03-06"),
        ]


@pytest.mark.parametrize(
    "text",
    [
        "my aunt arrives on Friday",  # no answer to the question
        "is it true that six people got lost on Friday?",  # a question
        "not six people, my aunt is ill",
    ],
)
def test_what_is_no_answer_stays_one(text: str) -> None:
    assert heard_in_part(text, NOBODY_KNOWS) == ()


@pytest.mark.req("D-04")
@pytest.mark.parametrize("found", [NOBODY_KNOWS, understood("deny", "minilm")])
def test_a_yes_or_no_with_a_reason_is_one(found: Understanding) -> None:
    # Once: "no, it's too expensive" was asked again until the caller gave up.
    (value,) = heard_in_part("no, it's far too expensive", found, "is_member")
    assert isinstance(value, SetSlot)
    assert (value.slot, value.value, value.source) == ("is_member", False, PICKED_OUT)
    assert not heard_in_part("no idea what that means", NOBODY_KNOWS, "is_member")


def test_who_asks_for_something_else_gets_that() -> None:
    assert heard_in_part("are you open for six people", understood("flow hours", "minilm")) == (StartFlow("hours"),)


def test_a_language_model_that_quotes_is_believed() -> None:
    quoted = Understanding((), True, 0.9, (Quote("people", "six"),), by="llm")
    (value,) = heard_in_part("six of us and my aunt", quoted)
    assert isinstance(value, SetSlot)
    assert (value.value, value.source) == (6, "llm")
