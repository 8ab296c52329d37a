"""The machine between a plugin's speech events and the reports of ears."""

from __future__ import annotations

import pytest

from duologue.ears.service_utterances import (
    KNOWN_MAX,
    LATE_MS,
    Given,
    OnsetHeard,
    SilenceHeard,
    SpokenState,
    TextHeard,
    TextOverdue,
    step,
)
from duologue.ports.ears import Commit, Discard, Final, Heard, Partial, SpeechBegan, SpeechEnded, TurnOver


def reports(*given: tuple[int, Given], judges_turns: bool = False) -> list[Heard]:
    state, told = SpokenState(judges_turns=judges_turns), list[Heard]()
    for at_ms, one in given:
        state, new = step(state, one, at_ms)
        told += new
    return told


def interim(text: str, end_ms: int = 0) -> TextHeard:
    return TextHeard(text, 0.9, end_ms)


def final(text: str, end_ms: int = 0, confidence: float = 0.9) -> TextHeard:
    return TextHeard(text, confidence, end_ms, settled=True)


BEGIN, END = OnsetHeard(), SilenceHeard()


def test_several_final_texts_of_one_utterance_are_joined() -> None:
    told = reports((100, BEGIN), (900, final("I would like")), (1500, final("two tickets")), (1600, END))
    assert [type(one) for one in told] == [SpeechBegan, Partial, Partial, SpeechEnded, Final]
    assert told[-1] == Final("I would like two tickets", pytest.approx(0.9), 1)  # type: ignore[arg-type]


def test_a_final_text_in_the_middle_of_speech_does_not_end_the_utterance() -> None:
    told = reports((100, BEGIN), (900, final("I would like")), (1200, interim("two")))
    assert told[-1] == Partial("I would like two", pytest.approx(0.9), 1, None)  # type: ignore[arg-type]
    assert not any(isinstance(one, Final | SpeechEnded) for one in told)


def test_text_that_comes_after_the_end_of_speech_belongs_to_that_speech() -> None:
    told = reports((100, BEGIN), (800, END), (1200, final("yes please")))
    assert told[1:] == [SpeechEnded(1), Final("yes please", 0.9, 1)]


def test_text_of_the_first_utterance_that_comes_in_the_second_stays_with_the_first() -> None:
    told = reports((100, BEGIN), (800, END), (1000, BEGIN), (1300, final("yes please")), (1500, END))
    assert [one for one in told if isinstance(one, Final)] == [Final("yes please", 0.9, 1)]


def test_the_times_of_words_decide_to_which_utterance_a_late_text_belongs() -> None:
    given = (100, BEGIN), (800, final("yes", 700)), (810, END), (1000, BEGIN), (1300, final("please", 790))
    finals = [one for one in reports(*given) if isinstance(one, Final)]
    assert [(one.utterance, one.text) for one in finals] == [(1, "yes"), (1, "yes please")]


@pytest.mark.req("H-15")
def test_a_final_text_after_the_commit_stays_with_its_turn() -> None:
    told = reports((100, BEGIN), (800, interim("two tick")), (1200, Commit(1)), (1400, final("two tickets")))
    assert told[-1] == Final("two tickets", 0.9, 1)
    assert sum(isinstance(one, SpeechBegan) for one in told) == 1


@pytest.mark.req("H-15")
def test_more_final_text_after_the_commit_is_added_to_the_same_utterance() -> None:
    told = reports((100, BEGIN), (800, final("two tickets")), (1200, Commit(1)), (1400, final("for Friday")))
    assert [one.text for one in told if isinstance(one, Final)] == ["two tickets", "two tickets for Friday"]
    assert {one.utterance for one in told} == {1}


def test_text_long_after_an_utterance_is_a_new_one() -> None:
    told = reports((100, BEGIN), (800, final("yes")), (810, END), (811 + LATE_MS, final("hello")))
    assert told[-2:] == [SpeechBegan(2), Partial("hello", 0.9, 2, 1.0)]


def test_speech_that_goes_on_after_a_commit_is_another_utterance() -> None:
    told = reports(
        (100, BEGIN),
        (800, interim("one two", 700)),
        (900, Commit(1)),
        (950, final("one two", 850)),
        (1400, interim("three", 1300)),
    )
    assert told[-3:] == [Final("one two", 0.9, 1), SpeechBegan(2), Partial("three", 0.9, 2, None)]


def test_discarded_noise_has_no_text_and_what_follows_counts() -> None:
    told = reports(
        (100, BEGIN), (500, interim("hm")), (600, Discard(1)), (700, final("hm", 450)), (1500, interim("hello", 1400))
    )
    assert not any(isinstance(one, Final) for one in told)
    assert told[-2:] == [SpeechBegan(2), Partial("hello", 0.9, 2, None)]


def test_a_final_text_that_never_comes_is_replaced_by_the_partial_one() -> None:
    told = reports((100, BEGIN), (800, interim("two tickets")), (900, END), (2400, TextOverdue()))
    assert told[-1] == Final("two tickets", 0.9, 1)


def test_an_utterance_without_words_ends_with_an_empty_text() -> None:
    assert reports((100, BEGIN), (400, END), (1900, TextOverdue()))[-1] == Final("", 1.0, 1)


def test_a_service_that_judges_turns_ends_them() -> None:
    told = reports((100, BEGIN), (800, final("yes")), (810, END), judges_turns=True)
    assert told[-1] == TurnOver(1)


def test_text_without_an_onset_begins_an_utterance() -> None:
    assert reports((500, interim("hello"))) == [SpeechBegan(1), Partial("hello", 0.9, 1, None)]


def test_a_second_onset_and_a_second_end_change_nothing() -> None:
    told = reports((100, BEGIN), (200, BEGIN), (300, final("yes")), (400, END), (500, END))
    assert [type(one) for one in told] == [SpeechBegan, Partial, SpeechEnded, Final]


def test_the_confidence_is_the_mean_of_the_texts() -> None:
    told = reports((100, BEGIN), (200, final("abcd", confidence=1.0)), (300, final("efgh", confidence=0.5)), (400, END))
    assert isinstance(told[-1], Final)
    assert told[-1].confidence == pytest.approx(0.75)


def test_only_the_newest_utterances_are_remembered() -> None:
    state = SpokenState()
    for at_ms in range(0, 100_000, 5_000):
        for one in (BEGIN, final("yes"), END):
            state, _ = step(state, one, at_ms)
    assert len(state.known) == KNOWN_MAX
