"""Each law is noticed when the machine breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from duologue.core import events as ev
from duologue.core.effects import ReportLost
from duologue.core.leaves import Link, Timer
from duologue.core.machine import ROWS, Machine
from duologue.core.rules import RULES, clear_leftovers
from duologue.core.state import initial
from duologue.hearing import intents as it
from duologue.hearing import state as hearing_state
from duologue.hearing.actions import begin_speech, begin_turn_of, end_speech, hear_text, note_question
from duologue.hearing.inputs import Typed
from duologue.hearing.machine import HEARING_ROWS
from duologue.hearing.policy import HearingPolicy
from duologue.hearing.questions import AskedQuestion
from duologue.hearing.state import DueTime, newest_of
from duologue.hearing.words import SaidTurn, SaidWords
from duologue.lab.check.hearing import laws
from duologue.lab.check.hearing.check import JOB, HearingExplorer
from duologue.lab.check.hearing.laws import check_state
from duologue.lab.check.hearing.ledger import LedgerChoice, WordsLedger
from duologue.lab.check.hearing.product import NewestReplyAsks, Posted, TimePassed, begin_product
from duologue.lab.check.hearing.scopes import HearingScope
from tests.lab.check.hearing.broken_hearing import (
    ASKED,
    FIRM,
    JOB_ASKS,
    NOISE,
    SENT,
    TINY,
    broken_laws,
    changed,
    doing,
    finds,
)


def test_the_real_rows_break_no_law_in_what_these_tests_explore() -> None:
    for scope in (TINY, SENT, FIRM, ASKED, JOB_ASKS):
        assert broken_laws(HEARING_ROWS, scope, states_max=500) == set()


@pytest.mark.sweep
@pytest.mark.parametrize("scope", [SENT, FIRM, ASKED, JOB_ASKS], ids=lambda scope: scope.name)
def test_the_real_rows_break_no_law_in_all_that_these_tests_may_explore(scope: HearingScope) -> None:
    assert broken_laws(HEARING_ROWS, scope) == set()


def test_a_word_in_two_turns_is_found() -> None:
    def begin_again(d: Any, i: Any) -> None:
        begin_turn_of(d, newest_of(d), is_withheld=False)  # type: ignore[arg-type]

    assert finds(laws.NO_WORD_TWICE, doing("[is_withheld_no_more]", begin_again), SENT)


def test_final_words_that_are_dropped_are_found() -> None:
    def drop_final(d: Any, heard: Any) -> None:
        if not hasattr(heard, "last_confidence"):
            hear_text(d, heard)

    assert finds(laws.NO_WORD_NOWHERE, doing("-> hear_text", drop_final))


def test_words_without_a_fate_are_found() -> None:
    def hear_silently(d: Any, heard: Any) -> None:
        hear_text(d, heard)
        d.intents = [intent for intent in d.intents if not isinstance(intent, it.HearWords)]

    assert finds(laws.ONE_END, doing("-> hear_text", hear_silently))


def test_words_that_a_call_loses_at_its_end_without_a_report_are_found() -> None:
    def clear_silently(d: Any, e: Any) -> None:
        clear_leftovers(d, e)
        d.effects = [effect for effect in d.effects if not isinstance(effect, ReportLost)]

    silent = [replace(rule, do=clear_silently) if rule.do is clear_leftovers else rule for rule in RULES]
    ending = replace(TINY, ends=True)
    assert finds(laws.ONE_END, HEARING_ROWS, ending, Machine(ROWS, tuple(silent)))
    assert laws.ONE_END not in broken_laws(HEARING_ROWS, ending)


def test_words_before_their_onset_are_found() -> None:
    def begin_silently(d: Any, heard: Any) -> None:
        begin_speech(d, heard)
        d.intents.clear()

    assert finds(laws.ONSET_FIRST, doing("-> begin_speech", begin_silently))


def test_a_verdict_about_an_unknown_onset_is_found() -> None:
    def end_unknown(d: Any, i: Any) -> None:
        d.intents.append(it.EndTurn(d.core.turn, d.core.onset + 7, (), 1.0))
        d.ended_onset = d.core.onset

    assert finds(laws.KNOWN_ONSET, doing("[due_endpoint]", end_unknown))


def test_a_due_time_that_leads_nowhere_is_found() -> None:
    assert finds(laws.NO_TIMER_AWAY, changed("[due_endpoint]", lambda _: None))


@pytest.mark.parametrize("link", [Link.SUSPENDED, Link.HEALING, Link.TERMINATING])
def test_a_due_time_while_the_line_is_away_is_found(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    state = begin_product(initial(TINY.settings("confirm"))._replace(link=link))
    assert laws.NO_TIMER_AWAY not in {law for law, _ in check_state(HearingPolicy(), state, WordsLedger())}
    monkeypatch.setattr(laws, "due_times", lambda policy, hearing: [DueTime(5, "endpoint")])
    assert laws.NO_TIMER_AWAY in {law for law, _ in check_state(HearingPolicy(), state, WordsLedger())}


def test_a_turn_that_time_never_ends_is_found() -> None:
    endless = tuple(
        replace(row, on=tuple(on for on in row.on if on not in (Timer.TALK, Timer.SETTLE, Timer.READY))) for row in ROWS
    )
    assert finds(laws.EVERY_WAIT_ENDS, HEARING_ROWS, TINY, Machine(endless))


def test_an_end_of_speech_without_a_beginning_is_found() -> None:
    def end_twice(d: Any, heard: Any) -> None:
        end_speech(d, heard)
        d.intents.append(it.StopSpeech())

    assert finds(laws.STOP_AFTER_BEGIN, doing("-> end_speech", end_twice))


def test_a_state_that_grows_without_end_is_found() -> None:
    state = begin_product(initial(TINY.settings("confirm")))
    turn = SaidTurn(1, finals=tuple((f"word{number}", number) for number in range(100)))
    grown = state._replace(hearing=state.hearing._replace(words=SaidWords((turn,))))
    assert laws.BOUNDED in {law for law, _ in check_state(HearingPolicy(), grown, WordsLedger())}


def test_a_machine_with_a_hidden_memory_is_found() -> None:
    counted = count()

    def begin_sometimes(d: Any, heard: Any) -> None:
        begin_speech(d, heard)
        d.frames_turn = next(counted)

    assert finds(laws.SAME_AGAIN, doing("-> begin_speech", begin_sometimes), SENT)


def test_words_that_the_conversation_machine_counts_otherwise_are_found() -> None:
    def miscount(d: Any, heard: Any) -> None:
        hear_text(d, heard)
        d.intents = [replace(one, words=one.words + 1) if isinstance(one, it.HearWords) else one for one in d.intents]

    assert finds(laws.ASKED_AS_SAID, doing("-> hear_text", miscount))


def test_a_sent_turn_that_waits_for_a_sound_is_found() -> None:
    def begin_at_once(d: Any, i: Any) -> None:
        newest = newest_of(d)
        assert newest is not None
        begin_turn_of(d, newest._replace(taken=((newest.turn, 1),)), is_withheld=False)

    assert finds(laws.SEND_MEANS_SEND, doing("[ended_in_speech]", begin_at_once), SENT)


def test_words_over_a_firm_reply_that_are_only_overheard_are_found() -> None:
    def belittle(d: Any, heard: Any) -> None:
        hear_text(d, heard)
        d.intents = [replace(one, substantial=0) if isinstance(one, it.HearWords) else one for one in d.intents]

    assert finds(laws.FIRM_IS_ANSWERED, doing("-> hear_text", belittle), FIRM)


# -- A yes counts for what was asked


def _ask(change: Callable[[AskedQuestion], AskedQuestion]) -> Callable[[Any, Any], None]:
    """`note_question`, but the questions that it notes are changed."""

    def ask(d: Any, i: Any) -> None:
        note_question(d, i)
        d.asked_question = change(d.asked_question)
        d.job_questions = tuple(one._replace(question=change(one.question)) for one in d.job_questions)

    return ask


@pytest.mark.req("H-14")
def test_a_yes_before_a_question_that_the_machine_never_heard_of_is_found() -> None:
    rows = changed("-> note_question", lambda _: None)
    assert finds("turn 2 began before the question was asked, but confirms a flow", rows, ASKED)
    assert finds(laws.YES_TO_WHAT_WAS_ASKED, rows, ASKED)


@pytest.mark.req("H-14")
def test_a_question_that_counts_as_asked_before_it_was_heard_is_found() -> None:
    """In a flow, for a tool that wants approval, and for a job that asks."""
    rows = doing("-> note_question", _ask(lambda question: question._replace(asked_at=0)))
    assert finds("turn 2 began before the question was asked, but confirms a flow", rows, ASKED)
    assert finds("turn 2 began before the question was asked, but approves a tool", rows, ASKED)
    assert finds("what the user said before the question of a job was asked counts as its answer", rows, JOB_ASKS)


@pytest.mark.req("H-14")
def test_a_question_that_is_shown_at_once_is_found() -> None:
    rows = doing("-> note_question", _ask(lambda question: question._replace(shown_at=0)))
    assert finds(laws.YES_TO_WHAT_WAS_ASKED, rows, ASKED)
    assert finds("what the user said before the question of a job was asked counts as its answer", rows, JOB_ASKS)


@pytest.mark.req("H-14")
def test_a_question_that_is_never_asked_is_found() -> None:
    """Otherwise every yes would be asked again, for ever."""
    rows = doing("-> note_question", _ask(lambda question: question._replace(reply=99)))
    assert finds("turn 2 began after the question was asked, but doesn't count as an answer", rows, ASKED)
    unanswered = "what the user said after the question of a job was asked doesn't count as its answer"
    assert finds(unanswered, rows, JOB_ASKS)


@pytest.mark.req("H-14")
def test_a_job_that_takes_any_words_for_its_answer_is_found() -> None:
    def ask(d: Any, i: Any) -> None:
        note_question(d, i)
        d.job_questions = tuple(one._replace(is_answerable=True) for one in d.job_questions)

    wrong = "what the user said before the question of a job was asked counts as its answer"
    assert finds(wrong, doing("-> note_question", ask), JOB_ASKS)


@pytest.mark.req("H-14")
@pytest.mark.parametrize("scope", [ASKED, JOB_ASKS], ids=lambda scope: scope.name)
def test_a_yes_to_another_question_of_the_agent_is_found(scope: HearingScope) -> None:
    """ "Are you still there?" is a question too, and a yes to it confirms nothing else."""

    def ask(d: Any, i: Any) -> None:
        if not i.is_aside:
            note_question(d, i)

    rows = doing("-> note_question", ask)
    explorer = HearingExplorer("confirm", scope, rows, violations_max=30)
    node = explorer.start()
    ended = (Posted(ev.AudioBuffered), Posted(ev.PlaybackFinished, (("heard_ms", 1_200),)))
    job = (JOB,) if scope.job else ()
    for stimulus in (
        *(NewestReplyAsks(job), *ended, Typed(0, "what"), TimePassed(3_000), NewestReplyAsks(is_aside=True), *ended),
        Typed(0, "yes"),
    ):
        node, step = explorer.take(node, LedgerChoice(stimulus))
    broken = [message for law, message in laws.check_answers(step, node.ledger) if law == laws.YES_TO_WHAT_WAS_ASKED]
    assert broken, "the machine has not heard of the other question, and takes the yes for its own"


@pytest.mark.req("H-08")
def test_a_noise_that_delays_a_check_in_for_more_than_a_period_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert broken_laws(HEARING_ROWS, NOISE) == set()
    monkeypatch.setattr(hearing_state, "wordless_limit_ms", lambda policy, core: policy.wordless_ms_max)
    assert finds(laws.NOISE_IS_BOUNDED, HEARING_ROWS, NOISE)


def test_every_law_has_a_title_with_its_number() -> None:
    assert [law.split()[0] for law in laws.LAWS] == [str(number) for number in range(1, len(laws.LAWS) + 1)]
