"""Voice detection here, words from a service: local ears with a scripted service of words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.core.leaves import ErrorClass
from duologue.ears.local import LocalEars
from duologue.ports import ServiceError
from duologue.ports.ears import Discard, Final, Frame, Heard, Incoming, Partial, SpeechBegan, SpeechEnded, TurnOver
from duologue.ports.words import WrittenText
from duologue.runtime.simulated_clock import run_simulated
from tests.ears.ears_recordings import RATE_HZ, frames_of, noise, silence
from tests.lab.recordings.made_up_speech import LevelVad


class Words:
    """A service of words that a test writes."""

    def __init__(self, *finals: str, answer_s: float = 0.1) -> None:
        self.finals, self.answer_s = list(finals), answer_s
        self.heard_bytes = 0
        self.calls: list[tuple[Any, ...]] = []
        self.failure: Exception | None = None
        self.opens_with: Exception | None = None
        self.is_closed = False
        self.on_text: Callable[[int, WrittenText], None] = lambda number, text: None
        self.on_late = self.on_text
        self.on_turn_over: Callable[[], None] = lambda: None

    async def open_words(self) -> Words:
        if self.opens_with is not None:
            raise self.opens_with
        return self

    def follow(self, on_text: Any, on_late: Any, on_turn_over: Any) -> None:
        self.on_text, self.on_late, self.on_turn_over = on_text, on_late, on_turn_over

    def hear(self, pcm: bytes) -> None:
        self.heard_bytes += len(pcm)

    def begin(self, utterance: int, first_ms: int) -> None:
        self.calls.append(("begin", utterance, first_ms))
        self.on_text(utterance, WrittenText("so far", 0.8, 0.5))

    async def finish(self, utterance: int, end_ms: int, voiced_ms: int) -> WrittenText:
        self.calls.append(("finish", utterance, end_ms, voiced_ms))
        await asyncio.sleep(self.answer_s)
        if self.failure is not None:
            raise self.failure
        return WrittenText(self.finals.pop(0), 0.9, 1.0, 0.7)

    def discard(self, utterance: int) -> None:
        self.calls.append(("discard", utterance))

    async def close(self) -> None:
        self.is_closed = True


async def paced(*items: Incoming) -> AsyncIterator[Incoming]:
    """Frames at the pace of a line, on the simulated clock."""
    for item in items:
        yield item
        if isinstance(item, Frame):
            await asyncio.sleep(0.02)


SPEECH: list[Incoming] = [*frames_of(silence(0.3)), *frames_of(noise(1.2, 0.3)), *frames_of(silence(1.2))]


def syllables(length_s: float) -> Samples:
    """A voice with syllables and pauses, in noise."""
    beats = np.array([0.3, 0.35, 0.15, 0.05, 0.0, 0.1, 0.3, 0.2, 0.02, 0.0])
    level = np.repeat(beats, RATE_HZ // 25)
    audio = noise(length_s, 1.0)
    return (audio * np.resize(level, audio.size)).astype(np.float32)


def echoed(played: Samples, delay_ms: int, gain: float) -> list[Frame]:
    """The agent's voice as its line plays it, and its echo as the microphone hears it."""
    echo = gain * np.concatenate([silence(delay_ms / 1000), played])[: played.size]
    pairs = zip(frames_of(echo), frames_of(played), strict=True)
    return [replace(heard, played=own.pcm) for heard, own in pairs]


def listen(words: Words, *items: Incoming, **settings: Any) -> list[Heard]:
    ears = LocalEars(**{"vad": LevelVad, "judges_turns": False, "cancels_echo": False, "words": words, **settings})

    async def work() -> list[Heard]:
        return [heard async for heard in ears.listen(paced(*items))]

    found: list[Heard] = run_simulated(work())
    return [one for one in found if isinstance(one, SpeechBegan | SpeechEnded | Partial | Final | TurnOver)]


def test_the_voice_is_detected_here_and_the_words_come_from_the_service() -> None:
    words = Words("two tickets")
    heard = listen(words, *SPEECH)
    assert heard[0] == SpeechBegan(1)
    assert Partial("so far", 0.8, 1, 0.5) in heard
    assert heard[-1] == Final("two tickets", 0.9, 1, 0.7)
    assert any(isinstance(one, SpeechEnded) for one in heard)
    kinds = [call[0] for call in words.calls]
    assert kinds == ["begin", "finish"]
    first_ms, voiced_ms = words.calls[0][2], words.calls[1][3]
    assert 0 <= first_ms <= 320
    assert 1_400 <= voiced_ms <= 1_700
    assert words.heard_bytes >= len(SPEECH) * 600, "the service hears everything, without gaps"
    assert words.is_closed


