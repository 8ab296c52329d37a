"""Text that repeats the agent's words before a person could is its echo."""

from __future__ import annotations

import pytest

from duologue.turns.echo_words import is_echo, is_own, similarity, without_own
from duologue.turns.own_speech import OwnSpeech, SpokenWord
from duologue.turns.words import words_of

SPOKEN = "There are two flights. One leaves at nine, and one at noon."
WORD_MS = 300


@pytest.mark.req("V-02")
@pytest.mark.parametrize("heard", ["two flights", "One leaves at nine", "flights one", "ONE, at noon!", SPOKEN])
def test_two_or_more_words_in_the_same_order_are_an_echo(heard: str) -> None:
    assert is_echo(heard, SPOKEN)


@pytest.mark.req("V-02")
@pytest.mark.parametrize("heard", ["", "noon", "noon at", "two flights please", f"{SPOKEN} yes", "two one"])
def test_one_word_another_order_or_more_words_are_the_user(heard: str) -> None:
    assert not is_echo(heard, SPOKEN)


def test_while_the_agent_is_silent_nothing_is_an_echo() -> None:
    assert not is_echo("two flights", "")


# -- As a model transcribes an echo


@pytest.mark.req("H-12")
@pytest.mark.parametrize(
    "heard",
    [
        "there are too fights one leaves at night and one at none",  # misheard
        "ights one leaves at ni",  # cut at both edges
        "two flights leaves at nine",  # a word is missing
        "there are two flights uh one leaves at nine",  # a filler that is not there
        "two flights one believes at nine",
    ],
)
def test_misheard_cut_and_missing_words_are_still_an_echo(heard: str) -> None:
    assert is_echo(heard, SPOKEN)


@pytest.mark.req("H-12")
@pytest.mark.parametrize(
    "heard",
    [
        "one leaves at nine stop",
        "wait there are two flights",
        "two flights no not those and one at noon",
        "what about the train",
        "I need to change my name",
        "there is a problem",
    ],
)
def test_words_of_a_person_before_within_or_after_the_echo_are_no_echo(heard: str) -> None:
    assert not is_echo(heard, SPOKEN)


# -- With times


def said(text: str, began: int = 0) -> OwnSpeech:
    """The agent says a word every 300 ms."""
    words = words_of(text)
    spoken = tuple(SpokenWord(word, began + at * WORD_MS, began + (at + 1) * WORD_MS) for at, word in enumerate(words))
    return OwnSpeech(spoken)


CITIES = said("Would you like Chicago or Boston?")
END = 6 * WORD_MS


@pytest.mark.req("H-12")
@pytest.mark.parametrize("delay_ms", [60, 200, 400, 600])
@pytest.mark.parametrize("heard", ["Chicago or Boston", "like Chicago or", "would you like Chicago or Boston"])
def test_a_text_that_begins_before_its_words_have_been_heard_is_the_agents_own(heard: str, delay_ms: int) -> None:
    first = [word.text for word in CITIES.words].index(words_of(heard)[0])
    assert is_own(heard, CITIES, CITIES.words[first].start_ms + delay_ms)


@pytest.mark.req("H-06.early", "H-12")
@pytest.mark.parametrize("heard", ["Chicago", "Boston", "or Boston", "Chicago or Boston", "like Boston"])
def test_an_answer_with_the_agents_words_after_hearing_them_is_a_persons(heard: str) -> None:
    assert not is_own(heard, CITIES, END + 260)


@pytest.mark.req("H-06.early")
def test_an_offered_option_can_be_chosen_while_the_agent_goes_on() -> None:
    own = said("You can take the second one or wait until Monday")
    heard_by = own.words[5].end_ms  # "one"
    assert not is_own("the second one", own, heard_by + 250)
    assert is_own("the second one", own, own.words[3].start_ms + 250)


@pytest.mark.req("H-12")
def test_a_lone_word_is_the_agents_only_while_a_person_could_not_have_heard_it() -> None:
    own = said("Okay", began=1_000)
    assert is_own("okay", own, 1_300)
    assert not is_own("okay", own, 1_600)
    assert not is_own("yes", own, 1_300)


@pytest.mark.req("H-12")
def test_words_from_long_ago_are_not_an_echo() -> None:
    assert not is_own("would you like Chicago", CITIES, 5_000)


@pytest.mark.req("H-12")
def test_text_without_an_onset_may_be_late() -> None:
    """Ears without voice detection report only text, here 1.5 s after it was heard."""
    assert not is_own("like Chicago or Boston", CITIES, 2_500)
    assert is_own("like Chicago or Boston", CITIES, 2_500, late_ms=1_500)


# -- A person together with the echo


@pytest.mark.req("H-12", "V-02")
@pytest.mark.parametrize(
    ("heard", "onset_at", "left"),
    [
        ("you like Chicago, no wait or Boston", 500, "no wait"),
        ("like Chicago. Stop it, please!", 700, "Stop it, please!"),
        ("would you lie Chicago or - yeah", 200, "yeah"),
        ("Stop it, please. Chicago or Boston", 800, "Stop it, please."),
    ],
)
def test_the_words_of_a_person_are_what_remains_without_the_agents(heard: str, onset_at: int, left: str) -> None:
    assert without_own(heard, CITIES, onset_at) == left


@pytest.mark.req("H-06.early", "H-12")
@pytest.mark.parametrize(
    ("heard", "onset_at"),
    [
        ("stop it  please", 700),
        ("Chicago please", 1_300),  # one word in common
        ("like Chicago or so but cheaper", END + 300),  # said after hearing it
        ("I'd really like Chicago", END + 300),
        ("I would like Chicago or Boston too", 2_200),
        ("would you like Chicago", 100),  # nothing but the agent's words: that is for `is_own` to judge
        ("you say Boston or Chicago", 500),  # another order
        ("", 500),
    ],
)
def test_what_a_person_may_have_said_stays_as_it_is(heard: str, onset_at: int) -> None:
    assert without_own(heard, CITIES, onset_at) == heard


@pytest.mark.req("H-12")
def test_the_agents_words_are_also_found_in_text_that_is_late() -> None:
    assert without_own("like Chicago or no wait", CITIES, 2_400) == "like Chicago or no wait"
    assert without_own("like Chicago or no wait", CITIES, 2_400, late_ms=1_500) == "no wait"


def test_text_without_spaces_is_not_divided() -> None:
    own = said("東京行きの便があります")
    assert without_own("東京行きの便が待って", own, 100) == "東京行きの便が待って"


def test_similar_words() -> None:
    assert similarity("noon", "noon") == 1.0
    assert similarity("flights", "fights") > 0.5
    assert similarity("ston", "boston") > 0.5
    assert similarity("yes", "flights") < 0.3


def test_many_words_without_any_recent_word_of_the_agent_are_no_echo() -> None:
    assert not is_own("please research the history of this place for me now", OwnSpeech(), 33_000)
