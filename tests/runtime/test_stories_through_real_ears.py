"""Stories of a person who talks to the agent, through the real ears: Silero, Moonshine and Smart Turn.

The voices are synthetic, and the clock is simulated: models take no time in it. Rule: whether the text is right to the
letter isn't tested here, only when the agent speaks, what it is asked, and how often.
"""

from __future__ import annotations

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.core import effects as fx
from duologue.core.leaves import User
from duologue.core.settings import profile
from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Moonshine
from duologue.observe import signals as sg
from duologue.ports import Final, Firm, SpeechBegan
from duologue.ports.voice import Voice
from duologue.testing import ScriptedBrain
from duologue.turns.words import words_of
from duologue.voice.pico import PicoVoice
from tests.needs import needs_model
from tests.runtime.open_microphone import (
    RATE_HZ,
    OpenMicrophone,
    babble,
    cough,
    hum,
    play_with_microphone,
    spoken,
    trimmed,
    without_pauses,
)
from tests.runtime.runtime_fakes import Stage

PROFILES = ["confirm", "words", "immediate"]
WISH = "I would like to book a table for two people on Monday evening."


@pytest.fixture(scope="module")
def ears() -> LocalEars:
    for model in ("silero-vad", "moonshine-tiny", "smart-turn"):
        needs_model(model)
    made = LocalEars(Moonshine("tiny"))
    made.load()
    return made


@pytest.fixture(scope="module")
def person() -> Voice:
    needs_model("svox-pico")  # unlike espeak-ng, it gives the same sound for a text whatever it has said before
    return PicoVoice()


@pytest.fixture(scope="module")
def wish(person: Voice) -> Samples:
    return trimmed(spoken(person, WISH))


def asked(stage: Stage) -> list[str]:
    return [request.text for request in stage.agent.thinker.requests]


def asked_at(stage: Stage) -> list[int]:
    return [r.event.at for r in stage.records for effect in r.effects if isinstance(effect, fx.StartReply)]


# -- Long talk

STORY = (
    "I went to the market this morning, and I wanted to buy some bread and cheese for the weekend, "
    "because my sister is coming to visit us with her two children,"
)


@pytest.mark.req("H-07.floor", "H-07.words", "L-03")
@pytest.mark.parametrize("talk_s", [90, pytest.param(300, marks=pytest.mark.sweep)])
def test_a_person_who_talks_for_minutes_is_not_talked_over_and_gets_one_answer(person: Voice, talk_s: int) -> None:
    for model in ("silero-vad", "moonshine-tiny", "smart-turn"):
        needs_model(model)
    stt = Moonshine("tiny")
    stt.partial_ms = 1_500  # partial text less often: it costs most of this test's CPU
    story = without_pauses(trimmed(spoken(person, STORY)))
    times = talk_s * RATE_HZ // story.size + 1

    async def scene(stage: Stage, microphone: OpenMicrophone) -> None:
        microphone.hears(np.tile(story, times))
        await stage.sleep(1_000)
        while microphone.left_ms:
            assert stage.state == "listening"
            assert asked(stage) == []
            await stage.sleep(100)
        over_at = stage.now_ms
        await stage.sleep(3_000)
        await stage.rest()
        assert over_at >= talk_s * 1_000
        assert 0 <= asked_at(stage)[0] - over_at <= 2_000
        assert stage.said == asked(stage), "it is one turn"
        words, said = words_of(asked(stage)[0]), times * len(words_of(STORY))
        assert 0.85 * said <= len(words) <= 1.15 * said, asked(stage)
        assert words.count("sister") >= times - 1
        assert stage.heard == ["I see."]
        assert stage.lost == []

    ears = LocalEars(stt)
    play_with_microphone(scene, ScriptedBrain(otherwise="I see."), ears=ears, profile=profile("confirm", greets=False))


# -- Send means send


