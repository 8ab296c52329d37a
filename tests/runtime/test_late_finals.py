"""Final text that comes seconds after the end of the turn is merged, asked or reported, and history shows it.

Rule: whatever the brain was asked is in the history, and no word that was said is missing there.
"""

from __future__ import annotations

import pytest

from duologue.core.settings import profile
from duologue.ports import Final, Partial, SpeechBegan, SpeechEnded, UserSaid
from duologue.testing import Delay, ScriptedBrain
from tests.runtime.runtime_fakes import Stage, play

LATE_MS = [2_000, 4_000, 7_000, 10_000]
LONG = "Here is what I found for you. " + "There is one more thing that you should know about it. " * 4


def asked(stage: Stage) -> list[str]:
    return [request.text for request in stage.agent.thinker.requests]


def words(texts: list[str]) -> list[str]:
    return " ".join(texts).split()


async def speak(stage: Stage, partial: str, ms: int = 800) -> int:
    """Say this. Its final text is still to come. Returns the number of the utterance."""
    stage.utterance += 1
    stage.ears.tell(SpeechBegan(stage.utterance))
    await stage.sleep(ms)
    if partial:
        stage.ears.tell(Partial(partial, 0.9, stage.utterance))
    stage.ears.tell(SpeechEnded(stage.utterance))
    return stage.utterance


@pytest.mark.req("H-15", "M-15")
@pytest.mark.parametrize("late_ms", LATE_MS)
@pytest.mark.parametrize("name", ["confirm", "words", "immediate"])
def test_the_text_of_a_sound_that_was_taken_for_noise_is_asked_when_it_comes(late_ms: int, name: str) -> None:
    async def scene(stage: Stage) -> None:
        number = await speak(stage, "")
        await stage.sleep(late_ms)
        stage.ears.tell(Final("when does the museum open", 0.9, number))
        await stage.sleep(1_000)
        await stage.rest()
        assert asked(stage) == ["when does the museum open"]
        assert stage.said == ["when does the museum open"]

    play(scene, ScriptedBrain(otherwise="At ten."), profile=profile(name, greets=False))


@pytest.mark.req("H-15", "M-15")
@pytest.mark.parametrize("late_ms", LATE_MS)
def test_more_words_than_were_asked_are_asked_while_nothing_of_the_answer_was_heard(late_ms: int) -> None:
    brain = ScriptedBrain(lambda request: [Delay(12_000 if len(brain.requests) == 1 else 100), "At ten."])

    async def scene(stage: Stage) -> None:
        number = await speak(stage, "when does the museum")
        await stage.sleep(2_000 + late_ms)
        assert asked(stage)[0] == "when does the museum"
        stage.ears.tell(Final("when does the museum open on Sunday", 0.9, number))
        await stage.rest()
        assert asked(stage)[-1] == "when does the museum open on Sunday"
        assert stage.said == ["when does the museum open on Sunday"]
        assert stage.heard == ["At ten."]

    play(scene, brain, profile=profile("confirm", greets=False, attempt_ms_max=20_000))


@pytest.mark.req("H-15", "M-15")
@pytest.mark.parametrize("late_ms", LATE_MS)
def test_more_words_than_were_asked_are_in_the_history_once_the_answer_is_heard(late_ms: int) -> None:
    async def scene(stage: Stage) -> None:
        number = await speak(stage, "when does the museum")
        await stage.until(lambda: stage.line.heard_ms > 500)
        await stage.sleep(late_ms)
        stage.ears.tell(Final("when does the museum open on Sunday", 0.9, number))
        await stage.rest()
        assert asked(stage)[0] == "when does the museum"
        (said,) = [item for item in stage.conversation.history if isinstance(item, UserSaid)]
        assert said.text == "when does the museum open on Sunday"
        assert not said.overheard
        await stage.say("and on Monday")
        await stage.rest()
        request = stage.agent.thinker.requests[-1]
        assert request.text.endswith("and on Monday")
        assert "open on Sunday" in " ".join(item.text for item in request.history if isinstance(item, UserSaid))

    play(scene, ScriptedBrain(otherwise=LONG))


@pytest.mark.req("H-15", "M-15")
@pytest.mark.parametrize("late_ms", LATE_MS)
def test_text_that_comes_after_the_next_turn_has_begun_is_asked_together_with_it(late_ms: int) -> None:
    async def scene(stage: Stage) -> None:
        first = await speak(stage, "")
        await stage.sleep(late_ms)
        second = await speak(stage, "and what does it")
        await stage.sleep(50)
        stage.ears.tell(Final("when does the museum open", 0.9, first))
        await stage.sleep(50)
        stage.ears.tell(Final("and what does it cost", 0.9, second))
        await stage.sleep(1_000)
        await stage.rest()
        assert asked(stage)[-1] == "when does the museum open and what does it cost"
        assert sorted(words(stage.said)) == sorted(words(["when does the museum open and what does it cost"]))

    play(scene, ScriptedBrain(otherwise="At ten."))


@pytest.mark.req("H-15")
@pytest.mark.parametrize("late_ms", LATE_MS)
@pytest.mark.parametrize("name", ["confirm", "words"])
def test_late_text_of_words_over_the_agent_is_recorded_as_overheard_or_asked(late_ms: int, name: str) -> None:
    """Its turn began over the agent. It is in the history in any case, and the agent goes on or answers it."""

    async def scene(stage: Stage) -> None:
        stage.conversation.type("tell me")
        await stage.until(lambda: stage.line.heard_ms > 500)
        number = await speak(stage, "", 300)
        await stage.sleep(late_ms)
        stage.ears.tell(Final("that is very nice of you", 0.9, number))
        await stage.sleep(500)
        await stage.rest()
        assert "that is very nice of you" in stage.said
        item = next(one for one in stage.conversation.history if getattr(one, "text", "") == "that is very nice of you")
        assert item.overheard is ("that is very nice of you" not in asked(stage))

    play(scene, ScriptedBrain(otherwise=LONG), profile=profile(name, greets=False))


@pytest.mark.req("H-15")
@pytest.mark.parametrize("late_ms", LATE_MS)
def test_an_empty_text_that_comes_late_takes_nothing_back_that_was_asked(late_ms: int) -> None:
    async def scene(stage: Stage) -> None:
        number = await speak(stage, "when does the museum open")
        await stage.sleep(2_500 + late_ms)
        assert asked(stage) == ["when does the museum open"]
        stage.ears.tell(Final("", 0.0, number))
        await stage.sleep(500)
        await stage.rest()
        assert stage.said == ["when does the museum open"]

    play(scene, ScriptedBrain(otherwise="At ten."))


@pytest.mark.req("H-15")
def test_text_that_comes_after_the_call_has_ended_changes_nothing() -> None:
    async def scene(stage: Stage) -> None:
        number = await speak(stage, "")
        await stage.sleep(100)
        stage.ears.tell(Final("goodbye then", 0.9, number))
        await stage.sleep(10)
        await stage.conversation.end("hung up")
        assert stage.said == ["goodbye then"]
        assert stage.lost == ["goodbye then"], "it got no answer, and that is told"
        stage.ears.tell(Final("goodbye then my friend", 0.9, number))
        await stage.sleep(100)
        assert stage.said == ["goodbye then"]

    play(scene, ScriptedBrain(otherwise="At ten."))
