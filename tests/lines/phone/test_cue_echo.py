"""The echo of a cue on a telephone line: the real ears take it neither for a person nor for words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from duologue.audio.frames import to_pcm, to_samples
from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Moonshine
from duologue.lab.sim.call_script import Say
from duologue.lab.sim.line_echo import LineEcho
from duologue.lab.sim.offline_call import OfflineCall
from duologue.lab.sim.phone_speech import PhoneSpeech
from duologue.ports.ears import Final, Frame, Heard, Incoming, Partial, SpeechBegan
from duologue.ports.line import LineEvent
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.built_in_sounds import connected_sound, thinking_sound
from duologue.voice.espeak import EspeakVoice
from tests.needs import needs_model


async def heard_of_cues(ears: LocalEars, sound: Sound, delay_ms: int) -> list[Heard]:
    """What the ears report of ten cues over a silent line with an echo at -12 dB."""
    exchange = OfflineCall(echo=LineEcho(-12, delay_ms))
    line = await exchange.connect()
    frames: asyncio.Queue[Frame | None] = asyncio.Queue()
    heard: list[Heard] = []

    def note(event: LineEvent) -> None:
        if isinstance(event, Frame):
            frames.put_nowait(event)

    async def audio() -> AsyncIterator[Incoming]:
        while (frame := await frames.get()) is not None:
            yield frame

    async def listen() -> None:
        async for report in ears.listen(audio()):
            heard.append(report)

    await line.open(note)
    listening = asyncio.ensure_future(listen())
    for cue in range(1, 11):
        line.play_cue(cue, sound)
        await asyncio.sleep(2)
    assert exchange.carrier.played_ms == 10 * sound.ms, "the cues were heard"
    frames.put_nowait(None)
    await listening
    exchange.carrier.end()
    return heard


@pytest.fixture(scope="module")
def real_ears() -> LocalEars:
    for model in ("silero-vad", "moonshine-tiny", "smart-turn"):
        needs_model(model)
    ears = LocalEars(Moonshine("tiny"), cancels_echo=False)
    ears.load()
    return ears


@pytest.mark.req("H-12")
@pytest.mark.parametrize("delay_ms", [60, 400])
@pytest.mark.parametrize("sound", [thinking_sound(), connected_sound()], ids=["thinking", "connected"])
def test_the_echo_of_a_cue_is_no_speech(real_ears: LocalEars, sound: Sound, delay_ms: int) -> None:
    heard = run_simulated(heard_of_cues(real_ears, sound, delay_ms))
    assert not [report for report in heard if isinstance(report, SpeechBegan | Partial | Final)]


@pytest.mark.req("H-12")
@pytest.mark.parametrize("delay_ms", [60, 400])
def test_the_echo_of_a_spoken_cue_is_no_speech_because_the_ears_know_what_was_played(
    real_ears: LocalEars, delay_ms: int
) -> None:
    heard = run_simulated(heard_of_cues(real_ears, asyncio.run(spoken("One moment please.")), delay_ms))
    assert not [report for report in heard if isinstance(report, SpeechBegan | Partial | Final)]


@pytest.mark.req("H-12")
@pytest.mark.parametrize("delay_ms", [60, 400])
@pytest.mark.parametrize("kind", ["hum", "people"])
def test_the_echo_of_the_ambient_sound_is_no_speech_and_a_person_is_heard_over_it(
    real_ears: LocalEars, kind: str, delay_ms: int
) -> None:
    ambient = hum() if kind == "hum" else quieter(asyncio.run(spoken(PEOPLE)))
    person = asyncio.run(PhoneSpeech(EspeakVoice("en-us", 150))(Say(WISH)))
    silent, talking = run_simulated(heard_over(real_ears, ambient, person, delay_ms))
    assert not [report for report in silent if isinstance(report, SpeechBegan | Partial | Final)]
    assert [type(report) for report in talking if isinstance(report, SpeechBegan | Final)][:1] == [SpeechBegan]
    assert any("Monday" in report.text for report in talking if isinstance(report, Final))


WISH = "I would like to book a table for two people on Monday evening."
PEOPLE = "And then they told us that the train would be late again, so all of us went back to the small hotel."


def hum() -> Sound:
    t = np.arange(24_000) / 24_000
    wave = sum(np.sin(2 * np.pi * hz * t) / number for number, hz in enumerate((100, 200, 300, 500), 1))
    return Sound(1_000, to_pcm(np.asarray(0.05 * wave, np.float32)), 24_000)


def quieter(sound: Sound) -> Sound:
    return Sound(sound.ms, to_pcm(0.2 * to_samples(sound.pcm)), sound.rate_hz)


async def heard_over(ears: LocalEars, ambient: Sound, person: bytes, delay_ms: int) -> tuple[list[Heard], list[Heard]]:
    """What the ears report of the ambient sound that comes back at -12 dB: during 12 s in which the person is silent,
    and after the person has spoken."""
    exchange = OfflineCall(echo=LineEcho(-12, delay_ms))
    line = await exchange.connect()
    frames: asyncio.Queue[Frame | None] = asyncio.Queue()
    heard: list[Heard] = []

    async def audio() -> AsyncIterator[Incoming]:
        while (frame := await frames.get()) is not None:
            yield frame

    async def listen() -> None:
        async for report in ears.listen(audio()):
            heard.append(report)

    await line.open(lambda event: frames.put_nowait(event) if isinstance(event, Frame) else None)
    listening = asyncio.ensure_future(listen())
    line.set_ambient(ambient)
    await asyncio.sleep(12)
    silent = list(heard)
    exchange.carrier.speak(person)
    await asyncio.sleep(len(person) / 8_000 + 2)
    frames.put_nowait(None)
    await listening
    exchange.carrier.end()
    return silent, heard[len(silent) :]


async def spoken(text: str) -> Sound:
    """These words, as whole frames of 20 ms."""
    needs_model("espeak-ng")
    pieces = [piece async for piece in EspeakVoice().speak(text)]
    rate_hz = pieces[0].rate_hz
    ms = sum(len(piece.pcm) for piece in pieces) // 2 * 1000 // rate_hz // 20 * 20
    return Sound(ms, b"".join(piece.pcm for piece in pieces)[: ms * rate_hz // 1000 * 2], rate_hz)