@pytest.mark.parametrize("delay_ms", [60, 200])
def test_the_agents_echo_begins_no_utterance_at_the_service(delay_ms: int) -> None:
    """The echo gate works with words from a service too. `cancels_echo` is as it is by default."""
    agent = echoed(syllables(6.0), delay_ms, gain=0.3)
    words = Words("two tickets")
    assert listen(words, *agent, cancels_echo=None) == []
    assert words.calls == []
    assert words.heard_bytes, "the service still hears everything"
    words = Words("two tickets")
    heard = listen(words, *agent, *frames_of(silence(1.0)), *SPEECH, cancels_echo=None)
    assert heard[0] == SpeechBegan(1)
    (kind, _, first_ms), *_ = words.calls
    assert kind == "begin"
    assert first_ms >= 6_900, "the person, not the echo"


def test_the_same_sound_is_speech_if_the_line_did_not_play_it() -> None:
    words = Words("two tickets", "and more", *["more"] * 20)
    unknown = [replace(frame, played=b"") for frame in echoed(syllables(6.0), 60, gain=0.3)]
    assert SpeechBegan(1) in listen(words, *unknown, *frames_of(silence(1.0)), cancels_echo=None)
    assert words.calls[0][0] == "begin"


def test_a_new_text_of_the_service_is_reported_when_it_comes() -> None:
    words = Words("two tickets")

    async def work() -> list[Heard]:
        ears = LocalEars(vad=LevelVad, judges_turns=False, cancels_echo=False, words=words)
        found = []
        async for heard in ears.listen(paced(*SPEECH)):
            found.append(heard)
            if isinstance(heard, Partial) and heard.text == "so far":
                words.on_text(1, WrittenText("two tick", 0.9, 1.0))
        return found

    assert Partial("two tick", 0.9, 1, 1.0) in run_simulated(work())


@pytest.mark.req("H-15")
def test_late_text_stays_with_its_utterance() -> None:
    words = Words("two")

    async def work() -> list[Heard]:
        ears = LocalEars(vad=LevelVad, judges_turns=False, cancels_echo=False, words=words)
        found = []
        async for heard in ears.listen(paced(*SPEECH)):
            found.append(heard)
            if isinstance(heard, Final) and heard.text == "two":
                words.on_late(1, WrittenText("two tickets", 0.9, 1.0))
        return found

    finals = [one for one in run_simulated(work()) if isinstance(one, Final)]
    assert [(one.utterance, one.text) for one in finals] == [(1, "two"), (1, "two tickets")]


@pytest.mark.parametrize(("turn_end", "count"), [("local", 0), ("service", 1)])
def test_the_services_end_of_turn_counts_if_it_was_chosen(turn_end: str, count: int) -> None:
    words = Words("yes")

    async def work() -> list[Heard]:
        ears = LocalEars(vad=LevelVad, judges_turns=False, cancels_echo=False, words=words, turn_end=turn_end)  # type: ignore[arg-type]
        found = []
        async for heard in ears.listen(paced(*SPEECH)):
            found.append(heard)
            if isinstance(heard, Final):
                words.on_turn_over()
        return found

    assert [one for one in run_simulated(work()) if isinstance(one, TurnOver)] == [TurnOver(1)] * count


def test_discarded_noise_is_discarded_at_the_service() -> None:
    words = Words()
    heard = listen(words, *frames_of(noise(0.6, 0.3)), Discard(1), *frames_of(silence(0.8)))
    assert ("discard", 1) in words.calls
    assert not any(isinstance(one, Final) and one.text for one in heard)


def test_a_service_that_fails_fails_the_ears_with_its_error() -> None:
    words = Words("never")
    words.failure = ServiceError(ErrorClass.RATE_LIMIT, "no more")
    with pytest.raises(ServiceError, match="no more"):
        listen(words, *SPEECH)
    assert words.is_closed


def test_a_service_that_cannot_be_reached_fails_the_ears() -> None:
    words = Words()
    words.opens_with = ServiceError(ErrorClass.AUTH_FAILURE, "no key")
    with pytest.raises(ServiceError, match="no key"):
        listen(words, *SPEECH)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"turn_end": "service"}, "pass words="),
        ({"turn_end": "never", "words": Words()}, "choose local or service"),
        ({"words": Words(), "final_model": "base"}, "words replaces stt and final_model"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        LocalEars(vad=LevelVad, **settings)


def test_something_else_than_a_service_of_words_is_refused() -> None:
    with pytest.raises(TypeError, match="open_words"):
        LocalEars(vad=LevelVad, words=object())  # type: ignore[arg-type]


def test_the_settings_name_the_service() -> None:
    ears = LocalEars(vad=LevelVad, words=Words())
    assert ears.settings["words"] == "Words"
    assert ears.settings["turn_end"] == "local"
