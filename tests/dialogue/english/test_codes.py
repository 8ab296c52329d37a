"""Phone numbers, e-mail addresses and codes, spelled as people spell them."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import SlotKind, read_parts
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, said

PHONE = ask(SlotKind.PHONE, "What's your phone number?", "phone")

EMAIL = ask(SlotKind.EMAIL, "What's your e-mail address?", "email")

CODE = ask(SlotKind.CODE, "What's your booking code?", "code")


@pytest.mark.req("D-04", "D-06")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "555 0122": "5550122",
        "five five five oh one double two": "5550122",
        "It's oh two oh, seven nine four six, oh nine triple five": "020794609555",
        "plus one, 415 555 2671": "+14155552671",
        "+49 30 901820": "+4930901820",
        "415-555-2671": "4155552671",
        "one eight hundred, five five five, oh one two two": "18005550122",
        "my number is 415 555 twenty six seventy one": "4155552671",
        "area code 415, 555 2671": "4155552671",
        "nought two oh seven nine four six": "0207946",
        "one eight hundred five hundred one two three four": "18005001234",
    }.items(),
)
def test_a_phone_number_as_people_say_it(reply: str, value: str) -> None:
    assert said(PHONE, reply) == value


@pytest.mark.parametrize(
    "reply",
    [
        "555",
        "five",
        "not that one",
        "I have two phones",
        "1" * 16,
        "eight hundred twenty five one two three four",  # 825 or 800 25
        "five hundred fifty five twelve twelve",
    ],
)
def test_what_is_not_a_phone_number_is_for_nlu(reply: str) -> None:
    assert said(PHONE, reply) is None


@pytest.mark.req("D-06")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "Anna.K@example.com": "anna.k@example.com",
        "anna dot k at example dot com": "anna.k@example.com",
        "it's anna underscore k at example dot co dot uk": "anna_k@example.co.uk",
        "my email is a n n a five at example dot org please": "anna5@example.org",
        "anna dash k double seven at mail dot com": "anna-k77@mail.com",
        "anna at example dot com, all lower case": "anna@example.com",
        "my email's anna at example dot c o m": "anna@example.com",
        "anna nineteen eighty four at example dot com": "anna1984@example.com",
        "anna plus news at my hyphen mail dot example dot org": "anna+news@my-mail.example.org",
        "anna at gmail": "anna@gmail.com",
        "anna at g mail dot com": "anna@gmail.com",
    }.items(),
)
def test_an_address_as_people_say_it(reply: str, value: str) -> None:
    assert said(EMAIL, reply) == value


@pytest.mark.parametrize(
    "reply",
    [
        "anna at example",
        "at noon",
        "example dot com",
        "anna at example dot com and my phone is 5550122",
        "anna and bob at example dot com",
        "I work at gmail",
        "have a look at gmail",
    ],
)
def test_what_is_not_an_address_is_for_nlu(reply: str) -> None:
    assert said(EMAIL, reply) is None


@pytest.mark.req("D-04", "D-06")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "A B 1 2": "AB12",
        "a b one two": "AB12",
        "A as in alpha, B for Bravo, double five": "AB55",
        "alpha bravo double five": "AB55",
        "B like boy, seven": "B7",
        "it's X Y dash four oh four": "XY-404",
        "QX7 thirty two": "QX732",
        "the code is K L M three nine": "KLM39",
        "triple A nine": "AAA9",
    }.items(),
)
def test_a_spelled_code(reply: str, value: str) -> None:
    assert said(CODE, reply) == value


def test_an_oh_between_letters_may_be_a_letter() -> None:
    assert said(CODE, "a oh b") == ["A0B", "AOB"]


@pytest.mark.parametrize("reply", ["I lost it", "it was in the mail", "what code?", "never got one"])
def test_what_is_not_a_code_is_for_nlu(reply: str) -> None:
    assert said(CODE, reply) is None


@pytest.mark.req("D-04")
@pytest.mark.parametrize(("reply", "code"), {"abc123": "ABC123", "it's 12ab34": "12AB34", "abc": None}.items())
def test_a_code_may_be_typed_in_one_piece(reply: str, code: str | None) -> None:
    assert said(ask(SlotKind.CODE), reply) == code


@pytest.mark.parametrize(
    ("reply", "code"),
    {"AB12 I think": "AB12", "AB 12, I guess": "AB12", "A B I 1 2": "ABI12", "A B 1 I please": "AB1I"}.items(),
)
def test_the_pronoun_i_is_not_a_letter_of_a_code(reply: str, code: str) -> None:
    # Past bug: "AB12, I think" was AB12I.
    assert said(ask(SlotKind.CODE), reply) == code


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "address"),
    {
        "no, it's sven dot o at gym dot se": "sven.o@gym.se",  # past bug: noitssven.0@gym.se
        "anna oh seven at example dot com": "anna07@example.com",
        "will dot smith at example dot com": "will.smith@example.com",
        "you can send it to anna at example dot com": ["anna@example.com"],  # past bug: youcansendittoanna@…
        "it should be anna at example dot com": ["anna@example.com"],  # the agent asks whether it is right
    }.items(),
)
def test_no_word_of_a_sentence_is_part_of_an_address(reply: str, address: str | list[str]) -> None:
    assert said(ask(SlotKind.EMAIL, "What is your email address?"), reply) == address


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "rv 5520": "RV5520",
        "abc 123": "ABC123",
        "xk 1 9 0 4": "XK1904",
        "kt double four 1": "KT441",
        "okay so it's bd 771 i think": "BD771",
        "m zed nine one": "MZ91",
        "T as in tiger, then 20 41": "T2041",
        "8 8 1 for": "8814",
    }.items(),
)
def test_a_code_as_stt_writes_it_in_small_letters(reply: str, value: str) -> None:
    assert said(CODE, reply) == value


@pytest.mark.req("D-05")
@pytest.mark.parametrize("reply", ["it's 8814 for the office", "ask 8814", "mum 8814", "end 8814"])
def test_a_word_beside_a_code_is_not_a_part_of_it(reply: str) -> None:
    assert said(CODE, reply) in (None, "8814")


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "oh one six one, four nine six, ate to won": "0161496821",
        "0161 and then 496 and then 0112": "01614960112",
        "0161 496 0112 to be sure": "01614960112",
        "0161 496 0112 for the kitchen": None,
    }.items(),
)
def test_homophones_are_digits_of_a_phone_number(reply: str, value: str | None) -> None:
    assert said(PHONE, reply) == value


@pytest.mark.req("D-05")
def test_a_phone_number_that_may_go_on_is_not_picked_out() -> None:
    assert read_parts((PHONE.slot,), "oh one six one four nine six, something seven", WEDNESDAY) == ()


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("it's my home one oh two two one, three four five six", "02213456"),
        ("use the office one, oh two two one three four five six", "02213456"),
        ("it's one oh two two one three four", "1022134"),
    ],
)
def test_a_one_before_a_number_may_be_the_phone(reply: str, value: str) -> None:
    assert said(PHONE, reply) == value
