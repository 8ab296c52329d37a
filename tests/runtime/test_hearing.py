"""Onsets, words and ends of speech become turns; push-to-talk and typed turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue import Agent, Phrases
from duologue.core import effects as fx
from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import Final, Partial, SpeechBegan, SpeechEnded, TurnOver, UserSaid
from duologue.ports.ears import Heard
from duologue.testing import Call, Delay, ScriptedBrain
from duologue.turns.endpoint import ManualEndpoint
from tests.runtime.runtime_fakes import Stage, play

TWO = "Here is the first sentence. And here comes the second one, which is longer."


def echo(request: Any) -> str:
    return f"You said {request.text}."


def asked(brain: ScriptedBrain) -> list[str]:
    return [request.text for request in brain.requests]


# -- Ears that number and time things in their own way


@pytest.mark.req("C-INT-002", "C-AC-002")
def test_ears_that_only_give_final_text_are_enough() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        for text in ("hello there", "how are you"):
            stage.ears.tell(Final(text))
            await stage.sleep(2_000)
            await stage.rest(10)
        assert asked(brain) == ["hello there", "how are you"]
        assert stage.said == ["hello there", "how are you"]

    play(scene, brain)


@pytest.mark.req("C-INT-002", "C-AC-002")
def test_ears_that_give_text_without_onsets_are_enough() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        for words in (("hello", "hello there", "hello there"), ("how", "how are", "how are you")):
            for text in words[:-1]:
                stage.ears.tell(Partial(text))
                await stage.sleep(200)
            stage.ears.tell(Final(words[-1]))
            await stage.sleep(2_000)
            await stage.rest(10)
        assert asked(brain) == ["hello there", "how are you"]
        assert stage.said == ["hello there", "how are you"]

    play(scene, brain)


@pytest.mark.req("C-INT-002")
def test_ears_that_number_nothing_are_enough() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        for text in ("hello there", "how are you"):
            stage.ears.tell(SpeechBegan())
            await stage.sleep(300)
            stage.ears.tell(Partial(text.split()[0]))
            await stage.sleep(300)
            stage.ears.tell(SpeechEnded())
            await stage.sleep(100)
            stage.ears.tell(Final(text))
            await stage.rest(10)
        assert asked(brain) == ["hello there", "how are you"]

    play(scene, brain)


@pytest.mark.req("C-GUD-004", "C-INT-005")
def test_final_text_that_comes_twice_is_asked_once() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        stage.ears.tell(Final("hello there", 0.9, stage.utterance))
        await stage.sleep(200)
        stage.ears.tell(Final("hello there", 0.9, stage.utterance))
        await stage.rest()
        stage.ears.tell(Final("hello there", 0.9, stage.utterance))
        await stage.rest()
        assert asked(brain) == ["hello there"]
        assert stage.said == ["hello there"]

    play(scene, brain)


@pytest.mark.req("C-GUD-004")
def test_an_end_of_speech_without_a_beginning_is_nothing() -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechEnded(7))
        stage.ears.tell(SpeechEnded())
        stage.ears.tell(TurnOver())
        await stage.sleep(1_000)
        assert stage.conversation.machine_state.turn == 0
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["You said hello there."]

    play(scene, ScriptedBrain(echo))


@pytest.mark.req("C-INT-002")
def test_final_text_of_an_utterance_without_an_onset_is_answered_once() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        stage.ears.tell(Final("out of nowhere", 0.9, 42))
        await stage.sleep(2_000)
        await stage.rest(10)
        assert asked(brain) == ["out of nowhere"]

    play(scene, brain)


@pytest.mark.req("M-13", "C-GUD-001")
def test_ears_that_end_turns_by_themselves_are_believed() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        await stage.begin("hello there")
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(1_500)
        assert asked(brain) == []
        stage.ears.tell(Final("hello there", 0.9, 1))
        stage.ears.tell(TurnOver(1))
        await stage.sleep(100)
        assert asked(brain) == ["hello there"]

    play(scene, brain, endpoint=ManualEndpoint())


def processing_at(stage: Stage) -> int:
    """When the conversation went from listening to processing."""
    moves = [told for told in stage.told(sg.Transitioned) if told.view == "conversation"]
    return next(told.at for told in moves if (told.source, told.target) == ("listening", "processing"))


async def end_turn(stage: Stage, by: str) -> int:
    """End the user's turn in this way. Returns when it has ended."""
    if by == "silence":
        await stage.until(lambda: any(told.decision == "end_of_turn" for told in stage.told(sg.Decided)), 10)
        return next(told.at for told in stage.told(sg.Decided) if told.decision == "end_of_turn")
    if by == "server":
        stage.ears.tell(TurnOver(1))
    else:
        {"send": stage.conversation.send, "release": stage.conversation.release}[by]()
    return stage.now_ms


