"""The state of the hearing machine is one bounded value, from which due times follow."""

from __future__ import annotations

import pytest

from duologue.core import events as ev
from duologue.core.settings import profile
from duologue.core.state import initial
from duologue.hearing.questions import AskedQuestion, JobQuestion
from duologue.hearing.state import (
    KNOWN_MAX,
    answers_question,
    due_times,
    initial_hearing,
    is_settling,
    may_answer_job,
    new_words,
    next_due,
)
from duologue.hearing.words import FINALS_MAX, SaidTurn, SaidWords
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded
from tests.hearing.heard_calls import HeardCall


def test_nothing_is_due_before_anything_was_heard() -> None:
    call = HeardCall()
    assert next_due(call.product.policy, call.hearing) is None


def test_each_due_time_says_what_it_is_for() -> None:
    call = HeardCall().begin("one", 1).wait(10).give(Partial("one two", utterance=1))
    assert [due.why for due in due_times(call.product.policy, call.hearing)] == ["unchanged"]
    call.give(SpeechEnded(1))
    assert is_settling(call.hearing)
    assert [due.why for due in due_times(call.product.policy, call.hearing)] == ["endpoint"]


def test_a_sound_over_the_agent_is_judged_once_by_how_long_it_lasts() -> None:
    call = HeardCall().speak().give(SpeechBegan(1))
    assert [due.why for due in due_times(call.product.policy, call.hearing)] == ["overlap"]
    call.wait(800)
    assert "overlap" not in [due.why for due in due_times(call.product.policy, call.hearing)]


def test_nothing_is_due_on_a_line_that_wobbles() -> None:
    call = HeardCall().say("book it").post(ev.LinkWobbled)
    assert due_times(call.product.policy, call.hearing) == []


def test_the_state_stays_small_with_ears_that_never_stop() -> None:
    call = HeardCall()
    for number in range(1, 3 * KNOWN_MAX):
        call.give(SpeechBegan(number), Final(f"word{number}", utterance=number)).wait(450)
        call.post(ev.ReplyFinished)
    assert len(call.hearing.known) == KNOWN_MAX
    assert len(call.hearing.words.turns) <= 2 * KNOWN_MAX
    for number in range(3 * FINALS_MAX):
        call.give(Final(f"revised{number}", utterance=3 * KNOWN_MAX - 1))
    assert len(call.hearing.words.turns[-1].finals) <= FINALS_MAX


def test_a_step_that_changes_nothing_returns_the_same_state() -> None:
    call = HeardCall()
    before = call.hearing
    assert call.give(Final("", utterance=5)).hearing is before


@pytest.mark.req("H-14")
def test_words_answer_the_newest_question_only() -> None:
    core = initial(profile("confirm"))._replace(turn=1, said=1)
    words = SaidWords((SaidTurn(1, pieces=((-1, "yes"),), typed_at=800),))
    s = initial_hearing(core, words)._replace(asked_question=AskedQuestion(reply=4, asked_at=700))
    assert answers_question(s, 4, 1, 1)
    assert not answers_question(s, 3, 1, 1), "another question was asked since"
    assert not answers_question(s._replace(asked_question=AskedQuestion(4, 801)), 4, 1, 1)
    aside = AskedQuestion(reply=5, asked_at=750)
    assert not answers_question(s._replace(aside_question=aside), 4, 1, 1), "the yes is for what was asked last"
    assert answers_question(s._replace(aside_question=aside._replace(asked_at=801)), 4, 1, 1), "it came before that"
    handled = words.put(words.of(1)._replace(handled="yes"))
    assert new_words(s._replace(words=handled), 1, 1) is None


@pytest.mark.req("H-14")
def test_a_job_without_a_question_cannot_be_answered() -> None:
    s = initial_hearing(initial(profile("confirm")))
    assert not may_answer_job(s, 1)
    asked = s._replace(job_questions=(JobQuestion(1, AskedQuestion(2, 5), True), JobQuestion(2, AskedQuestion(2, 5))))
    assert [may_answer_job(asked, call) for call in (1, 2, 3)] == [True, False, False]