@pytest.fixture(scope="module")
def backgrounds(person: Voice) -> dict[str, Samples]:
    texts = (
        "we were walking along the river when the rain began to fall on all of us",
        "and then the teacher said that nobody had finished the long exercise on page nine",
    )
    voices = [trimmed(spoken(PicoVoice(rate_wpm=140 + 20 * number), text)) for number, text in enumerate(texts)]
    return {"hum": hum(1), "babble": babble(voices, 6, 0.2)}


@pytest.mark.req("H-07.send", "L-02")
@pytest.mark.parametrize("noise", ["hum", "babble"])
def test_what_was_sent_is_asked_within_a_second_over_a_noise(
    ears: LocalEars, wish: Samples, backgrounds: dict[str, Samples], noise: str
) -> None:
    async def scene(stage: Stage, microphone: OpenMicrophone) -> None:
        await stage.sleep(500)
        microphone.hears(wish)
        await stage.until(lambda: not microphone.left_ms)
        assert stage.conversation.machine_state.user is User.TALKING, "the ears haven't noticed an end"
        assert asked(stage) == []
        at = stage.now_ms
        stage.conversation.send()
        await stage.sleep(1_000)
        assert asked_at(stage)[0] - at <= 1_000
        assert len(asked(stage)) == 1, asked(stage)
        assert "table" in asked(stage)[0]

    brain, background = ScriptedBrain(otherwise="For two."), backgrounds[noise]
    play_with_microphone(scene, brain, background, ears=ears, profile=profile("confirm", greets=False))


@pytest.mark.req("H-07.words")
def test_without_a_send_babble_hides_the_end_of_a_turn(
    ears: LocalEars, wish: Samples, backgrounds: dict[str, Samples]
) -> None:
    """So it is the send that asks in the test above."""

    async def scene(stage: Stage, microphone: OpenMicrophone) -> None:
        await stage.sleep(500)
        microphone.hears(wish)
        await stage.until(lambda: not microphone.left_ms)
        await stage.sleep(1_500)
        assert asked(stage) == []

    brain, background = ScriptedBrain(otherwise="For two."), backgrounds["babble"]
    play_with_microphone(scene, brain, background, ears=ears, profile=profile("confirm", greets=False))


# -- Early answers

FOUND = "I found a flight for you, which leaves early in the morning."
SHALL_I = "Shall I book that flight for you right now then?"


@pytest.mark.req("H-06.early")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("text", ["Yes.", "No."])
def test_an_answer_that_begins_before_the_question_has_ended_is_the_answer(
    ears: LocalEars, person: Voice, text: str, name: str
) -> None:
    answer = trimmed(spoken(person, text))

    async def scene(stage: Stage, microphone: OpenMicrophone) -> None:
        stage.conversation.type("find me a flight")
        await stage.until(lambda: stage.line.is_sounding)
        speech = stage.conversation.engine.playback.speech
        assert speech is not None
        await stage.until(lambda: speech.complete and stage.line.heard_ms >= speech.ledger.total_ms - 500)
        microphone.hears(answer)
        await stage.sleep(2_000)
        await stage.rest()
        assert [words_of(one) for one in asked(stage)[1:]] == [words_of(text)]
        assert not stage.agent.thinker.requests[-1].premature
        assert stage.heard[-1] == "It is done."

    brain = ScriptedBrain({"find": [f"{FOUND} {SHALL_I}"]}, otherwise="It is done.")
    play_with_microphone(scene, brain, ears=ears, profile=profile(name, greets=False))


# -- Sounds without words


