"""Ears that raise, hang, number wrongly, send nonsense, go backwards or never stop talking.

Rule: a clear line tells what is wrong, and the conversation goes on.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from typing import Any

import pytest

from duologue.core.settings import profile
from duologue.observe import signals as sg
from duologue.ports import Final, Partial, SpeechBegan, SpeechEnded
from duologue.ports.ears import Heard, Pause, TurnOver, VoiceFrame
from duologue.testing import ScriptedBrain
from duologue.turns.features import PauseFeatures
from tests.runtime.runtime_fakes import Stage, play


def asked(stage: Stage) -> list[str]:
    return [request.text for request in stage.agent.thinker.requests]


def fine() -> ScriptedBrain:
    return ScriptedBrain(otherwise="Fine.")


async def still_works(stage: Stage, text: str = "book a table") -> None:
    """After a while, a turn is heard and answered, and a typed one too."""
    await stage.sleep(5_000)
    await stage.rest()
    stage.utterance = 0  # the ears were started again
    before = len(asked(stage))
    await stage.say(text)
    await stage.sleep(1_000)
    await stage.rest()
    assert asked(stage)[before:] == [text]
    stage.conversation.type("and a taxi")
    await stage.sleep(500)
    await stage.rest()
    assert asked(stage)[-1] == "and a taxi"


# -- They raise


@pytest.mark.req("M-05", "C-INT-002")
@pytest.mark.parametrize("when", ["before", "talking", "settling", "speaking"])
@pytest.mark.parametrize("failure", [ConnectionError("gone"), ValueError("nonsense"), RuntimeError("broken")])
def test_ears_that_raise_are_started_again_and_the_conversation_goes_on(when: str, failure: Exception) -> None:
    async def scene(stage: Stage) -> None:
        if when == "speaking":
            stage.conversation.type("tell me")
            await stage.until(lambda: stage.line.is_sounding)
        if when in ("talking", "settling"):
            await stage.begin("hello there")
        if when == "settling":
            stage.ears.tell(SpeechEnded(1))
            await stage.sleep(50)
        stage.ears.fail(failure)
        await stage.sleep(20_000)
        assert any(problem.startswith("ears: ") for problem in stage.problems)
        if when in ("talking", "settling"):
            assert asked(stage) == ["hello there"], "what was heard before is asked"
        if stage.conversation.machine_state.link.value == "faulted":
            stage.conversation.retry()
        await still_works(stage)
        assert stage.ears.starts >= 2

    play(scene, fine(), profile=profile("confirm", greets=False, dead_air_ms=0))


# -- They hang


@pytest.mark.req("H-07.words", "C-INT-002")
def test_ears_that_hang_in_the_middle_of_a_turn_keep_neither_turn_nor_keyboard() -> None:
    settings = profile("confirm", greets=False, dead_air_ms=0, talk_ms_max=30_000)

    async def scene(stage: Stage) -> None:
        await stage.begin("hello there")
        await stage.sleep(35_000)
        assert asked(stage) == ["hello there"]
        stage.conversation.type("are you there")
        await stage.sleep(1_000)
        assert asked(stage)[-1].endswith("are you there")
        assert stage.heard[-1] == "Fine."

    play(scene, fine(), profile=settings)


def test_ears_that_do_not_end_with_the_call_do_not_hold_it_up() -> None:
    class StuckEars:
        async def listen(self, audio: Any) -> AsyncIterator[Heard]:
            yield SpeechBegan(1)
            while True:
                try:
                    await asyncio.sleep(1_000)
                except asyncio.CancelledError:
                    await asyncio.sleep(100)
                    raise

    async def scene(stage: Stage) -> None:
        await stage.sleep(1_000)
        at = stage.now_ms
        await stage.conversation.end("enough")
        assert stage.now_ms - at < 30_000

    play(scene, fine(), ears=StuckEars())


# -- They report nonsense

NONSENSE: list[Any] = [
    Final("hello", math.nan, 1),
    Final("hello", 2.0, 1),
    Final(b"hello", 0.9, 1),  # type: ignore[arg-type]
    Final("hello", 0.9, -3),
    Final("hello", 0.9, 1.5),  # type: ignore[arg-type]
    Partial("hello", math.inf, 1),
    Partial("hello", 0.9, 1, math.nan),
    SpeechEnded(1, -200),
    SpeechEnded(1, math.nan),  # type: ignore[arg-type]
    VoiceFrame(math.nan, 0.1, 40, 0, 1),
    VoiceFrame(0.9, math.nan, 40, 0, 1),
    VoiceFrame(0.9, 0.1, 0, 0, 1),
    VoiceFrame(0.9, 0.1, -40, 0, 1),
    Pause(PauseFeatures(voiced_ms=900, evidence=math.nan), 100, 1),
    "hello",
    None,
    42,
]


@pytest.mark.req("M-05", "C-INT-002")
@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
def test_a_report_that_is_nonsense_is_told_and_changes_nothing(nonsense: Any) -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(100)
        stage.ears.tell(nonsense)
        await stage.sleep(20_000)
        assert [problem for problem in stage.problems if problem.startswith("ears: BrokenContract: ears reported")]
        assert asked(stage) == []
        await still_works(stage)

    play(scene, fine(), profile=profile("confirm", greets=False, dead_air_ms=0))


# -- They number wrongly


@pytest.mark.req("C-INT-002", "M-15")
@pytest.mark.parametrize("numbers", [(7, 3, 5), (1, 1, 1), (0, 9, 0), (10**12, 1, 2), (3, 2, 1)])
def test_numbers_in_any_order_lose_no_word(numbers: tuple[int, ...]) -> None:
    texts = ["book a table", "for two people", "tomorrow at eight"]

    async def scene(stage: Stage) -> None:
        for number, text in zip(numbers, texts, strict=True):
            stage.ears.tell(SpeechBegan(number))
            await stage.sleep(400)
            stage.ears.tell(Partial(text.split()[0], 0.9, number))
            await stage.sleep(400)
            stage.ears.tell(SpeechEnded(number))
            stage.ears.tell(Final(text, 0.9, number))
            await stage.sleep(2_000)
            await stage.rest()
        assert stage.said == texts
        assert asked(stage) == texts

    play(scene, fine())


@pytest.mark.req("C-INT-002", "M-15")
def test_an_end_and_a_text_under_a_number_that_never_began_end_the_turn_all_the_same() -> None:
    async def scene(stage: Stage) -> None:
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(500)
        stage.ears.tell(SpeechEnded(2))
        stage.ears.tell(Final("book a table", 0.9, 2))
        await stage.sleep(15_000)
        assert stage.said == ["book a table"]
        assert asked(stage) == ["book a table"]

    play(scene, fine(), profile=profile("confirm", greets=False, dead_air_ms=0))


# -- They go backwards in time


@pytest.mark.req("C-INT-002", "M-15")
def test_an_end_before_its_onset_and_a_final_before_its_partials_are_one_turn() -> None:
    async def scene(stage: Stage) -> None:
        for heard in (
            Final("book a table", 0.9, 1),
            Partial("book a", 0.9, 1),
            SpeechEnded(1, 60_000),
            Partial("book", 0.9, 1),
        ):
            stage.ears.tell(heard)
            await stage.sleep(50)
        await stage.sleep(3_000)
        await stage.rest()
        assert stage.said == ["book a table"]
        assert asked(stage) == ["book a table"]

    play(scene, fine())


@pytest.mark.req("C-INT-002")
@pytest.mark.parametrize("quiet_ms", [0, 5_000, 10**9])
def test_a_silence_longer_than_the_call_ends_the_turn_and_breaks_nothing(quiet_ms: int) -> None:
    async def scene(stage: Stage) -> None:
        await stage.begin("book a table")
        stage.ears.tell(SpeechEnded(1, quiet_ms))
        stage.ears.tell(Final("book a table", 0.9, 1))
        await stage.sleep(3_000)
        await stage.rest()
        assert asked(stage) == ["book a table"]
        assert stage.problems == []

    play(scene, fine())


# -- They never stop


@pytest.mark.req("H-07.words", "C-CON-003")
def test_ears_that_never_stop_talking_lose_nothing_and_fill_no_memory() -> None:
    async def scene(stage: Stage) -> None:
        count = 0
        for second in range(90):
            for _ in range(10):
                count += 1
                stage.ears.tell(SpeechBegan(count))
                stage.ears.tell(Partial(f"word {second}", 0.9, count))
                await stage.sleep(100)
        assert stage.conversation.engine.hearing.known_utterances <= 50
        assert stage.told(sg.TurnLimited), "the limit of a turn was reached, and that is told"
        stage.conversation.type("be quiet")
        await stage.sleep(500)
        assert asked(stage)[-1].startswith("word 0")
        assert asked(stage)[-1].endswith("word 89 be quiet")
        assert stage.heard[-1:] != ["Fine."], "the voice goes on"

    play(scene, fine(), profile=profile("confirm", greets=False, dead_air_ms=0, talk_ms_max=30_000))


@pytest.mark.req("H-07.words")
def test_ends_of_turns_without_end_ask_nothing() -> None:
    async def scene(stage: Stage) -> None:
        for _ in range(200):
            stage.ears.tell(TurnOver())
            stage.ears.tell(SpeechEnded())
            stage.ears.tell(Final(""))
        await stage.sleep(1_000)
        assert asked(stage) == []
        await stage.say("book a table")
        await stage.rest()
        assert asked(stage) == ["book a table"]

    play(scene, fine())
