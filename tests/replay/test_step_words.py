"""Steps in plain words: every event and effect has its words; ignored steps are left out."""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core import events as ev
from duologue.core.effects import EFFECTS
from duologue.core.events import EVENTS
from duologue.core.leaves import Ask, Cue, ErrorClass, Timer
from duologue.core.settings import profile
from duologue.lab.sim.stage import Stage
from duologue.replay.step_words import EFFECT_WORDS, EVENT_WORDS, StoryLine, describe


def last_line(stage: Stage) -> StoryLine | None:
    return describe(stage.records[-1])


def started() -> Stage:
    stage = Stage()
    stage.start()
    return stage


def test_every_event_and_every_effect_has_its_words() -> None:
    assert set(EVENT_WORDS) == set(EVENTS)
    assert set(EFFECT_WORDS) == set(EFFECTS)


def test_a_line_says_when_what_happened_and_what_was_done() -> None:
    stage = started()
    stage.say()
    stage.think()
    stage.speak(400)
    stage.begin_talking()
    assert last_line(stage) == StoryLine(stage.at, "user makes a sound", ("playback held",))


def test_a_step_that_the_machine_ignored_is_not_described() -> None:
    stage = started()
    stage.happen(ev.LinkHealed)
    assert last_line(stage) is None


def test_small_steps_are_described_only_if_they_cause_something() -> None:
    stage = started()
    stage.begin_talking()
    stage.hear_words(2)
    assert last_line(stage) is None
    stage.happen(ev.SpeechStopped)
    stage.happen(ev.TurnEnded)
    stage.hear_words(2, final=True)
    assert last_line(stage) == StoryLine(0, "words are recognised", ("request sent",))


def test_a_ready_answer_that_has_to_wait_is_described_as_waiting() -> None:
    stage = started()
    stage.say()
    stage.think()
    stage.begin_talking()
    stage.happen(ev.AudioBuffered)
    line = last_line(stage)
    assert line is not None
    assert line.done == ("answer waits for the floor",)


def test_words_during_a_call_are_described_as_queued() -> None:
    stage = started()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.happen(ev.ReplyFinished)
    stage.say()
    assert last_line(stage) == StoryLine(stage.at, "user has finished", ("queued for later",))


def test_a_deadline_is_described_by_its_meaning() -> None:
    stage = Stage(profile("confirm", dead_air_ms=20_000))
    stage.start()
    stage.wait_for(Timer.DEAD_AIR)
    assert last_line(stage) == StoryLine(20_000, "silence lasts too long", ("check-in requested",))
    stage.fail_reply(ErrorClass.RATE_LIMIT)
    stage.wait_for(Timer.RETRY)
    line = last_line(stage)
    assert line is not None
    assert line.happened == "time to try again"


@pytest.mark.req("C-SEC-003")
def test_a_fault_is_described_by_its_class_and_nothing_else() -> None:
    stage = started()
    stage.say()
    stage.fail_reply(ErrorClass.AUTH_FAILURE)
    line = last_line(stage)
    assert line is not None
    assert line.happened == "brain fails: auth failure"
    assert line.done == (
        "fatal fault shown: brain, auth failure",
        "user is told that the conversation ends",
        "request cancelled",
    )


def test_a_notable_event_is_described_even_without_an_effect() -> None:
    assert last_line(started()) == StoryLine(0, "session is ready", ())


def test_a_request_with_news_is_not_described_as_an_answer() -> None:
    stage = started()
    stage.say()
    stage.think()
    stage.call_tool()
    stage.happen(ev.CallDispatched)
    stage.happen(ev.ReplyFinished)
    stage.wait_for(Timer.BEAT)
    stage.answer()
    stage.happen(ev.JobFinished)
    stage.wait_for(Timer.BEAT)
    assert last_line(stage) == StoryLine(stage.at, "floor is free", ("news sent to the brain",))


def test_a_goodbye_is_not_called_a_check_in() -> None:
    stage = Stage(profile("confirm", dead_air_ms=20_000, check_ins_max=0, hangs_up=True))
    stage.start()
    stage.wait_for(Timer.DEAD_AIR)
    assert last_line(stage) == StoryLine(20_000, "silence lasts too long", ("goodbye requested",))


def test_an_offer_to_go_on_is_neither_a_check_in_nor_a_goodbye() -> None:
    stage = started()
    stage.say()
    stage.think()
    stage.speak(600)
    stage.begin_talking()
    stage.happen(ev.OverlapJudged, bid=True)
    stage.happen(ev.PlaybackStopped, heard_ms=600)
    stage.happen(ev.SpeechStopped)
    stage.wait_for(Timer.OFFER)
    assert last_line(stage) == StoryLine(stage.at, "interruption had no words", ("offer to go on requested",))


def test_a_cue_is_described_by_what_it_tells() -> None:
    stage = started()
    stage.say()
    stage.happen(ev.ReplyAccepted)
    stage.wait_for(Timer.CUE)
    assert last_line(stage) == StoryLine(stage.at, "user waits in silence", ("thinking sound heard",))
    stage.wait_for(Timer.CUE)
    assert last_line(stage) == StoryLine(stage.at, "user waits in silence", ("user is told what is going on",))


def test_every_cue_and_every_request_has_its_words() -> None:
    said = {str(EFFECT_WORDS[fx.PlayCue](fx.PlayCue(cue))) for cue in Cue}  # type: ignore[operator]
    assert len(said) == len(Cue)
    asked = {str(EFFECT_WORDS[fx.StartReply](fx.StartReply(1, 1, 1, ask))) for ask in Ask}  # type: ignore[operator]
    assert len(asked) == len(Ask)