@pytest.mark.req("C-PER-001")
@pytest.mark.parametrize("name", ["confirm", "words", "immediate"])
@pytest.mark.parametrize("by", ["silence", "send", "release", "server"])
@pytest.mark.parametrize("text_first", [True, False])
def test_processing_begins_when_the_turn_has_ended_and_its_text_is_final(name: str, by: str, text_first: bool) -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        if by == "release":
            stage.conversation.press()
        await stage.begin("hello there")
        stage.ears.tell(SpeechEnded(1))
        if text_first:
            await stage.sleep(50)
            stage.ears.tell(Final("hello there", 0.9, 1))
            await stage.sleep(1)
            ready_at = max(stage.now_ms, await end_turn(stage, by))
        else:
            await end_turn(stage, by)
            await stage.sleep(400)
            assert asked(brain) == [], "the text isn't final yet"
            ready_at = stage.now_ms
            stage.ears.tell(Final("hello there", 0.9, 1))
        await stage.until(lambda: bool(brain.requests), 10)
        assert 0 <= processing_at(stage) - ready_at <= 300
        assert asked(brain) == ["hello there"]

    endpoint: dict[str, Any] = {"endpoint": ManualEndpoint()} if by != "silence" else {}
    play(scene, brain, profile=profile(name, greets=False), **endpoint)


@pytest.mark.req("M-13")
def test_final_text_that_never_comes_is_waited_for_for_one_and_a_half_seconds() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        await stage.begin("hello there")
        stage.ears.tell(SpeechEnded(1))
        ended_at = stage.now_ms
        await stage.until(lambda: bool(brain.requests), 10)
        assert stage.now_ms - ended_at <= 400 + 1_500 + 10
        assert asked(brain) == ["hello there"]

    play(scene, brain)


@pytest.mark.req("M-15")
def test_late_text_of_a_turn_that_was_thought_a_noise_is_in_history_and_in_the_question() -> None:
    brain = ScriptedBrain(lambda request: [Delay(1_500), echo(request)])

    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(200)
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(1_000)  # taken for a noise by now
        stage.utterance = 1
        await stage.say("how are you")
        stage.ears.tell(Final("hello doctor", 0.9, 1))
        await stage.rest()
        assert asked(brain)[-1] == "hello doctor how are you"
        assert sorted(stage.said) == ["hello doctor", "how are you"]

    play(scene, brain)


@pytest.mark.req("V-06")
@pytest.mark.parametrize("text", ["hello", "yes", "4K", "42", "no", "mhm"])
def test_while_the_agent_is_silent_a_single_word_is_a_turn(text: str) -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        await stage.say(text)
        await stage.rest()
        assert asked(brain) == [text]

    play(scene, brain, profile=profile("words", greets=False))


@pytest.mark.req("M-09")
def test_what_was_overheard_stays_overheard_after_the_end() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(300)
        await stage.say("yeah")
        await stage.sleep(300)
        await stage.conversation.end("enough")
        said = [(item.text, item.overheard) for item in stage.conversation.history if isinstance(item, UserSaid)]
        assert said == [("hello there", False), ("yeah", True)]

    play(scene, ScriptedBrain([TWO * 2]))


# -- The button