@pytest.mark.req("M-13", "V-02")
@pytest.mark.parametrize("after_ms", [150, 350, 500])
def test_a_cough_behind_the_words_delays_the_answer_by_its_length_and_six_tenths_of_a_second_at_most(
    ears: LocalEars, wish: Samples, after_ms: int
) -> None:
    length_ms, finals = 300, list[str]()

    def answered_after(*sounds: Samples) -> int:
        """How long after the end of the words the brain is asked, with these sounds behind the words."""
        ended: list[int] = []

        async def scene(stage: Stage, microphone: OpenMicrophone) -> None:
            engine = stage.conversation.engine
            engine.taps.append(lambda heard: finals.append(heard.text) if isinstance(heard, Final) else None)
            await stage.sleep(500)
            microphone.hears(wish)
            for sound in sounds:
                microphone.hears(sound)
            ended.append(stage.now_ms + wish.size * 1000 // RATE_HZ)
            await stage.sleep(5_000)
            await stage.rest()
            assert len(asked(stage)) == 1
            assert "table" in asked(stage)[0]

        brain = ScriptedBrain(otherwise="For two.")
        stage = play_with_microphone(scene, brain, ears=ears, profile=profile("confirm", greets=False))
        return asked_at(stage)[0] - ended[0]

    without = answered_after()
    silence = np.zeros(after_ms * RATE_HZ // 1000, np.float32)
    with_cough = answered_after(silence, cough(length_ms, 180, 0.5))
    assert without < with_cough <= without + length_ms + 600
    assert len([text for text in finals if text]) == 2, "no word was heard in the cough"


# -- Words over firm speech

NOTICE = "This call is recorded for quality, and everything that you say may be kept for up to thirty days."


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", PROFILES)
def test_words_over_firm_speech_are_answered_after_it(ears: LocalEars, wish: Samples, name: str) -> None:
    async def scene(stage: Stage, microphone: OpenMicrophone) -> None:
        stage.conversation.type("tell me")
        await stage.until(lambda: stage.line.heard_ms >= 500)
        microphone.hears(wish)
        await stage.sleep(2_000)
        await stage.rest()
        assert stage.heard == [NOTICE, "Of course."]
        assert len(asked(stage)) == 2
        assert "table" in asked(stage)[1]
        finished = next(r.event.at for r in stage.records if type(r.event).__name__ == "PlaybackFinished")
        assert asked_at(stage)[1] >= finished

    brain = ScriptedBrain({"tell me": [Firm(NOTICE)]}, otherwise="Of course.")
    play_with_microphone(scene, brain, ears=ears, profile=profile(name, greets=False))


# -- Lost ends


@pytest.mark.req("H-07.words", "V-05")
def test_words_during_which_the_microphone_dies_are_asked_as_far_as_they_were_heard(
    ears: LocalEars, wish: Samples
) -> None:
    """The ears have reported an onset. Its end never comes, because no frame comes any more."""
    settings = profile("confirm", greets=False, talk_ms_max=20_000, commit_ms=5_000, dead_air_ms=0)

    async def scene(stage: Stage, microphone: OpenMicrophone) -> None:
        onsets: list[SpeechBegan] = []
        engine = stage.conversation.engine
        engine.taps.append(lambda heard: onsets.append(heard) if isinstance(heard, SpeechBegan) else None)
        await stage.sleep(500)
        microphone.hears(wish)
        await stage.sleep(2_800)
        microphone.is_dead = True
        assert len(onsets) == 1
        await stage.sleep(25_000)
        assert len(asked(stage)) == 1
        assert "book" in asked(stage)[0]
        assert "evening" not in asked(stage)[0]
        begun = {one.turn.turn for one in stage.told(sg.TurnStarted) if one.turn.role == "user"}
        ended = {
            one.turn.turn
            for kind in (sg.TurnCompleted, sg.TurnDropped)
            for one in stage.told(kind)
            if one.turn.role == "user"
        }
        assert begun == ended == {1}
        microphone.is_dead = False
        microphone.hears(wish)
        await stage.sleep(5_000)
        await stage.rest()
        assert "evening" in asked(stage)[-1]
        assert stage.heard[-1] == "Fine."

    play_with_microphone(scene, ScriptedBrain(otherwise="Fine."), ears=ears, profile=settings)
