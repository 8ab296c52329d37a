"""What the user hears while they wait, and what they are told if an answer fails."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import pytest

from duologue.core import effects as fx
from duologue.core.leaves import Cue, ErrorClass
from duologue.core.settings import profile
from duologue.lines.scripted import ScriptedLine
from duologue.observe import signals as sg
from duologue.ports import Request, ServiceError, SpeechBegan, SpeechEnded, ToolCall
from duologue.ports.ears import Final
from duologue.ports.history import UserSaid
from duologue.ports.sound import Sound
from duologue.runtime.agent import Phrases
from duologue.testing import Delay, Fail, Hang, ScriptedBrain, ScriptedSession, scripted_tool
from duologue.voice.sounds import Sounds
from tests.runtime.runtime_fakes import Stage, play

Act: TypeAlias = Callable[[Stage], Awaitable[None]]


def cues(stage: Stage) -> list[str]:
    return [told.cue for told in stage.told(sg.CueGiven)]


def said(stage: Stage) -> list[str]:
    return [told.text for told in stage.told(sg.CueGiven)]


def sounded(stage: Stage) -> list[str]:
    """What was heard, in order: voices and cues."""
    return [one.what for one in stage.line.sounded]


@pytest.mark.req("H-01.words", "H-01.signs", "H-01.own")
def test_a_user_who_waits_hears_a_sound_then_words_and_then_the_answer() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        asked = next(record.event.at for record in stage.records if record.after.said)
        await stage.rest()
        told = stage.told(sg.CueGiven)
        assert [(one.at - asked, one.cue) for one in told] == [(2_500, "sound"), (5_500, "words")]
        assert told[1].text in (
            "I'm still working on that.",
            "One moment, I'm working on it.",
            "Bear with me, I'm on it.",
        )
        assert sounded(stage) == ["cue", "cue", "voice"]
        assert stage.heard == ["Good day."], "a cue is no part of the history"
        assert stage.state == "listening"

    play(scene, ScriptedBrain([[Delay(7_500), "Good day."]]))


@pytest.mark.req("H-01.onset")
def test_an_onset_stops_a_cue_in_its_own_millisecond() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.line.is_cue_sounding)
        await stage.sleep(200)
        await stage.begin("and one thing more")
        assert not stage.line.is_cue_sounding
        onset = next(record.event.at for record in stage.records if record.after.turn == 2)
        assert stage.line.sounded[-1].end_ms == onset

    play(scene, ScriptedBrain([[Delay(7_900), "Good day."]]))


@pytest.mark.req("H-01.signs", "L-09")
def test_a_long_tool_call_is_never_silent_for_ten_seconds() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("look it up")
        await stage.rest()
        heard = stage.line.sounded
        gaps = [after.start_ms - one.end_ms for one, after in itertools.pairwise(heard)]
        assert max(gaps) < 10_000
        assert said(stage)[0::2] == [""] * len(said(stage)[0::2]), "the sound and words take turns"
        assert set(said(stage)[1::2]) <= {
            "I'm still looking that up.",
            "I'm checking that for you. One moment.",
            "I'm waiting for the result. Please bear with me.",
        }

    brain = ScriptedBrain([[ToolCall("look_up", {})], "Here it is."])
    play(scene, brain, tools=[scripted_tool("look_up", Delay(25_000), "found")])


async def cough(stage: Stage) -> None:
    stage.utterance += 1
    stage.ears.tell(SpeechBegan(stage.utterance))
    await stage.sleep(200)
    stage.ears.tell(SpeechEnded(stage.utterance))
    stage.ears.tell(Final("", 0.0, stage.utterance))


async def reconnect(stage: Stage) -> None:
    stage.conversation.reconnect()


@pytest.mark.req("H-01.words")
@pytest.mark.parametrize("act", [cough, reconnect])
def test_after_anything_that_the_user_did_or_missed_the_next_cue_has_words_again(act: Act) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("look it up")
        await stage.until(lambda: len(cues(stage)) == 2)
        await stage.sleep(4_000)
        await act(stage)
        await stage.until(lambda: len(cues(stage)) == 3)
        assert said(stage)[0] == ""
        assert all(said(stage)[1:])

    brain = ScriptedBrain([[ToolCall("look_up", {})], "Here it is."])
    play(scene, brain, tools=[scripted_tool("look_up", Delay(25_000), "found")], session=ScriptedSession)


@pytest.mark.req("H-01.words")
def test_words_that_the_voice_could_not_say_are_tried_again_at_the_next_cue() -> None:
    class BrokenVoice:
        async def speak(self, text: str) -> AsyncIterator[Sound]:
            raise ServiceError(ErrorClass.SERVER_ERROR)
            yield Sound(20)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: len(cues(stage)) == 3)
        assert said(stage)[0] == ""
        assert all(said(stage)[1:])

    play(scene, ScriptedBrain([Hang()]), voice=BrokenVoice())


@pytest.mark.req("H-01.words")
def test_with_no_thinking_sound_the_first_sign_is_words() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        assert said(stage)[0]

    play(scene, ScriptedBrain([[Delay(4_000), "Good day."]]), sounds=Sounds(thinking=False))


@pytest.mark.req("H-01.words")
def test_words_of_your_own_are_said_instead_of_the_languages() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        assert said(stage)[1] == "Just a tick."

    play(scene, ScriptedBrain([[Delay(7_500), "Good day."]]), phrases=Phrases(spoken={"working": "Just a tick."}))


@pytest.mark.req("H-01.words")
def test_a_voice_that_hangs_is_replaced_by_the_built_in_sound() -> None:
    class HangingVoice:
        async def speak(self, text: str) -> AsyncIterator[Sound]:
            await asyncio.sleep(1_000)
            yield Sound(20)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: len(cues(stage)) == 2)
        words_at = stage.told(sg.CueGiven)[1].at
        await stage.sleep(500)
        assert [one.start_ms for one in stage.line.sounded][-1] == words_at + 400

    play(scene, ScriptedBrain([Hang()]), voice=HangingVoice())


@pytest.mark.req("H-02.again", "L-13")
def test_a_question_is_asked_again_by_itself_after_a_fault_and_then_answered() -> None:
    brain = ScriptedBrain([Fail(ErrorClass.SERVER_ERROR), Fail(ErrorClass.SERVER_ERROR), "Good day."])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.heard == ["Good day."])
        assert [request.text for request in brain.requests] == ["hello there"] * 3
        assert stage.lost == []
        assert cues(stage)[0] == "sound"

    play(scene, brain)


@pytest.mark.req("H-02.told")
def test_a_question_that_fails_twice_is_given_up_with_an_apology() -> None:
    brain = ScriptedBrain([Fail(ErrorClass.SERVER_ERROR)] * 4)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: "apology" in cues(stage))
        assert stage.lost == ["hello there"]
        assert len(brain.requests) == 4, "each time with one retry"
        await stage.until(lambda: stage.line.is_cue_sounding)

    play(scene, brain)


@pytest.mark.req("H-02.again")
def test_speaking_during_a_fault_does_not_wait_for_its_end() -> None:
    brain = ScriptedBrain([Fail(ErrorClass.SERVER_ERROR), Fail(ErrorClass.SERVER_ERROR), "Good day to both."])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.state == "faulted")
        before = stage.now_ms
        await stage.say("are there any flights")
        await stage.rest()
        assert stage.now_ms - before < 6_000
        assert brain.requests[-1].text == "hello there are there any flights"
        assert stage.heard == ["Good day to both."]

    play(scene, brain)


@pytest.mark.req("H-02.told", "C-AC-006")
def test_a_refused_key_is_told_before_the_conversation_ends() -> None:
    async def brain(request: Request) -> AsyncIterator[str]:
        raise ServiceError(ErrorClass.AUTH_FAILURE, "no")
        yield ""

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.conversation.phase == "idle")
        assert cues(stage) == ["ended"]
        cue = stage.line.sounded[0]
        closed = next(act.at_ms for act in stage.line.log if act.what == "close")
        assert closed >= cue.end_ms > cue.start_ms, "the last words were heard to their end"

    play(scene, brain)


@pytest.mark.req("H-02.empty")
@pytest.mark.parametrize("nothing", ["", "   ", "***", "-- \n --"])
def test_an_empty_answer_is_asked_for_once_more_and_then_told(nothing: str) -> None:
    brain = ScriptedBrain([nothing, nothing])

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: cues(stage) == ["empty"])
        assert len(brain.requests) == 2
        assert stage.lost == ["hello there"]
        assert stage.told(sg.Failed) == []

    play(scene, brain)


@pytest.mark.req("H-02.told")
def test_half_an_answer_and_then_a_hang_is_given_up_as_fast_as_no_answer() -> None:
    async def brain(request: Request) -> AsyncIterator[str]:
        yield "This is the first half. And "
        await asyncio.sleep(1_000)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        began = stage.now_ms
        await stage.rest()
        assert stage.now_ms - began < 12_000
        assert stage.heard[0].startswith("This is the first half. Sorry, ")

    play(scene, brain)


@pytest.mark.req("H-01.signs")
def test_a_brain_that_dribbles_is_heard_word_by_word() -> None:
    words = "This is a long answer whose words come one by one and take their time"

    async def brain(request: Request) -> AsyncIterator[str]:
        for word in words.split():
            await asyncio.sleep(1)
            yield f"{word} "

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == [words]
        heard = stage.line.sounded
        assert max(after.start_ms - one.end_ms for one, after in itertools.pairwise(heard)) < 4_000
        assert stage.told(sg.Failed) == []

    play(scene, brain)


@pytest.mark.req("H-03.alone")
@pytest.mark.parametrize("text", ["hello?", "are you there?", "hurry up"])
def test_hello_while_an_answer_is_awaited_costs_nothing(text: str) -> None:
    brain = ScriptedBrain([[Delay(6_000), "Good day."]])

    async def scene(stage: Stage) -> None:
        await stage.say("book a table")
        await stage.sleep(500)
        await stage.say(text)
        await stage.rest()
        assert len(brain.requests) == 1
        assert stage.heard == ["Good day."]
        assert cues(stage)[0] == "presence"
        said = [item for item in stage.conversation.history if isinstance(item, UserSaid)]
        assert [(item.text, item.overheard) for item in said] == [("book a table", False), (text, True)]

    play(scene, brain)


@pytest.mark.req("H-03.more")
def test_more_than_hello_supersedes_the_question() -> None:
    brain = ScriptedBrain([[Delay(6_000), "Never."], "Good day."])

    async def scene(stage: Stage) -> None:
        await stage.say("book a table")
        await stage.say("hello? I meant for four")
        await stage.rest()
        assert [request.text for request in brain.requests] == ["book a table", "book a table hello? I meant for four"]

    play(scene, brain)


@pytest.mark.req("H-04.offer")
def test_a_cough_that_cut_an_answer_off_is_followed_by_an_offer_within_two_seconds() -> None:
    brain = ScriptedBrain(["There are two flights today and one of them leaves very early in the morning."])

    async def scene(stage: Stage) -> None:
        await stage.say("which flights are there")
        await stage.until(lambda: stage.line.heard_ms > 1_000)
        stage.ears.tell(SpeechBegan(7))
        await stage.sleep(300)
        stage.ears.tell(SpeechEnded(7))
        ended = stage.now_ms
        await stage.until(lambda: stage.line.is_sounding)
        assert stage.now_ms - ended < 2_000
        await stage.rest()
        assert stage.heard[-1] in ("Shall I go on?", "Would you like me to continue?")
        assert len(brain.requests) == 1

    play(scene, brain, profile="immediate")


@pytest.mark.req("H-05")
def test_an_end_after_speaking_lets_the_last_words_be_heard() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("that is all")
        await stage.until(lambda: stage.line.heard_ms > 200)
        await stage.conversation.end("done", after_speaking=True)
        assert stage.heard == ["Thank you very much and goodbye."]
        assert stage.lost == []

    play(scene, ScriptedBrain(["Thank you very much and goodbye."]))


@pytest.mark.req("H-09.phone", "H-09.browser")
def test_in_a_browser_idle_lasts_and_on_the_phone_the_agent_says_goodbye() -> None:
    async def browser(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.rest()
        await stage.sleep(900_000)
        assert stage.conversation.phase == "listening"
        assert len(stage.heard) == 2, "the answer and one question whether they are there"

    async def phone(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.until(lambda: stage.conversation.phase == "idle")
        assert len([one for one in stage.heard if one]) >= 4

    play(browser, ScriptedBrain(["Good day."]), profile=profile("confirm", session_ms_max=0, session_warning_ms=0))
    play(phone, ScriptedBrain(["Welcome.", "Good day."]), profile="words")


@pytest.mark.req("M-07.lasts")
def test_a_pause_lasts_until_it_is_resumed_also_over_a_lost_line() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.suspend("lunch")
        await stage.sleep(600_000)
        assert stage.conversation.phase == "paused"
        stage.line.drop()
        await stage.sleep(60_000)
        assert stage.conversation.phase == "paused"
        stage.conversation.resume()
        assert stage.conversation.phase == "listening"

    play(scene, ScriptedBrain())


@pytest.mark.req("L-14")
def test_a_hang_up_while_reconnecting_ends_the_call_at_once() -> None:
    async def scene(stage: Stage) -> None:
        stage.line.block()
        stage.line.drop()
        await stage.sleep(5_000)
        assert stage.conversation.phase == "reconnecting"
        before = stage.now_ms
        stage.line.hang_up()
        await stage.until(lambda: stage.conversation.phase == "idle")
        assert stage.now_ms - before < 2_000

    play(scene, ScriptedBrain())


def test_an_apology_that_comes_again_has_other_words() -> None:
    async def scene(stage: Stage) -> None:
        for cue in (Cue.APOLOGY, Cue.SOUND, Cue.APOLOGY):
            stage.conversation.engine.cues.play(fx.PlayCue(cue))
            await stage.rest()

    told = play(scene, ScriptedBrain([])).told(sg.CueGiven)
    apologies = [one.text for one in told if one.cue == Cue.APOLOGY.value]
    assert len(apologies) == len(set(apologies)) == 2


def test_the_sounds_of_a_connection_and_of_the_room_are_played_when_the_line_opens() -> None:
    class Room(ScriptedLine):
        ambient: Sound | None = None

        def set_ambient(self, sound: Sound | None) -> None:
            self.ambient = sound

    line, chime, room = Room(), Sound(300, b"\0\x10" * 4_800, 16_000), Sound(1_000, b"\0\x02" * 16_000, 16_000)

    async def scene(stage: Stage) -> None:
        await stage.rest()
        assert line.ambient == room
        assert sounded(stage)[:1] == ["cue"]

    play(scene, ScriptedBrain([]), line=line, sounds=Sounds(connected=chime, ambient=room))
