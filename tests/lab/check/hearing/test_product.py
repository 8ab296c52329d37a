"""Both machines together, in the order in which the runtime runs them."""

from __future__ import annotations

from duologue.core import events as ev
from duologue.core.leaves import User
from duologue.core.settings import PROFILES
from duologue.core.state import initial
from duologue.hearing import inputs as inp
from duologue.hearing import intents as it
from duologue.lab.check.hearing.product import (
    HearingProduct,
    OldReplyHeard,
    Posted,
    ProductState,
    Stimulus,
    TimePassed,
    begin_product,
)
from duologue.ports.ears import Final, Partial, SpeechBegan

START: list[Stimulus] = [Posted(ev.StartRequested), Posted(ev.SessionReady)]
PRODUCT = HearingProduct()


def after(*stimuli: Stimulus) -> ProductState:
    state = begin_product(initial(PROFILES["confirm"]))
    for step in PRODUCT.replay(state, [*START, *stimuli]):
        state = step.after
    return state


def test_an_intent_becomes_an_event_with_the_next_number_and_the_time() -> None:
    step = PRODUCT.take(after(TimePassed(250)), SpeechBegan(1))
    (told,) = step.steps
    assert isinstance(told.intent, it.BeginSpeech)
    assert told.record.event == ev.SpeechStarted(250, 2)
    assert step.after.core.user is User.TALKING


def test_what_follows_from_a_step_is_told_before_the_rest_of_the_batch() -> None:
    """The voice goes on after typed text: the new turn begins before anything else is told."""
    step = PRODUCT.take(after(SpeechBegan(1), Partial("one", utterance=1)), inp.Typed(0, "two"))
    assert [type(told.record.event) for told in step.steps] == [ev.TextTyped, ev.SpeechStarted]
    assert step.after.core.turn == 2


def test_an_event_that_is_ignored_is_recorded_without_a_change() -> None:
    (told,) = PRODUCT.take(after(), Posted(ev.PlaybackFinished, (("heard_ms", 5),))).steps
    assert told.record.after is told.record.before


def test_a_refused_event_is_a_failure_and_changes_nothing() -> None:
    before = after()
    given = (("turn", 5), ("words", 1), ("substantial", 1))
    step = PRODUCT.take(before, Posted(ev.WordsHeard, given))
    assert "the newest turn is 0" in step.failures[0]
    assert step.after.core is before.core


def test_an_old_reply_that_was_heard_has_handled_the_words_of_its_request() -> None:
    asked = after(inp.Typed(0, "one"))
    assert asked.hearing.words.of(1).handled == ""
    assert PRODUCT.take(asked, OldReplyHeard()).after.hearing.words.of(1).handled == "one"
    assert PRODUCT.take(after(), OldReplyHeard()).after == after()


def test_time_passes_to_the_earliest_due_time_of_either_machine() -> None:
    settled = after(SpeechBegan(1), Final("one two", utterance=1))
    assert PRODUCT.next_due(settled) == 400
    step = PRODUCT.take(settled, TimePassed())
    assert step.after.at == 400
    assert [type(told.record.event) for told in step.steps] == [ev.TurnEnded]
    unread = after(SpeechBegan(1), inp.EarsStopped(0))
    assert PRODUCT.take(unread, TimePassed()).after.at == 600  # the conversation machine counts the sound as noise


def test_the_same_stimuli_give_the_same_states() -> None:
    partial, final = Partial("one", utterance=1), Final("one two", utterance=1)
    stimuli: list[Stimulus] = [SpeechBegan(1), partial, TimePassed(), final, TimePassed()]
    assert after(*stimuli) == after(*stimuli)
