"""A sound without words behind the words of a turn, with ears that give no empty final text for it.

Cloud STT never does. Rule: such a sound delays the answer by its own length and 0.6 s at most.
"""

from __future__ import annotations

import pytest

from duologue.core import effects as fx
from duologue.core.settings import profile
from duologue.ports import Final, Partial, SpeechBegan, SpeechEnded
from duologue.testing import Delay, ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play

MORE_MS = 600
PROFILES = ["confirm", "words", "immediate"]


def asked_at(stage: Stage) -> list[int]:
    return [r.event.at for r in stage.records for effect in r.effects if isinstance(effect, fx.StartReply)]


def playing_at(stage: Stage) -> list[int]:
    return [r.event.at for r in stage.records for effect in r.effects if isinstance(effect, fx.StartPlayback)]


async def cough(stage: Stage, ms: int) -> None:
    stage.utterance += 1
    stage.ears.tell(SpeechBegan(stage.utterance))
    await stage.sleep(ms)
    stage.ears.tell(SpeechEnded(stage.utterance))


def call(cough_ms: int, after_ms: int, name: str, final_first: bool = True, coughs: int = 1) -> Stage:
    """A question, so much silence, and a cough, or none if it has no length."""

    async def scene(stage: Stage) -> None:
        await stage.begin("when does the museum open")
        stage.ears.tell(SpeechEnded(1))
        if final_first:
            stage.ears.tell(Final("when does the museum open", 0.9, 1))
        await stage.sleep(after_ms)
        for _ in range(coughs if cough_ms else 0):
            await cough(stage, cough_ms)
            await stage.sleep(100)
        if not final_first:
            stage.ears.tell(Final("when does the museum open", 0.9, 1))
        await stage.sleep(5_000)
        await stage.rest()

    stage = play(scene, ScriptedBrain(otherwise="At ten."), profile=profile(name, greets=False))
    assert [request.text for request in stage.agent.thinker.requests] == ["when does the museum open"]
    assert stage.heard == ["At ten."]
    assert stage.said == ["when does the museum open"]
    return stage


@pytest.mark.req("M-13", "V-02")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("after_ms", [10, 100, 300])
@pytest.mark.parametrize("cough_ms", [80, 200, 500, 1_500])
def test_a_cough_delays_the_request_by_its_length_and_six_tenths_of_a_second_at_most(
    cough_ms: int, after_ms: int, name: str
) -> None:
    (without,) = asked_at(call(0, after_ms, name))
    (with_cough,) = asked_at(call(cough_ms, after_ms, name))
    assert with_cough - without <= cough_ms + MORE_MS


@pytest.mark.req("M-13", "V-02")
@pytest.mark.parametrize("cough_ms", [80, 200, 500])
def test_a_final_text_that_comes_after_the_cough_costs_no_more(cough_ms: int) -> None:
    (without,) = asked_at(call(0, 300, "confirm", final_first=False))
    (with_cough,) = asked_at(call(cough_ms, 300, "confirm", final_first=False))
    assert with_cough - without <= cough_ms + 100 + MORE_MS


@pytest.mark.req("M-13", "V-02")
def test_each_of_several_coughs_delays_by_its_length_and_no_wait_twice() -> None:
    (without,) = asked_at(call(0, 100, "confirm"))
    (with_coughs,) = asked_at(call(200, 100, "confirm", coughs=3))
    assert with_coughs - without <= 3 * (200 + 100) + MORE_MS


@pytest.mark.req("M-13", "V-02")
@pytest.mark.parametrize("name", ["confirm", "words"])
@pytest.mark.parametrize("cough_ms", [80, 200, 500])
def test_a_cough_while_the_brain_thinks_delays_the_answer_no_more(cough_ms: int, name: str) -> None:
    def heard_at(coughs: bool) -> int:
        async def scene(stage: Stage) -> None:
            await stage.say("when does the museum open")
            if coughs:
                await cough(stage, cough_ms)
            await stage.sleep(5_000)
            await stage.rest()

        brain = ScriptedBrain(lambda request: [Delay(300), "At ten."])
        (at,) = playing_at(play(scene, brain, profile=profile(name, greets=False)))
        return at

    assert heard_at(True) - heard_at(False) <= cough_ms + MORE_MS


@pytest.mark.req("M-13")
def test_words_behind_the_cough_are_still_part_of_the_turn() -> None:
    async def scene(stage: Stage) -> None:
        await stage.begin("when does the museum open")
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final("when does the museum open", 0.9, 1))
        await stage.sleep(100)
        await cough(stage, 200)
        await stage.sleep(200)
        stage.ears.tell(SpeechBegan(3))
        await stage.sleep(300)
        stage.ears.tell(Partial("on Sunday", 0.9, 3))
        stage.ears.tell(SpeechEnded(3))
        stage.ears.tell(Final("on Sunday", 0.9, 3))
        await stage.sleep(1_000)
        await stage.rest()
        assert [request.text for request in stage.agent.thinker.requests] == ["when does the museum open on Sunday"]

    play(scene, ScriptedBrain(otherwise="At ten."))


@pytest.mark.req("M-13")
@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize(("cough_ms", "coughs"), [(300, 150), (60_000, 1)])
def test_noise_without_end_behind_the_words_delays_the_request_by_ten_seconds_at_most(
    cough_ms: int, coughs: int, name: str
) -> None:
    async def scene(stage: Stage) -> None:
        await stage.begin("when does the museum open")
        said_at = stage.now_ms
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final("when does the museum open", 0.9, 1))
        await stage.sleep(100)
        for _ in range(coughs):
            await cough(stage, cough_ms)
            await stage.sleep(100)
        assert asked_at(stage)[0] - said_at <= 10_000 + MORE_MS
        assert playing_at(stage)[0] == asked_at(stage)[0]

    stage = play(scene, ScriptedBrain(otherwise="At ten."), profile=profile(name, greets=False))
    assert stage.said == ["when does the museum open"]
