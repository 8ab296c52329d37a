"""The brain is asked before the turn is certain to be over: the answer counts if the turn ends with the same words."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.leaves import EARLY, Ask, ErrorClass, Link, Reply, User, Voice
from duologue.core.settings import profile
from duologue.core.views import VIEWS
from duologue.lab.sim.stage import Stage

WORDS = 7  # the id of the words that were said
OTHER = 8


def paused(name: str = "confirm", **changes: object) -> Stage:
    """The person has said something, and may go on."""
    stage = Stage(profile(name, **{"dead_air_ms": 0, "greets": False, **changes}))
    stage.start()
    stage.begin_talking()
    stage.hear_words(gist=WORDS)
    stage.happen(ev.SpeechStopped)
    stage.wait(100)
    stage.hear_words(final=True, gist=WORDS)
    return stage


def asked_early(name: str = "confirm", **changes: object) -> Stage:
    stage = paused(name, **changes)
    assert stage.happen(ev.TurnGuessed, gist=WORDS) == (fx.GuessReply(1, 1, 1),)
    return stage


def go_to(stage: Stage, leaf: Reply) -> Stage:
    """The early answer has got this far."""
    if leaf in (Reply.DRAFTING, Reply.DRAFTED):
        stage.happen(ev.TokenArrived)
    if leaf is Reply.DRAFTED:
        stage.happen(ev.AudioBuffered)
    assert stage.state.reply is leaf
    return stage


def drafted() -> Stage:
    return go_to(asked_early(), Reply.DRAFTED)


at_each_leaf = pytest.mark.parametrize("leaf", EARLY)


# -- The turn ends with the same words


@pytest.mark.req("H-16")
@pytest.mark.parametrize("name", ["immediate", "confirm", "words"])
def test_an_answer_that_is_ready_plays_in_the_step_that_ends_the_turn(name: str) -> None:
    stage = asked_early(name)
    stage.happen(ev.TokenArrived)
    stage.happen(ev.AudioBuffered)
    effects = stage.happen(ev.TurnEnded)
    assert fx.StartReply(1, 1, 1, Ask.ANSWER) in effects
    assert fx.StartPlayback(1, 1) in effects
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("H-16", "C-INT-005", "C-AC-002")
def test_a_guess_and_its_confirmation_are_one_request() -> None:
    stage = drafted()
    stage.happen(ev.TurnEnded)
    assert stage.effects(fx.GuessReply) == [fx.GuessReply(1, 1, 1)]
    assert stage.effects(fx.StartReply) == [fx.StartReply(1, 1, 1, Ask.ANSWER)]
    assert stage.effects(fx.CancelReply) == []


@pytest.mark.req("H-16")
@pytest.mark.parametrize(
    ("events", "leaf"),
    [((), Reply.WAITING), ((ev.TokenArrived,), Reply.GENERATING)],
    ids=["nothing yet", "tokens"],
)
def test_an_answer_that_is_not_ready_goes_on_from_where_it_is(events: tuple[type[ev.Event], ...], leaf: Reply) -> None:
    stage = asked_early()
    for kind in events:
        stage.happen(kind)
    stage.happen(ev.TurnEnded)
    assert stage.state.reply is leaf
    stage.happen(ev.AudioBuffered)
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("H-16")
def test_sound_that_comes_without_a_token_before_it_is_a_draft() -> None:
    stage = asked_early()
    stage.happen(ev.AudioBuffered)
    assert stage.state.reply is Reply.DRAFTED
    stage.happen(ev.TurnEnded)
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("H-16")
def test_until_the_turn_ends_it_does_not_count_as_asked_and_no_view_shows_it() -> None:
    stage = paused()
    seen = {name: view.see(stage.state) for name, view in VIEWS.items()}
    for kind, given in ((ev.TurnGuessed, {"gist": WORDS}), (ev.TokenArrived, {}), (ev.AudioBuffered, {})):
        stage.happen(kind, **given)
        assert stage.state.reply in EARLY
        assert stage.state.asked == 0
        assert {name: view.see(stage.state) for name, view in VIEWS.items()} == seen
    stage.happen(ev.TurnEnded)
    assert stage.state.asked == 1


@pytest.mark.req("H-16")
def test_a_text_that_differs_in_case_or_punctuation_only_is_the_same_question() -> None:
    stage = drafted()
    stage.hear_words(final=True, gist=WORDS, content=2)
    assert stage.state.reply is Reply.DRAFTED
    stage.happen(ev.TurnEnded)
    assert stage.state.voice is Voice.PLAYING


@pytest.mark.req("H-16")
def test_a_noise_after_the_words_changes_nothing() -> None:
    stage = drafted()
    stage.happen(ev.SpeechStarted)
    stage.happen(ev.SoundDismissed)
    assert stage.state.voice is Voice.PLAYING
    assert stage.effects(fx.CancelReply) == []


@pytest.mark.req("H-16")
def test_an_answer_goes_on_after_a_pause_of_the_conversation() -> None:
    stage = drafted()
    stage.happen(ev.SuspendRequested)
    stage.happen(ev.TurnEnded)
    assert stage.state.reply is Reply.DRAFTED
    stage.happen(ev.ResumeRequested)
    assert stage.state.voice is Voice.PLAYING


# -- It is dropped unheard


def is_dropped(stage: Stage) -> bool:
    return stage.effects(fx.CancelReply) == [fx.CancelReply(1)] and stage.effects(fx.StartPlayback) == []


@pytest.mark.req("H-16")
def test_other_words_drop_it_and_are_asked_when_the_turn_ends() -> None:
    stage = drafted()
    stage.happen(ev.SpeechStarted)
    stage.hear_words(5, gist=OTHER)
    assert is_dropped(stage)
    assert stage.state.reply is Reply.NONE
    stage.happen(ev.SpeechStopped)
    stage.hear_words(5, final=True, gist=OTHER)
    stage.happen(ev.TurnEnded)
    assert stage.effects(fx.StartReply) == [fx.StartReply(3, 1, 1, Ask.ANSWER)]


@pytest.mark.req("H-16")
@at_each_leaf
@pytest.mark.parametrize("kind", [ev.TextTyped, ev.InterruptRequested, ev.EndRequested, ev.LinkClosed])
def test_a_typed_text_a_command_an_end_and_a_lost_line_drop_it(kind: type[ev.Event], leaf: Reply) -> None:
    stage = go_to(asked_early(), leaf)
    stage.happen(kind)
    assert is_dropped(stage)
    assert stage.state.reply not in EARLY


@pytest.mark.req("H-16")
@at_each_leaf
@pytest.mark.parametrize("kind", [ev.SpeechStarted, ev.PttPressed])
def test_the_next_turn_drops_it(kind: type[ev.Event], leaf: Reply) -> None:
    stage = paused()
    stage.happen(ev.SpeechStarted)  # its text is unread, so the turn waits for it
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnGuessed, gist=WORDS)
    stage.happen(ev.SpeechStarted)
    stage.happen(ev.TurnEnded)
    assert stage.state.user is User.TRANSCRIBING
    go_to(stage, leaf)
    stage.happen(kind)
    assert is_dropped(stage)


@pytest.mark.req("H-16")
@at_each_leaf
@pytest.mark.parametrize("error", [ErrorClass.SERVER_ERROR, ErrorClass.AUTH_FAILURE])
def test_a_failure_of_an_early_request_is_no_fault_and_the_turn_is_asked_in_its_time(
    error: ErrorClass, leaf: Reply
) -> None:
    stage = go_to(asked_early(), leaf)
    stage.happen(ev.ReplyFailed, error=error)
    assert stage.state.link is Link.UP
    assert stage.state.reply is Reply.NONE
    stage.happen(ev.TurnEnded)
    assert stage.state.reply is Reply.COMMITTING


@pytest.mark.req("H-16")
def test_an_early_request_that_hangs_is_dropped_after_the_limit_of_an_attempt() -> None:
    stage = asked_early(settle_ms_max=60_000)
    stage.wait(stage.settings.attempt_ms_max)
    assert is_dropped(stage)
    assert stage.state.user is User.SETTLING


@pytest.mark.req("H-16", "H-04.offer")
@at_each_leaf
def test_another_agent_that_is_to_speak_drops_it_and_one_that_waits_does_not(leaf: Reply) -> None:
    stage = go_to(asked_early(), leaf)
    stage.happen(ev.AgentChangeRequested, speaks=False)
    assert stage.state.reply is leaf
    stage.happen(ev.AgentChangeRequested, speaks=True)
    assert is_dropped(stage)
    assert stage.state.reply not in EARLY


def after_words_over_the_question() -> tuple[Stage, int]:
    """A turn over the agent's question was passed over; the next turn is asked early. Returns the passed-over turn."""
    stage = Stage(profile("words", dead_air_ms=0, greets=False))
    stage.start()
    stage.say()
    stage.think()
    stage.speak(600)
    stage.begin_talking()
    stage.hear_words(1, final=True, gist=1)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.happen(ev.PlaybackFinished, heard_ms=900)
    overheard = stage.state.turn
    stage.begin_talking()
    stage.hear_words(final=True, gist=WORDS)
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnGuessed, gist=WORDS)
    return stage, overheard


