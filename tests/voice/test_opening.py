"""The opening of a reply: the voice begins with a clause or with a few words, and never in the middle of a number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.spoken.abbreviations import abbreviations
from duologue.voice.opening import WORDS_MAX, opening_length
from duologue.voice.sentences import Sentences

LONG = (
    "The quick answer to your question about the delivery of the parcel that you ordered last week from our shop in"
    " town is that it will arrive before the end of the day if nothing else happens on the way to you"
)


def opening(text: str, joins_words: bool = True) -> str:
    return text[: opening_length(text, abbreviations("en"), joins_words)].strip()


@pytest.mark.req("T-08")
@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Let me check that, and then I ", "Let me check that,"),
        ("Yes, that is right, so we ", "Yes, that is right,"),
        ("Yes, we", ""),
        ("It is on November 17, 2026, at", "It is on November 17, 2026,"),
        ("It costs 1,234 euros", ""),
        ("Let me check that,", ""),
        ("See [this, or that](https://x.y) and ", ""),
        ("He said (as ever, of course) that ", ""),
    ],
)
def test_a_clause_can_be_said_before_its_sentence_ends(text: str, clause: str) -> None:
    assert opening(text, joins_words=False) == clause


@pytest.mark.req("T-08")
def test_a_voice_that_joins_words_begins_after_a_few_of_them() -> None:
    first = opening(f"{LONG} ")
    assert first
    assert len(first.split()) <= WORDS_MAX
    assert opening(f"{LONG} ", joins_words=False) == ""


@pytest.mark.req("T-08")
@pytest.mark.parametrize(
    "text",
    [
        "You will now get exactly two hundred and 25 50 75 100 125 150 175 200 225 250 275 300 ",
        "And then we all went to see Dr. Anna Maria Luisa Bertha Clara Diana Emilia Flora ",
    ],
)
def test_words_are_never_parted_beside_a_number_an_abbreviation_or_within_a_name(text: str) -> None:
    first = opening(text)
    after = text[len(first) :].split()
    assert not first or not (first[-1].isdigit() or after[0][0].isdigit() or first.endswith("Dr."))


@pytest.mark.req("T-08")
@given(st.text(alphabet="ab, .5(\n", max_size=120), st.booleans())
def test_an_opening_and_the_rest_are_the_whole_text(text: str, joins_words: bool) -> None:
    splitter = Sentences()
    found = splitter.feed(text)
    first = splitter.opening(joins_words)
    rest = [first, splitter.rest()]
    assert "".join("".join([*found, *rest]).split()) == "".join(text.split())


def test_code_is_not_parted() -> None:
    splitter = Sentences()
    splitter.feed("```\nfirst, second, third, fourth, fifth, sixth, ")
    assert splitter.opening(True) == ""
