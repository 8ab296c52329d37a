"""The caller's speech as telephone audio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from duologue.audio.g711 import ulaw_to_pcm
from duologue.audio.wav import write_wav
from duologue.lab.sim.call_script import PlayWav, Say
from duologue.lab.sim.phone_speech import RATE_HZ, PhoneSpeech
from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated


class Voice:
    """Says half a second of sound at 16 kHz, or nothing for an empty text."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        self.texts.append(text)
        if text:
            yield Sound(500, b"\x00\x10" * 8_000, rate_hz=16_000)


def test_a_sentence_is_spoken_at_8_khz_in_ulaw_and_only_once() -> None:
    voice = Voice()
    speech = PhoneSpeech(voice)

    async def twice() -> tuple[bytes, bytes]:
        return await speech(Say("hello")), await speech(Say("hello"))

    first, second = run_simulated(twice())
    assert first == second
    assert len(first) == RATE_HZ // 2
    assert len(ulaw_to_pcm(first)) == RATE_HZ
    assert voice.texts == ["hello"]


def test_a_voice_without_sound_makes_no_audio() -> None:
    assert run_simulated(PhoneSpeech(Voice())(Say(""))) == b""


def test_a_file_is_read_from_the_folder(tmp_path: Path) -> None:
    write_wav(tmp_path / "tone.wav", b"\x00\x10" * 16_000, 16_000)
    assert len(run_simulated(PhoneSpeech(Voice(), tmp_path)(PlayWav("tone.wav")))) == RATE_HZ