@pytest.mark.req("H-16")
@at_each_leaf
def test_words_that_were_said_over_the_question_after_all_drop_it(leaf: Reply) -> None:
    stage, overheard = after_words_over_the_question()
    go_to(stage, leaf)
    stage.happen(ev.AnswerOverheard, turn=overheard)
    assert stage.state.reply is Reply.NONE
    stage.happen(ev.TurnEnded)
    assert stage.effects(fx.StartReply)[-1].first == overheard


@pytest.mark.req("H-16")
def test_a_turn_that_was_answered_long_ago_can_not_drop_it() -> None:
    stage, overheard = after_words_over_the_question()
    stage.happen(ev.AnswerOverheard, turn=overheard - 1)
    assert stage.state.reply is Reply.GUESSING


# -- When the brain may be asked early


@pytest.mark.req("H-16")
def test_the_requests_about_a_turn_are_bounded() -> None:
    stage = asked_early()
    for gist in (OTHER, OTHER + 1, OTHER + 2):
        stage.hear_words(5, final=True, gist=gist)
        stage.happen(ev.TurnGuessed, gist=gist)
    stage.happen(ev.TurnEnded)
    assert len(stage.effects(fx.GuessReply)) == 2
    assert len(stage.effects(fx.StartReply)) == 1


@pytest.mark.req("H-16")
@at_each_leaf
def test_a_new_guess_cancels_the_old_one_in_the_same_step(leaf: Reply) -> None:
    stage = go_to(asked_early(), leaf)
    assert stage.happen(ev.TurnGuessed, gist=OTHER) == (fx.CancelReply(1), fx.GuessReply(3, 1, 1))


