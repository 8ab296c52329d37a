"""The echo of a cue on a telephone line: the real ears take it neither for a person nor for words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Moonshine
from duologue.lab.sim.line_echo import LineEcho
from duologue.lab.sim.offline_call import OfflineCall
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


async def spoken(text: str) -> Sound:
    """These words, as whole frames of 20 ms."""
    needs_model("espeak-ng")
    pieces = [piece async for piece in EspeakVoice().speak(text)]
    rate_hz = pieces[0].rate_hz
    ms = sum(len(piece.pcm) for piece in pieces) // 2 * 1000 // rate_hz // 20 * 20
    return Sound(ms, b"".join(piece.pcm for piece in pieces)[: ms * rate_hz // 1000 * 2], rate_hz)
