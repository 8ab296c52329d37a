"""Several ears as one: the open utterance is heard again by the next ears."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from duologue import Fallback
from duologue.core.leaves import ErrorClass
from duologue.failover.ears import FallbackEars
from duologue.ports import ServiceError
from duologue.ports.ears import Commit, Final, Frame, Heard, Incoming, Partial, SpeechBegan, SpeechEnded
from duologue.runtime.simulated_clock import run_simulated

DOWN = ServiceError(ErrorClass.SERVER_ERROR, "down")
LOUD, SILENT = Frame(b"\x01\x01" * 320), Frame(bytes(640))


class Ears:
    """Hears an utterance in loud frames, and counts them in its text. It fails at the frame `fails_at`."""

    def __init__(self, name: str, fails_at: int | None = None) -> None:
        self.name, self.fails_at = name, fails_at
        self.frames = 0
        self.starts = 0

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        self.starts += 1
        number = loud = 0
        async for item in audio:
            if not isinstance(item, Frame):
                continue
            self.frames += 1
            if self.fails_at is not None and self.frames >= self.fails_at:
                raise DOWN
            if item is LOUD:
                loud += 1
                if loud == 1:
                    number += 1
                    yield SpeechBegan(number)
                yield Partial(f"{self.name} {loud}", utterance=number)
            elif loud:
                yield SpeechEnded(number)
                yield Final(f"{self.name} {loud}", utterance=number)
                loud = 0


async def line(*items: Incoming) -> AsyncIterator[Incoming]:
    for item in items:
        await asyncio.sleep(0.02)
        yield item


def hear(ears: FallbackEars, *items: Incoming) -> list[Heard]:
    async def work() -> list[Heard]:
        return [heard async for heard in ears.listen(line(*items))]

    return run_simulated(work())


def finals(heard: list[Heard]) -> list[tuple[int, str]]:
    return [(one.utterance, one.text) for one in heard if isinstance(one, Final)]


def test_ears_that_fail_in_an_utterance_are_followed_and_no_word_of_it_is_lost() -> None:
    first, second = Ears("a", fails_at=40), Ears("b")
    heard = hear(Fallback(first, second), *[SILENT] * 30, *[LOUD] * 20, *[SILENT] * 5)
    assert finals(heard) == [(1, "b 20")], "the second ears hear the whole utterance"
    assert heard.count(SpeechBegan(1)) == 1
    assert len([one for one in heard if isinstance(one, SpeechBegan)]) == 1


def test_numbers_go_on() -> None:
    first, second = Ears("a", fails_at=20), Ears("b")
    speech = [*[LOUD] * 5, *[SILENT] * 5]
    assert finals(hear(Fallback(first, second), *speech * 4)) == [(1, "a 5"), (2, "a 5"), (3, "b 5"), (4, "b 5")]


def test_after_a_turn_they_return_to_the_first_ears_when_those_have_rested() -> None:
    first, second = Ears("a", fails_at=3), Ears("b")
    speech = [*[LOUD] * 5, *[SILENT] * 5, Commit(1)]
    ears = Fallback(first, second)

    async def work() -> list[Heard]:
        found = list[Heard]()
        async for heard in ears.listen(line(*speech, *[SILENT] * 800, *speech, *speech)):
            found.append(heard)
            if isinstance(heard, Final):
                first.fails_at = None
        return found

    # One failure is forgiven at once, so the first ears are preferred again after the next turn.
    assert finals(run_simulated(work())) == [(1, "b 5"), (2, "a 5"), (3, "a 5")]
    assert ears.in_use == "Ears 1"


def test_if_all_ears_fail_listening_fails() -> None:
    with pytest.raises(ServiceError, match="down"):
        hear(Fallback(Ears("a", fails_at=1), Ears("b", fails_at=1)), *[LOUD] * 10)


def test_ears_that_stop_listening_are_followed_too() -> None:
    class Deaf(Ears):
        async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
            return
            yield SpeechBegan()

    assert finals(hear(Fallback(Deaf("a"), Ears("b")), *[LOUD] * 5, SILENT)) == [(1, "b 5")]


def test_the_end_of_the_audio_is_the_end() -> None:
    assert hear(Fallback(Ears("a"), Ears("b")), SILENT) == []


def test_ears_that_need_loading_are_made_ready() -> None:
    class Slow(Ears):
        is_ready = False

        async def prepare(self) -> None:
            self.is_ready = True

    ears = Fallback(Slow("a"), Ears("b"))
    assert not ears.is_ready
    run_simulated(ears.prepare())
    assert ears.is_ready
    assert ears.settings == {"fallback": ["Slow", "Ears"]}
    assert ears.languages is None