@pytest.mark.req("H-16")
def test_none_is_sent_early_if_the_setting_says_so() -> None:
    assert paused(early_requests_max=0).happen(ev.TurnGuessed, gist=WORDS) == ()


@pytest.mark.req("H-16")
def test_the_next_turn_may_be_asked_early_again() -> None:
    stage = drafted()
    stage.happen(ev.TurnEnded)
    stage.happen(ev.PlaybackFinished, heard_ms=900)
    stage.begin_talking()
    stage.hear_words(final=True, gist=OTHER)
    stage.happen(ev.SpeechStopped)
    assert stage.happen(ev.TurnGuessed, gist=OTHER) == (fx.GuessReply(3, 2, 2),)


@pytest.mark.req("H-16", "L-07")
def test_an_early_reply_calls_nothing() -> None:
    stage = drafted()
    before = stage.state
    stage.happen(ev.ToolCalled, call=1)
    assert stage.state is before
    stage.happen(ev.TurnEnded)
    stage.happen(ev.ToolCalled, call=1)
    assert stage.effects(fx.RunCall) == [fx.RunCall(1)]


@pytest.mark.req("H-16")
@at_each_leaf
def test_an_early_reply_may_become_firm_and_is_not_once_it_is_dropped(leaf: Reply) -> None:
    stage = go_to(asked_early(), leaf)
    for _ in range(2):  # the second one says nothing new
        stage.happen(ev.ReplyBecameFirm)
        assert stage.state.firm
    stage.hear_words(5, gist=OTHER)
    assert not stage.state.firm