@pytest.mark.req("L-02", "L-03")
def test_push_to_talk_decides_and_voice_activity_does_not() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        stage.conversation.press()
        await stage.begin("hello")
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(2_000)
        assert stage.conversation.phase == "user_speaking"
        await stage.begin("there")
        stage.ears.tell(SpeechEnded(2))
        stage.ears.tell(Final("hello", 0.9, 1))
        stage.ears.tell(Final("there", 0.9, 2))
        await stage.sleep(100)
        stage.conversation.release()
        await stage.rest()
        assert asked(brain) == ["hello there"]

    play(scene, brain)


@pytest.mark.req("L-03", "C-INT-005")
def test_a_release_before_voice_activity_has_ended_is_one_turn_and_one_question() -> None:
    """Voice detectors end late, by a few hundred milliseconds: so it is with every release."""
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        stage.conversation.press()
        await stage.begin("book a flight")
        stage.conversation.release()
        await stage.sleep(200)
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(100)
        stage.ears.tell(Final("book a flight", 0.9, 1))
        await stage.rest()
        assert asked(brain) == ["book a flight"]
        assert stage.said == ["book a flight"]

    play(scene, brain)


@pytest.mark.req("L-03", "C-INT-005")
def test_sending_by_hand_before_voice_activity_has_ended_is_one_turn_and_one_question() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        await stage.begin("book a flight")
        stage.conversation.send()
        await stage.sleep(200)
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(100)
        stage.ears.tell(Final("book a flight", 0.9, 1))
        await stage.rest()
        assert stage.said == ["book a flight"]
        assert asked(brain)[-1] == "book a flight"

    play(scene, brain)


@pytest.mark.req("L-03")
def test_a_turn_at_its_limit_is_not_said_twice() -> None:
    brain = ScriptedBrain(lambda request: [Delay(60_000), "Too late."])
    words = [f"word{number}" for number in range(36)]

    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        for count in range(1, len(words) + 1):
            await stage.sleep(1_000)
            stage.ears.tell(Partial(" ".join(words[:count]), 0.9, 1))
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(100)
        stage.ears.tell(Final(" ".join(words), 0.9, 1))
        await stage.sleep(1_000)
        assert " ".join(stage.said).split().count("word3") == 1
        assert len(stage.said) == 2

    play(scene, brain, profile=profile("confirm", greets=False, talk_ms_max=30_000))


@pytest.mark.req("M-15")
def test_text_that_comes_after_the_next_press_goes_to_the_turn_in_which_it_was_said() -> None:
    async def scene(stage: Stage) -> None:
        await stage.begin("my name is")
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(500)
        stage.conversation.press()
        stage.ears.tell(Final("my name is Bond", 0.9, 1))
        await stage.sleep(50)
        assert stage.said[:1] == ["my name is Bond"]

    play(scene, ScriptedBrain(echo))


@pytest.mark.req("L-02")
def test_a_press_interrupts_the_agent_at_once() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(500)
        stage.conversation.press()
        assert not stage.line.is_sounding
        assert stage.state == "interrupted"
        await stage.begin("stop")
        stage.ears.tell(SpeechEnded(stage.utterance))
        stage.ears.tell(Final("stop", 0.9, stage.utterance))
        await stage.sleep(10)
        stage.conversation.release()
        await stage.rest()
        assert stage.heard[-1] == "Fine."

    play(scene, ScriptedBrain({"hello": TWO, "stop": "Fine."}))


def test_a_release_without_a_press_is_harmless() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.release()
        await stage.say("hello there")
        await stage.rest()
        assert stage.heard == ["You said hello there."]

    play(scene, ScriptedBrain(echo))


# -- The keyboard


@pytest.mark.req("L-03", "C-INT-005")
def test_a_typed_turn_is_asked_once_and_is_history() -> None:
    brain = ScriptedBrain(echo)

    async def scene(stage: Stage) -> None:
        stage.conversation.type("hello there")
        await stage.rest()
        assert asked(brain) == ["hello there"]
        assert stage.said == ["hello there"]
        with pytest.raises(ValueError, match="empty"):
            stage.conversation.type("  \n")

    play(scene, brain)


