"""The ledger of questions and answers, read from stimuli, events and effects alone."""

from __future__ import annotations

import pytest

from duologue.core.events import AudioBuffered, PlaybackFinished, PlaybackProgressed, ReplyFinished
from duologue.hearing.inputs import AgentSpoke, QuestionSpan, Typed
from duologue.lab.check.hearing.answer_ledger import (
    NEVER,
    SHOWN_MS,
    AnswerLedger,
    LedgerQuestion,
    LedgerWords,
    abstract_answers,
)
from duologue.lab.check.hearing.check import JOB, HearingExplorer, HearingNode
from duologue.lab.check.hearing.ledger import LedgerChoice
from duologue.lab.check.hearing.product import NewestReplyAsks, Posted, Stimulus, TimePassed
from duologue.ports.ears import Final, SpeechBegan
from tests.lab.check.hearing.broken_hearing import ASKED, JOB_ASKS

HALF = Posted(PlaybackProgressed, (("heard_ms", 600),))
END = Posted(PlaybackFinished, (("heard_ms", 1_200),))
SPOKE = AgentSpoke(0, (), QuestionSpan(0, 1_200))


def after(*stimuli: Stimulus, job: bool = False) -> tuple[AnswerLedger, int]:
    """The ledger after these stimuli, and the time at which the question was posed."""
    explorer = HearingExplorer("confirm", JOB_ASKS if job else ASKED)
    node: HearingNode = explorer.start()
    began_at = node.state.at
    for stimulus in stimuli:
        key = 1 if isinstance(stimulus, SpeechBegan | Final) else 0
        node = explorer.take(node, LedgerChoice(stimulus, key, 2 * key))[0]
    assert node.ledger.answers is not None
    return node.ledger.answers, began_at


def test_a_question_is_heard_when_half_of_it_was_played() -> None:
    ledger, began_at = after(NewestReplyAsks(), Posted(AudioBuffered), SPOKE, TimePassed(700), HALF)
    assert ledger.question == LedgerQuestion(1, began_at + 700, began_at + SHOWN_MS)
    unheard, _ = after(NewestReplyAsks(), Posted(AudioBuffered), TimePassed(700), HALF)
    assert unheard.question.heard_at == NEVER, "where the question is in the speech isn't known yet"
    whole, _ = after(NewestReplyAsks(), Posted(AudioBuffered), TimePassed(1_200), END)
    assert whole.question.heard_at == began_at + 1_200


def test_without_a_voice_a_question_is_shown_for_a_moment() -> None:
    ledger, began_at = after(NewestReplyAsks(), TimePassed(100), Posted(ReplyFinished))
    assert ledger.question.heard_at == began_at + 100 + SHOWN_MS


@pytest.mark.parametrize(
    ("wait_ms", "is_blind", "is_answer"), [(499, False, False), (500, False, True), (500, True, False)]
)
def test_typed_words_answer_a_question_that_was_shown_to_a_user_who_reads(
    wait_ms: int, is_blind: bool, is_answer: bool
) -> None:
    said = Typed(0, "yes", is_blind)
    ledger, _ = after(NewestReplyAsks(), Posted(AudioBuffered), TimePassed(wait_ms), said)
    assert [one.is_answer for one in ledger.requests] == ([is_answer] if ledger.requests else [])
    assert ledger.question.is_answered_by(ledger.words[-1]) is is_answer


def test_words_begin_with_their_onset_not_with_their_text() -> None:
    ledger, began_at = after(
        NewestReplyAsks(),
        Posted(AudioBuffered),
        SPOKE,
        SpeechBegan(2),
        TimePassed(900),
        HALF,
        Final("yes", utterance=2),
    )
    assert [one.began_at for one in ledger.words if not one.is_read] == [began_at]
    assert not ledger.question.is_answered_by(ledger.words[-1])


def test_a_job_is_answered_by_words_after_its_question_only() -> None:
    asks = NewestReplyAsks((JOB,))
    early, _ = after(asks, Typed(0, "yes"), job=True)
    assert early.requests
    assert not early.is_job_answered
    late, _ = after(asks, Posted(AudioBuffered), SPOKE, TimePassed(1_200), END, Typed(0, "yes"), job=True)
    assert late.is_job_answered


def test_the_abstraction_keeps_the_order_of_times() -> None:
    ledger = AnswerLedger(LedgerQuestion(7, 50, 60), words=(LedgerWords(1, 40, True), LedgerWords(2, 60, False)))
    made = abstract_answers(ledger, lambda times: {at: at * 10 for at in times}, {0: 0, 7: 1})
    assert made.question == LedgerQuestion(1, 500, 600)
    assert [one.began_at for one in made.words] == [400, 600]
