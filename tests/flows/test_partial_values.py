"""Values in messages that were only partly understood."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import ChitChat, SetSlot
from duologue.dialogue.effects import Understand
from duologue.dialogue.state import DialogueState, Filled, Instance
from duologue.dialogue.unconfirmed_values import PICKED_OUT
from duologue.flows import parse_flows
from duologue.flows.nlu_commands import commands_of
from duologue.flows.partial_values import answer_in_part, first_values, one_more, only_one, put_off
from duologue.nlu.understanding import Understanding
from tests.flows.guessed_intents import understood
from tests.flows.partly_understood import VISIT, heard_in_part

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
def test_asking_for_a_task_answers_none_of_its_questions(text: str, values: dict[str, object]) -> None:
    # Past bug: "I need to see a doctor" was a yes to the question whether one is new here.
    found = first_values(DOCTOR, "visit", text, "2026-03-04")
    assert {one.slot: one.value for one in found if isinstance(one, SetSlot)} == values


def test_a_day_that_cant_be_taken_is_put_off_in_words() -> None:
    flows = parse_flows(
        """
version: 1
slots:
  guest: {type: name, prompt: "Your name?"}
  day: {type: date, label: day of the visit, prompt: "Which day?"}
flows:
  visit: {description: visit us, examples: [I want to visit], steps: [collect: guest, collect: day]}
"""
    )
    later = (ChitChat("I'll come back to the day of the visit."),)
    assert put_off(flows, "visit", "I want to visit on Monday or Tuesday", "2026-03-04", ()) == later
    assert put_off(flows, "visit", "I want to visit on Monday", "2026-03-04", ()) == ()
    asked_next = put_off(flows, "visit", "I want to visit on Monday or Tuesday", "2026-03-04", ["guest"])
    assert asked_next == ()  # the next question asks for it


NOT_UNDERSTOOD = Understanding((), False, 0.1, by="minilm")


@pytest.mark.req("D-04")
def test_a_message_that_starts_a_task_brings_its_unambiguous_values() -> None:
    text = "we want to see the castle on Friday with six people and a very old aunt"
    found = first_values(parse_flows(VISIT), "visit", text, "2026-03-04")
    assert [(one.slot, one.value, one.source) for one in found] == [
        ("day", "2026-03-06", PICKED_OUT),
        ("people", 6, PICKED_OUT),
    ]


@pytest.mark.req("D-04", "D-12")
def test_an_answer_with_other_words_around_it_is_an_answer() -> None:
    text = "six of us, my aunt wants to come as well, on Friday"
    for found in (NOT_UNDERSTOOD, understood("flow visit", "minilm")):
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
def test_a_message_without_an_answer_fills_nothing(text: str) -> None:
    assert heard_in_part(text, NOT_UNDERSTOOD) == ()


@pytest.mark.req("D-04")
@pytest.mark.parametrize("found", [NOT_UNDERSTOOD, understood("deny", "minilm")])
def test_a_yes_or_no_with_a_reason_is_an_answer(found: Understanding) -> None:
    # Past bug: "no, it's too expensive" was asked again until the caller gave up.
    (value,) = heard_in_part("no, it's far too expensive", found, "is_member")
    assert isinstance(value, SetSlot)
    assert (value.slot, value.value, value.source) == ("is_member", False, PICKED_OUT)
    assert not heard_in_part("no idea what that means", NOT_UNDERSTOOD, "is_member")


SHOP = parse_flows("""
version: 1
slots:
  card: {type: code, pattern: "[A-Z]{2}[0-9]{4}", prompt: "Your card number?"}
  boat: {type: choice, choices: [canoe, kayak], prompt: "Which boat?"}
  count: {type: number, label: number of boats, prompt: "How many boats?"}
flows:
  rent:
    description: rent a boat
    examples: [I want to rent a boat]
    steps: [collect: card, collect: boat, collect: count]
""")


def _asked(slot: str, question: str, text: str) -> Understand:
    return Understand(1, text, ("rent",), (), waiting_for=slot, question=question)


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("text", "code"),
    {
        "hold on, it's in the kitchen drawer. Right, it says kd 5512": "KD5512",
        "my wife says it's K D, then five five one two": "KD5512",
        "either KD 5512 or KD 5513, my eyes are bad": None,
        "my wife says 5512": None,  # it doesn't match the pattern
    }.items(),
)
def test_a_code_is_found_in_a_story_by_its_pattern(text: str, code: str | None) -> None:
    state = DialogueState(stack=(Instance(1, "rent"),), waiting_for="card")
    found = answer_in_part(SHOP, state, _asked("card", "Your card number?", text), "2026-03-04")
    assert [(one.value, one.source) for one in found] == ([(code, PICKED_OUT)] if code else [])


@pytest.mark.req("D-05")
def test_the_agent_says_that_it_takes_only_one_of_several_values() -> None:
    several = _asked("boat", "Which boat?", "a canoe for us and a kayak for the kids")
    assert only_one(SHOP, several, "2026-03-04") == (ChitChat("I can take only one boat."),)
    counts = _asked("count", "How many boats?", "two canoes and two kayaks")
    assert only_one(SHOP, counts, "2026-03-04") == (ChitChat("I need one number."),)
    assert only_one(SHOP, _asked("boat", "Which boat?", "the big one"), "2026-03-04") == ()


@pytest.mark.req("D-05", "D-07")
def test_one_more_thing_never_replaces_the_first() -> None:
    top = Instance(1, "rent", slots=(("boat", Filled("canoe")),))
    state = DialogueState(stack=(top,))
    new = (SetSlot("boat", "kayak"),)
    assert one_more(SHOP, state, "yes and I also want a kayak", new) == (ChitChat("I can take only one boat."),)
    assert one_more(SHOP, state, "I want a kayak", new) == ()
    assert one_more(SHOP, state, "I also want a canoe", (SetSlot("boat", "canoe"),)) == ()


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    ("text", "slot"),
    [
        ("four people should do, my aunt says five, so let's go with that", "people"),
        ("on Friday, but I can't", "day"),
        ("half past nine, that doesn't work", "time"),
    ],
)
def test_a_value_that_is_doubted_or_denied_beside_it_is_not_taken(text: str, slot: str) -> None:
    found = heard_in_part(text, Understanding(None, 0.1), waiting_for=slot)
    assert not any(isinstance(one, SetSlot) and one.slot == slot for one in found)


@pytest.mark.parametrize(
    ("text", "plate"),
    [("kl 93 rot", "KL93ROT"), ("let me look, it's kl 93 rot", "KL93ROT"), ("we got it in 93 or so", None)],
)
def test_a_code_that_is_written_in_groups_is_found_by_its_pattern(text: str, plate: str | None) -> None:
    garage = parse_flows(
        """
version: 1
slots:
  plate: {type: code, pattern: "[A-Z]{2}[0-9]{2}[A-Z]{3}", prompt: "The plate?"}
flows:
  check: {description: check a car, examples: [check my car], steps: [collect: plate]}
"""
    )
    state = DialogueState(stack=(Instance(1, "check"),), waiting_for="plate")
    asked = Understand(1, text, ("check",), (), waiting_for="plate")
    found = commands_of(garage, state, asked, Understanding(None, 0.1), "2026-03-04")
    assert [one.value for one in found if isinstance(one, SetSlot)] == ([plate] if plate else [])
