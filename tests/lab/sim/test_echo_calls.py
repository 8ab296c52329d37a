"""Calls in which the agent hears itself: what the rig counts, and that the real ears don't fall for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Moonshine
from duologue.lab.sim.call_script import Say
from duologue.lab.sim.echo_calls import NO_ECHO_DB, EchoCall, Interruption, hold_call
from duologue.lab.sim.phone_speech import PhoneSpeech
from duologue.ports.ears import Final, Frame, Heard, Incoming, Partial, SpeechBegan, SpeechEnded
from duologue.ports.sound import Sound, Word
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.espeak import EspeakVoice
from duologue.voice.scripted import ScriptedVoice
from tests.needs import needs_model


class GullibleEars:
    """Ears that take every loud frame for a person who says the same words."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        loud = 0
        async for item in audio:
            if not isinstance(item, Frame):
                continue
            if any(item.pcm):
                loud += 1
                if loud == 20:
                    yield SpeechBegan()
                    yield Partial(self._text, 0.9)
                    yield Partial(self._text, 0.9)
                    yield SpeechEnded()
                    yield Final(self._text, 0.9)
            else:
                loud = 0


def gullible_call(text: str, level_db: int, people: tuple[Interruption, ...] = ()) -> EchoCall:
    needs_model("espeak-ng")
    return run_simulated(hold_call(GullibleEars(text), EspeakVoice(), level_db, 100, 40, people))


def test_an_agent_that_falls_for_its_echo_is_found() -> None:
    call = gullible_call("please stop talking", -12)
    assert call.self_interruptions
    assert "please stop talking" in call.self_answers
    assert not call.is_clean


def test_without_an_echo_nothing_is_found() -> None:
    assert gullible_call("please stop talking", NO_ECHO_DB).is_clean


def test_an_interruption_that_is_heard_works_and_another_is_missed() -> None:
    words = Interruption("please stop talking", b"\x00" * 16_000)
    heard = gullible_call("please stop talking", NO_ECHO_DB, (words,))
    assert len(heard.stop_ms) == 1
    assert heard.is_clean
    missed = gullible_call("", NO_ECHO_DB, (words,))
    assert missed.missed == ["please stop talking"]


def test_a_silent_agent_has_no_echo() -> None:
    call = run_simulated(hold_call(GullibleEars("yes please"), ScriptedVoice(), -12, 100, 10))
    assert call.is_clean, "simulated sound has only a length"


# -- Ears that write down the echo without a mistake


class NotingVoice:
    """espeak-ng, and what it has said since `forget`: each word with its time from the beginning."""

    def __init__(self) -> None:
        self._voice = EspeakVoice()
        self.words: list[Word] = []
        self.ms = 0

    def forget(self) -> None:
        self.words, self.ms = [], 0

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        async for sound in self._voice.speak(text):
            self.words += [Word(word.text, self.ms + word.start_ms, self.ms + word.end_ms) for word in sound.words]
            self.ms += sound.ms
            yield sound


class PerfectEars:
    """Every loud frame is speech, and its words are those that the voice said at this place of its text."""

    def __init__(self, voice: NotingVoice) -> None:
        self._voice = voice
        self.heard: list[str] = []

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        quiet, at, first, is_open = QUIET_FRAMES_LONG, 0, 0, False
        async for item in audio:
            if not isinstance(item, Frame):
                continue
            if any(item.pcm):
                at = 0 if quiet >= QUIET_FRAMES_LONG else at
                if not is_open:
                    is_open, first = True, at
                    yield SpeechBegan()
                elif (at - first) % 300 == 0:
                    yield Partial(self._words(first, at), 0.95)
                quiet = 0
            else:
                quiet += 1
                if quiet == QUIET_FRAMES_LONG:
                    self._voice.forget()
                if is_open and quiet == QUIET_FRAMES:
                    is_open = False
                    yield SpeechEnded()
                    yield Final(self._words(first, at), 0.95)
            at += 20

    def _words(self, first: int, at: int) -> str:
        """The words that were said from `first` to `at` ms after the beginning."""
        found = [word.text for word in self._voice.words if word.end_ms > first and word.start_ms < at]
        self.heard += found
        return " ".join(found)


QUIET_FRAMES, QUIET_FRAMES_LONG = 10, 60  # 200 ms end an utterance; after 1.2 s another text begins


@pytest.mark.req("H-12")
@pytest.mark.parametrize("delay_ms", [60, 200, 400])
def test_a_perfect_transcript_of_the_echo_is_neither_an_interruption_nor_a_request(delay_ms: int) -> None:
    needs_model("espeak-ng")
    voice = NotingVoice()
    ears = PerfectEars(voice)
    call = run_simulated(hold_call(ears, voice, -12, delay_ms, 60))
    assert (call.self_interruptions, call.self_answers) == (0, [])
    assert len(ears.heard) > 100


# -- With the real ears: a short part of `make echo`


@pytest.fixture(scope="module")
def real_ears() -> LocalEars:
    for model in ("silero-vad", "moonshine-tiny", "smart-turn", "espeak-ng"):
        needs_model(model)
    ears = LocalEars(Moonshine("tiny"), cancels_echo=False)
    ears.load()
    return ears


@pytest.mark.req("H-12")
@pytest.mark.parametrize(("level_db", "delay_ms"), [(-12, 400), (-30, 60), (-50, 200)])
def test_the_agent_neither_interrupts_nor_answers_itself(real_ears: LocalEars, level_db: int, delay_ms: int) -> None:
    call = run_simulated(hold_call(real_ears, EspeakVoice(), level_db, delay_ms, 40))
    assert (call.self_interruptions, call.self_answers) == (0, [])


@pytest.mark.req("H-12")
def test_a_person_interrupts_over_a_loud_echo(real_ears: LocalEars) -> None:
    text = "No, that is not what I asked for."
    coded = asyncio.run(PhoneSpeech(EspeakVoice("en-us+f3"))(Say(text)))
    people = [Interruption(text, coded)] * 2
    call = run_simulated(hold_call(real_ears, EspeakVoice(), -12, 200, 60, people))
    assert call.missed == []
    assert call.is_clean
