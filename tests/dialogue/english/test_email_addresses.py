"""E-mail addresses, with comments in the middle and beginnings that are said twice."""

from __future__ import annotations

import pytest

from duologue.dialogue.english import Ambiguous, SlotKind, read, read_parts
from duologue.dialogue.english.email_addresses import find_email
from duologue.dialogue.english.tokens import tokens_of
from tests.dialogue.english.grammar_replies import WEDNESDAY, ask, said

EMAIL = ask(SlotKind.EMAIL, "What's your e-mail address?", "email")


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "tom, tom dot hill at post dot org": "tom.hill@post.org",
        "lena, underscore, park, at post dot org": "lena_park@post.org",
        "will dot grant at post dot org all lower case": "will.grant@post.org",
        "k i m, 7, at post dot org": "kim7@post.org",
    }.items(),
)
def test_an_address_may_be_begun_again_and_spelled_with_commas(reply: str, value: str) -> None:
    assert said(EMAIL, reply) == value


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("reply", "address"),
    {
        "lisa dot brook, brook as in the stream, at post dot org": "lisa.brook@post.org",
        "bea dot stone, that's stone like a rock, at post dot org": "bea.stone@post.org",
        "anna, miller at post dot org": "annamiller@post.org",
    }.items(),
)
def test_the_agent_asks_about_an_address_with_a_comment_in_it(reply: str, address: str) -> None:
    reading = read(EMAIL, reply, WEDNESDAY)
    assert isinstance(reading, Ambiguous)
    assert reading.must_ask
    assert reading.candidates == (address,)
    assert read_parts((EMAIL.slot,), reply, WEDNESDAY) == ()


@pytest.mark.req("D-05")
def test_a_comment_without_commas_makes_no_address() -> None:
    assert find_email(tokens_of("lisa dot brook that's brook like the stream at post dot org")) == []
    assert find_email(tokens_of("It's a long one. use lisa dot brook at post dot org"))[0].candidates == (
        "lisa.brook@post.org",
    )


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "lena at post dot at": "lena@post.at",
        "lena dot hofer at stadt dash graz dot gv dot at": "lena.hofer@stadt-graz.gv.at",
        "k h at firma dot co dot at all lower case": "kh@firma.co.at",
    }.items(),
)
def test_the_ending_of_austria_is_no_second_sign(reply: str, value: str) -> None:
    assert said(EMAIL, reply) == value


@pytest.mark.req("D-04", "D-05")
@pytest.mark.parametrize(
    ("reply", "address"),
    {
        "that's my old one p wood at college dot edu": "pwood@college.edu",
        "you could write to hanna at post dot org": "hanna@post.org",
        "then try my sister's it's b low at post dot org": "blow@post.org",
        "take my brother's max at post dot at": "max@post.at",
        "my dad's one is ted dot grey at post dot org": "ted.grey@post.org",
    }.items(),
)
def test_the_agent_asks_about_an_address_after_words_that_introduce_it(reply: str, address: str) -> None:
    reading = read(EMAIL, reply, WEDNESDAY)
    assert isinstance(reading, Ambiguous)
    assert (reading.must_ask, reading.candidates) == (True, (address,))


@pytest.mark.req("D-05")
@pytest.mark.parametrize(
    "reply",
    [
        "bella dot and then my surname g r a y at post dot org",
        "first the letter p then wood at post dot org",
        "tom dot and the next word is hill at post dot org",
    ],
)
def test_words_that_tell_how_an_address_is_built_are_no_part_of_it(reply: str) -> None:
    assert find_email(tokens_of(reply)) == []


@pytest.mark.req("D-04")
def test_whose_address_it_is_is_no_part_of_the_address() -> None:
    for reply in ("it's my private one nora at post dot org", "the old one nora at post dot org"):
        match = find_email(tokens_of(reply))[0]
        assert match.candidates == ("nora@post.org",)
    assert said(EMAIL, "nora one at post dot org") == "nora1@post.org"


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    [("nora at post dot at", "nora@post.at"), ("it's nora dot lind at uni dot ac dot at", "nora.lind@uni.ac.at")],
)
def test_an_address_may_end_in_at(reply: str, value: str) -> None:
    assert said(EMAIL, reply) == value


@pytest.mark.req("D-04")
def test_words_before_an_address_and_corrections_in_it_are_no_part_of_it() -> None:
    assert said(EMAIL, "okay then just use nora at post dot org") == "nora@post.org"
    assert said(EMAIL, "just dot nora at post dot org") == "just.nora@post.org"
    for reply in ("nora underscore lind no hyphen lind at post dot org", "it's nora no dora at post dot org"):
        assert find_email(tokens_of(reply)) == []


@pytest.mark.req("D-04")
@pytest.mark.parametrize(
    ("reply", "value"),
    {
        "m.okoye at post dot org, all in lower case": "m.okoye@post.org",
        "it's lena.park at post.co.uk, thanks": "lena.park@post.co.uk",
        "ted_hill at post dot org": "ted_hill@post.org",
        "j.r.wood7 at post.org.": "j.r.wood7@post.org",
        "k-i-m at post dot org": "kim@post.org",
        "J.R. Wood at post dot org": "jrwood@post.org",
        "Sure.It's tom at post dot org": "tom@post.org",
    }.items(),
)
def test_signs_that_are_written_in_a_spoken_address_are_part_of_it(reply: str, value: str) -> None:
    assert said(EMAIL, reply) == value


@pytest.mark.parametrize(
    ("reply", "values"),
    {
        "k.i.m at post dot org": ["k.i.m@post.org", "kim@post.org"],
        "Eva-Maria at post dot org": ["eva-maria@post.org", "evamaria@post.org"],
    }.items(),
)
def test_a_sign_that_stt_may_have_added_to_an_address_is_asked(reply: str, values: list[str]) -> None:
    assert said(EMAIL, reply) == values
