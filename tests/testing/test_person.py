"""The simulated user acts through the ears and the line, in simulated time."""

from __future__ import annotations

import asyncio

from duologue.ports.ears import Final, Heard, Partial, SpeechBegan, SpeechEnded
from duologue.testing import Person, ScriptedEars, ScriptedLine, SpeakingPace, run_simulated


class NotingEars(ScriptedEars):
    """Notes what it is told, with the time."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[int, Heard]] = []

    def tell(self, heard: Heard) -> None:
        self.noted.append((round(asyncio.get_running_loop().time() * 1000), heard))


def test_words_are_reported_as_they_are_spoken() -> None:
    async def scene() -> list[tuple[int, Heard]]:
        ears = NotingEars()
        person = Person(ears, ScriptedLine(), SpeakingPace(word_ms=200, partial_lag_ms=50, final_lag_ms=100))
        await person.say("hello there")
        await asyncio.sleep(1)
        return ears.noted

    assert run_simulated(scene()) == [
        (0, SpeechBegan(1)),
        (250, Partial("hello", 0.95, 1)),
        (400, SpeechEnded(1)),
        (500, Final("hello there", 0.95, 1)),
    ]


def test_a_cough_has_an_empty_final_text_only_if_it_is_noticed() -> None:
    async def scene() -> list[Heard]:
        ears = NotingEars()
        person = Person(ears, ScriptedLine())
        await person.cough(300)
        await asyncio.sleep(1)
        await person.cough(300, noticed=False)
        await asyncio.sleep(1)
        return [heard for _, heard in ears.noted]

    noticed = [SpeechBegan(1), SpeechEnded(1), Final("", 0.0, 1)]
    assert run_simulated(scene()) == [*noticed, SpeechBegan(2), SpeechEnded(2)]
