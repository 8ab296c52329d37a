"""The sound of one reply: how far ahead it is made."""

from __future__ import annotations

from collections.abc import AsyncIterator

from duologue.ports import Sound
from duologue.testing import ScriptedBrain, ScriptedVoice
from tests.runtime.runtime_fakes import Stage, play


def test_a_long_answer_is_made_only_twenty_seconds_ahead() -> None:
    """What is made and never heard is wasted on an interruption."""
    made: list[int] = []

    class Counting(ScriptedVoice):
        async def speak(self, text: str) -> AsyncIterator[Sound]:
            async for sound in ScriptedVoice.speak(self, text):
                made.append(sound.ms)
                yield sound

    async def scene(stage: Stage) -> None:
        await stage.say("hello there")
        await stage.sleep(2_000)
        assert sum(made) <= 24_000
        await stage.rest(limit_s=200)
        assert sum(made) > 60_000
        assert len(stage.heard[0].split()) == 8 * 25

    play(scene, ScriptedBrain(["This is one sentence of very many words. " * 25]), voice=Counting())
