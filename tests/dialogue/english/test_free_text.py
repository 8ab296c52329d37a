"""Names and texts that aren't in a list."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Question, Slot, SlotKind
from duologue.dialogue.english.free_text import answering_part, name_in_sentence, trimmed_text
from duologue.dialogue.english.tokens import tokens_of
from duologue.dialogue.language.match import Span
from tests.dialogue.english.grammar_replies import ask, named, said

OPEN_NAME = ask(SlotKind.NAME, "What is your name?", "patient")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "Mr. Miller": "Mr. Miller",
        "it's Mrs. Smith, please": "Mrs. Smith",
        "I'm Sam": "Sam",
        "I am Sam Miller, hello": "Sam Miller",
        "I'm busy": None,
        "i'm sam": None,
        "3 May 1984": None,  # past bug: a name
        "Patel or Klein": None,
    }.items(),
)
def test_a_name_may_have_a_title_and_is_never_a_day_or_a_choice(reply: str, name: str | None) -> None:
    assert said(OPEN_NAME, reply) == name


@pytest.mark.req("D-04")
def test_a_name_that_is_said_twice_is_taken_once() -> None:
    asked = ask(SlotKind.NAME, "What is your full name?", "member")
    assert said(asked, "it's Lisa, Lisa Marie Brown") == "Lisa Marie Brown"
    assert said(asked, "Bond, James Bond") == "James Bond"


@pytest.mark.req("D-05")
def test_what_looks_like_a_school_class_is_not_a_name() -> None:
    assert said(ask(SlotKind.NAME, "What is your child's name?", "child"), "2b") is None


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "Anna Kowalska": "Anna Kowalska",
        "it's Anna Kowalska": "Anna Kowalska",
        "um, my name is Kowalska": "Kowalska",
        "I'd like to see Anna Kowalska, please": "Anna Kowalska",
        "send it to Anna": "Anna",
        "I don't know": None,
        "whatever": None,
        "dunno": None,
        "hang on there": None,
        "one moment then I know": None,
        "I'd like something cheap": None,
        "Anna Kowalska on Friday": None,
        "do you have Anna": None,
        "I would rather talk about my invoice": None,
    }.items(),
)
def test_a_name_that_no_list_has(reply: str, value: str | None) -> None:
    assert said(ask(SlotKind.NAME, "Who would you like to see?", "person"), reply) == value


def test_a_known_name_inside_a_longer_one_isnt_taken() -> None:
    assert said(named("Midnight"), "Play Midnight Express please") is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "reply",
    """goodbye|bye|tonight|this evening|no idea|no phone|wow|haha|both|7 pm|half past six|seven|5|next|louder|the usual|
    it depends|l a|n/a|twenty minutes|3/5/1980|20 euros|next friday""".split("|"),
)
def test_what_cannot_be_a_name_is_for_nlu(reply: str) -> None:
    # Past bug: "goodbye" was taken for the destination of a flight.
    assert said(ask(SlotKind.NAME), reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "Morning Star": "Morning Star",
        "mike o'neil": "mike o'neil",
        "it's under Miller": "Miller",
        "Noon Jones": "Noon Jones",
    }.items(),
)
def test_a_name_may_have_a_common_word(reply: str, name: str) -> None:
    assert said(ask(SlotKind.NAME), reply) == name


def test_a_letter_that_belongs_to_a_number_is_not_an_article() -> None:
    # Past bug: "a123" was the text "123".
    assert said(ask(SlotKind.TEXT), "a123") is None
    assert said(ask(SlotKind.TEXT), "a fridge") == "fridge"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "my name is April": "April",
        "will smith": "will smith",
        "it's Mark": "Mark",
        "may": "may",
        "June Jones": "June Jones",
        "may 5": None,
        "I will": None,
        "tomorrow": None,
    }.items(),
)
def test_people_are_called_april_and_will_where_a_name_is_asked_for(reply: str, name: str | None) -> None:
    # Past bug: they could never tell their name.
    assert said(ask(SlotKind.NAME, "What is your name?"), reply) == name


@pytest.mark.parametrize("reply", ["will", "mark", "may"])
def test_will_mark_and_may_are_words_where_a_city_is_asked_for(reply: str) -> None:
    assert said(ask(SlotKind.NAME, "Which city?"), reply) is None


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("slot", "reply", "name"),
    [
        ("name", "under the name of Smith", "Smith"),
        ("name", "surname Smith", "Smith"),
        ("name", "my last name is Smith", "Smith"),
        ("name", "Anna hyphen Lena Smith", "Anna-Lena Smith"),
        ("last_name", "my surname is Smith", "Smith"),
        ("first_name", "my surname is Smith", None),
        ("first_name", "the first name is Anna", "Anna"),
        ("full_name", "first name Anna", None),
    ],
)
def test_a_part_of_a_name_fills_only_the_slot_for_that_part(slot: str, reply: str, name: str | None) -> None:
    question = f"What is your {slot.replace('_', ' ')}?"
    assert said(Question(Slot(slot, SlotKind.NAME), question), reply) == name


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    "reply", ["Tom Price", "William Tell", "my name is Johnny Cash", "tom price", "it's Johnny Cash"]
)
def test_a_name_is_known_by_its_place_and_capitals(reply: str) -> None:
    name = ask(SlotKind.NAME, "What's your name?", "guest")
    assert str(said(name, reply)).casefold() in ("tom price", "william tell", "johnny cash")


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["my wife", "my wife's name", "in my wife's name", "tell me", "book it", "the table"])
def test_words_about_a_person_are_not_a_name(reply: str) -> None:
    assert said(ask(SlotKind.NAME, "What's your name?", "guest"), reply) is None


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        ("12 Main Street, and how long will it take?", "12 Main Street"),
        ("12 Main Street, and please hurry", "12 Main Street"),
        ("12 Main Street, Springfield", "12 Main Street, Springfield"),
        ("it leaks. thank you very much", "it leaks"),
        ("it leaks, could you hurry", "it leaks"),
    ],
)
def test_free_text_ends_where_the_answer_ends(reply: str, part: str) -> None:
    tokens = tokens_of(reply)
    first, after = answering_part(tokens, Span(0, len(tokens)))
    assert reply[tokens[first].start : tokens[after - 1].end] == part


@pytest.mark.parametrize(
    ("text", "name"),
    {
        "my name is Mark Price and I was born on the third of May 1990": "Mark Price",
        "well, my name's Anna, I called before": "Anna",
        "my name is on the list and so is hers": None,
        "I was born in May": None,
    }.items(),
)
def test_a_name_within_a_longer_sentence(text: str, name: str | None) -> None:
    tokens = tokens_of(text)
    span = name_in_sentence(tokens)
    assert (text[tokens[span.first].start : tokens[span.after - 1].end] if span else None) == name


@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "Justin is the receiver": "Justin",
        "my friend Philip": "Philip",
        "send it to my uncle Richard": "uncle Richard",
        "send it to mom": "mom",
        "let's send Mahmoud the money": "Mahmoud",
        "send it to my mom": None,
        "give it to charity": None,
        "Tomorrow is better": None,
    }.items(),
)
def test_a_person_is_named_among_words_about_sending(reply: str, value: str | None) -> None:
    question = ask(SlotKind.NAME, "Who do you want to send the money to?", "recipient_name")
    assert said(question, reply) == value


@pytest.mark.req("D-04")
@pytest.mark.parametrize("reply", ["Amy Best", "Bill Sharp", "bill sharp", "May Winter", "June", "April Moss"])
def test_a_name_may_be_made_of_months_and_ordinary_words(reply: str) -> None:
    assert said(OPEN_NAME, reply) == reply
    assert said(ask(SlotKind.NAME, "Who is the gift for?", "receiver"), reply) == reply


@pytest.mark.req("D-04", "D-05")
def test_a_month_with_a_preposition_is_not_a_name() -> None:
    asked = ask(SlotKind.NAME, "Who is the gift for?", "receiver")
    assert said(asked, "in june") is None
    assert said(asked, "next april") is None
    assert said(asked, "my nephew Ben") == "Ben"


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("reply", "name"),
    {
        "Mrs Nora Bassett, two s's and two t's": "Mrs Nora Bassett",
        "it's grant Wood, wood with a w": "grant Wood",
        "Holly Berry, and please don't laugh": "Holly Berry",
        "hope fields, same as before": "hope fields",
        "her name is June Archer": "June Archer",
        "Eric, with a k": None,  # written differently
        "Nora Bassett, no, Basset": None,
        "oh dear, that's hard to say": None,
    }.items(),
)
def test_a_comment_after_a_name_is_not_a_part_of_it(reply: str, name: str | None) -> None:
    tokens = tokens_of(reply)
    span = name_in_sentence(tokens)
    assert (reply[tokens[span.first].start : tokens[span.after - 1].end] if span is not None else None) == name


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "text"),
    {
        "it's called the long way home": "the long way home",
        "I told you, the long way home": "the long way home",
        "um, as I said, it's called Emma please": "Emma",
        "it's 12 Mill Road": "12 Mill Road",
        "it's not working at all": "it's not working at all",
        "I told you": "I told you",
    }.items(),
)
def test_words_that_introduce_a_text_are_left_out(reply: str, text: str) -> None:
    tokens = tokens_of(reply)
    first, after = trimmed_text(tokens, Slot("title", SlotKind.TEXT))
    assert reply[tokens[first].start : tokens[after - 1].end] == text
    assert said(ask(SlotKind.TEXT, "What's the title?", "title"), "The Hobbit") == "The Hobbit"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("it's for my uncle edwin", "edwin"),
        ("clara it's for my niece clara", "clara"),
        ("it's about mrs okonjo", "mrs okonjo"),
        ("pepita and she's a handful", "pepita"),
        ("she's called pepita", None),  # in a sentence, see below
        ("my uncle edwin's neighbour", None),
        ("my cousin lives there", None),
        ("it's for my uncle", None),
        ("my aunt clara and my uncle edwin", None),
    ],
)
def test_a_name_without_a_capital_is_shown_by_the_words_around_it(reply: str, name: str | None) -> None:
    assert said(ask(SlotKind.NAME, "Who is it for?", "recipient"), reply) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("he's called pepito", "pepito"),
        ("we call her pepita", "pepita"),
        ("just put edwin voss", "edwin voss"),
        ("ferrara with two r's", "ferrara"),
        ("ferrara with my sister", None),
    ],
)
def test_a_name_after_called_or_before_its_spelling(text: str, name: str | None) -> None:
    tokens = tokens_of(text)
    span = name_in_sentence(tokens)
    assert (None if span is None else " ".join(token.text for token in tokens[span.first : span.after])) == name


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a poem by goethe what do others choose", "a poem by goethe"),
        ("the red lamp can't you just fix it", "the red lamp"),
        ("the lamp that i told you about", "the lamp that i told you about"),
    ],
)
def test_a_question_after_a_text_is_no_part_of_it(text: str, part: str) -> None:
    tokens = tokens_of(text)
    span = answering_part(tokens, Span(0, len(tokens)))
    assert " ".join(token.text for token in tokens[span.first : span.after]) == part