@pytest.mark.req("M-03", "M-15")
def test_what_is_typed_while_speaking_joins_what_is_said() -> None:
    brain = ScriptedBrain(lambda request: [Delay(3_000), echo(request)])

    async def scene(stage: Stage) -> None:
        await stage.begin("my number is")
        stage.conversation.type("12345")
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(100)
        stage.ears.tell(Final("my number is", 0.9, 1))
        await stage.rest()
        assert " ".join(stage.said).split().count("number") == 1, stage.said
        assert asked(brain)[-1].split().count("12345") == 1

    play(scene, brain)


@pytest.mark.req("V-05", "C-INT-005")
def test_typing_over_the_agent_interrupts_it_and_is_answered() -> None:
    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(500)
        stage.conversation.type("stop it")
        assert not stage.line.is_sounding
        await stage.rest()
        assert stage.heard[-1] == "Fine."
        assert stage.lost == []

    play(scene, ScriptedBrain({"hello": TWO, "stop": "Fine."}))


def told(brain: ScriptedBrain) -> list[str]:
    return [request.text for request in brain.requests]


def certain() -> ScriptedBrain:
    return ScriptedBrain(lambda request: "Certainly.")


@pytest.mark.req("M-15")
def test_late_text_never_makes_an_answered_question_overheard() -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(500)
        stage.ears.tell(Partial("how big is paris", 0.9, 1))
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(3_500)
        stage.ears.tell(Final("how big is Paris today", 0.9, 1))
        await stage.rest()
        (said,) = [item for item in stage.conversation.history if isinstance(item, UserSaid)]
        assert said == UserSaid(1, "how big is Paris today", confidence=0.9)

    play(scene, ScriptedBrain(otherwise="It is about two million people who live there.", first_ms=100))


def test_ears_that_start_anew_count_anew_and_erase_nothing() -> None:
    class TextEars:
        runs = 0

        async def listen(self, audio: Any) -> AsyncIterator[Heard]:
            self.runs += 1
            await asyncio.sleep(0.5)
            yield Final("book a table" if self.runs == 1 else "and order a taxi", 0.9, 1)
            await asyncio.sleep(10)
            if self.runs == 1:
                raise ConnectionError
            await asyncio.sleep(600)

    brain = certain()

    async def scene(stage: Stage) -> None:
        await asyncio.sleep(15)

    play(scene, brain, ears=TextEars())
    assert told(brain) == ["book a table", "and order a taxi"]


@pytest.mark.req("L-03")
def test_a_button_held_past_the_limit_of_a_turn_begins_the_next_one() -> None:
    brain = certain()

    async def scene(stage: Stage) -> None:
        stage.conversation.press()
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(2_000)
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final("book a table", 0.9, 1))
        await stage.sleep(34_000)
        stage.ears.tell(SpeechBegan(2))
        await stage.sleep(2_000)
        stage.ears.tell(SpeechEnded(2))
        stage.ears.tell(Final("for two at eight", 0.9, 2))
        await stage.sleep(100)
        stage.conversation.release()
        await stage.sleep(8_000)
        assert [item.text for item in stage.conversation.history if isinstance(item, UserSaid)] == [
            "book a table",
            "for two at eight",
        ]

    play(scene, brain, profile=profile("confirm", greets=False, talk_ms_max=30_000))
    assert "for two at eight" in told(brain)[-1]


def test_final_text_ends_an_utterance_whose_end_was_not_reported() -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(1_000)
        stage.ears.tell(Final("book a table", 0.9, 1))
        await stage.sleep(3_000)
        asked = [record.event.at for record in stage.records for e in record.effects if isinstance(e, fx.StartReply)]
        assert asked == [1_400]

    play(scene, certain())


def test_the_agents_own_words_that_come_back_are_no_interruption() -> None:
    brain = ScriptedBrain(["The museum opens at ten and closes at six on every day of the week.", "Pardon?"])
    with Call(Agent(brain, profile="words", phrases=Phrases(greeting="Hello."))) as call:
        call.settles()
        call.user("when").interrupts("museum opens at ten", after_ms=600)  # while the agent says these words
        call.settles()
        assert not any(item.interrupted for item in call.history if hasattr(item, "interrupted"))
