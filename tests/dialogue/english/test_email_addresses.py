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
