"""The state of the hearing machine is one bounded value, from which due times follow."""

from __future__ import annotations

from duologue.core import events as ev
from duologue.hearing.state import KNOWN_MAX, due_times, is_settling, next_due
from duologue.hearing.words import FINALS_MAX
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
    assert call.give(SpeechEnded(5)).hearing is before
