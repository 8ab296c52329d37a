"""An answer is streamed part by part, and ends once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from duologue.brains.gemini.answer import GeminiAnswer
from duologue.brains.gemini.failures import failure_of
from duologue.brains.gemini.server_messages import ModelCalls, ModelSound, ModelWords
from duologue.core.leaves import ErrorClass
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.ports.failure import ServiceError
from duologue.ports.sound import Sound
from duologue.ports.tool_call import ToolCall


def parts(act: Callable[[GeminiAnswer], None]) -> list[Any]:
    """What a reader gets of this answer."""

    async def run() -> list[Any]:
        answer = GeminiAnswer(1)
        act(answer)
        found: list[Any] = []
        while (part := await answer.next()) is not None:
            found.append(part)
        return found

    return run_jumping(run())


def test_words_and_sound_become_sound_with_text_and_calls_follow() -> None:
    def act(answer: GeminiAnswer) -> None:
        answer.take(ModelWords("One moment."))
        answer.take(ModelSound(bytes(48 * 100)))
        answer.take(ModelCalls((ToolCall("look_up", {}, "c"),)))
        answer.finish()
        answer.finish()
        answer.take(ModelSound(bytes(4_800)))

    *sounds, call = parts(act)
    assert call == ToolCall("look_up", {}, "c")
    assert all(isinstance(sound, Sound) for sound in sounds)
    assert sum(sound.ms for sound in sounds) == 100
    assert "".join(sound.text for sound in sounds) == "One moment."
    assert [sound.more for sound in sounds] == [True, False]


@pytest.mark.parametrize(
    ("reason", "error"), [("", ErrorClass.SERVER_ERROR), ("RESPONSE_REJECTED", ErrorClass.UNKNOWN)]
)
def test_an_answer_without_a_part_is_a_failure(reason: str, error: ErrorClass) -> None:
    with pytest.raises(ServiceError) as failed:
        parts(lambda answer: answer.finish(reason))
    assert failed.value.error is error


def test_a_failure_ends_it_and_wakes_who_waits_for_its_beginning() -> None:
    async def run() -> bool:
        answer = GeminiAnswer()
        answer.fail(failure_of(ErrorClass.RATE_LIMIT))
        answer.finish()
        with pytest.raises(ServiceError):
            await answer.next()
        return answer.begun.done() and answer.is_over

    assert run_jumping(run())
