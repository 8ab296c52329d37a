"""Words said over firm speech are answered after it, in every profile, and cut nothing.

Rule: fillers over it are recorded and not answered.
"""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core.settings import profile
from duologue.ports import AgentSaid, Final, Firm, Partial, SpeechBegan, SpeechEnded, UserSaid
from duologue.testing import ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play

NOTICE = "This call is recorded for quality. You can end it at any time. Here is what we do with your data."
PROFILES = ["confirm", "words", "immediate"]


def asked(stage: Stage) -> list[str]:
    return [request.text for request in stage.agent.thinker.requests]


def overheard(stage: Stage) -> list[str]:
    return [item.text for item in stage.conversation.history if isinstance(item, UserSaid) and item.overheard]


async def say_over(stage: Stage, text: str, word_ms: int = 200) -> None:
    stage.utterance += 1
    stage.ears.tell(SpeechBegan(stage.utterance))
    for count in range(1, len(text.split()) + 1):
        await stage.sleep(word_ms)
        stage.ears.tell(Partial(" ".join(text.split()[:count]), 0.9, stage.utterance))
    await stage.sleep(50)
    stage.ears.tell(SpeechEnded(stage.utterance))
    await stage.sleep(100)
    stage.ears.tell(Final(text, 0.9, stage.utterance))


def call(name: str, *texts: str, after_ms: int = 500, firm: tuple[object, ...] = (Firm(NOTICE),)) -> Stage:
    """The agent says something firm, and these texts are said over it."""

    async def scene(stage: Stage) -> None:
        stage.conversation.type("tell me")
        await stage.until(lambda: stage.line.heard_ms >= after_ms)
        for text in texts:
            await say_over(stage, text)
            await stage.sleep(700)
        await stage.sleep(500)
        await stage.rest()

    brain = ScriptedBrain({"tell me": list(firm)}, otherwise="Of course.")
    return play(scene, brain, profile=profile(name, greets=False))


def is_whole(stage: Stage) -> bool:
    cuts = [item for item in stage.conversation.history if isinstance(item, AgentSaid) and item.interrupted]
    held = [act for act in stage.line.log if act.what in ("hold", "clear")]
    return stage.heard[0] == NOTICE and not cuts and not held


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("after_ms", [100, 500, 2_500])
def test_words_over_firm_speech_are_answered_after_it_and_do_not_cut_it(name: str, after_ms: int) -> None:
    stage = call(name, "please delete my data", after_ms=after_ms)
    assert is_whole(stage)
    assert asked(stage) == ["tell me", "please delete my data"]
    assert stage.heard == [NOTICE, "Of course."]
    assert overheard(stage) == []
    ends = [r.event.at for r in stage.records for effect in r.effects if isinstance(effect, fx.StartReply)]
    assert ends[1] >= next(r.event.at for r in stage.records if type(r.event).__name__ == "PlaybackFinished")


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("text", ["mhm", "yeah", "okay"])
def test_a_filler_over_firm_speech_is_recorded_and_not_answered(name: str, text: str) -> None:
    stage = call(name, text)
    assert is_whole(stage)
    assert asked(stage) == ["tell me"]
    assert overheard(stage) == [text]


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", PROFILES)
def test_two_turns_over_firm_speech_are_answered_together(name: str) -> None:
    stage = call(name, "please delete my data", "and call me back", after_ms=300)
    assert is_whole(stage)
    assert asked(stage) == ["tell me", "please delete my data and call me back"]


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", PROFILES)
def test_a_filler_beside_words_over_firm_speech_leaves_the_words_their_answer(name: str) -> None:
    stage = call(name, "please delete my data", "mhm", after_ms=300)
    assert is_whole(stage)
    assert asked(stage)[1].startswith("please delete my data")
    assert len(asked(stage)) == 2


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", PROFILES)
def test_words_that_begin_before_the_speech_becomes_firm_are_not_lost(name: str) -> None:
    """The first sentence can be interrupted, the rest can't. Either the words interrupt, or they are answered after."""
    stage = call(name, "please delete my data", after_ms=100, firm=("Good morning. ", Firm(NOTICE)))
    assert "please delete my data" in asked(stage)
    assert overheard(stage) == []


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", PROFILES)
def test_a_long_sound_over_firm_speech_is_not_a_bid(name: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("tell me")
        await stage.until(lambda: stage.line.heard_ms >= 300)
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(2_000)
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(500)
        await stage.rest()
        assert is_whole(stage)
        assert asked(stage) == ["tell me"]

    brain = ScriptedBrain({"tell me": [Firm(NOTICE)]}, otherwise="Of course.")
    play(scene, brain, profile=profile(name, greets=False))


@pytest.mark.req("H-13")
@pytest.mark.parametrize("name", PROFILES)
def test_late_text_of_words_over_firm_speech_is_answered_too(name: str) -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("tell me")
        await stage.until(lambda: stage.line.heard_ms >= 300)
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(500)
        stage.ears.tell(SpeechEnded(1))
        await stage.sleep(1_500)
        stage.ears.tell(Final("please delete my data", 0.9, 1))
        await stage.sleep(500)
        await stage.rest()
        assert is_whole(stage)
        assert asked(stage) == ["tell me", "please delete my data"]

    brain = ScriptedBrain({"tell me": [Firm(NOTICE)]}, otherwise="Of course.")
    play(scene, brain, profile=profile(name, greets=False))
