"""The beep of an answering machine is told from speech, keys, music and other tones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import numpy as np
import pytest

from duologue.audio.beep import BEEP_MS_MAX, BeepDetector, BeepState, Tone, next_beep, tone_in
from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.g711 import pcm_to_ulaw, ulaw_to_pcm
from duologue.audio.resample import resample
from duologue.lines.phone.tones import tones_of
from duologue.server.phone.hold_music import melody
from duologue.voice.espeak import EspeakVoice
from tests.needs import needs_model

RATE_HZ = 8_000
SILENCE = bytes(2 * RATE_HZ)


def sine(hz: float | tuple[float, ...], ms: int, level: float = 0.3, rate_hz: int = RATE_HZ) -> bytes:
    at = np.arange(rate_hz * ms // 1000) / rate_hz
    parts = hz if isinstance(hz, tuple) else (hz,)
    wave = sum(np.sin(2 * np.pi * one * at) for one in parts) / len(parts)
    return to_pcm((level * np.asarray(wave)).astype(np.float32))


def noise(ms: int, level: float) -> np.ndarray:
    return (level * np.random.default_rng(1).standard_normal(RATE_HZ * ms // 1000)).astype(np.float32)


def beeps(pcm: bytes, rate_hz: int = RATE_HZ, offset: int = 0) -> list[int]:
    """The times in ms at which a beep is reported, after a way through µ-law."""
    heard = (b"\0\0" * offset) + ulaw_to_pcm(pcm_to_ulaw(pcm)) + SILENCE
    size, detector = 2 * rate_hz // 50, BeepDetector(rate_hz)
    frames: Iterable[int] = range(0, len(heard), size)
    return [20 * (number + 1) for number, at in enumerate(frames) if detector.hear(heard[at : at + size])]


@pytest.mark.parametrize("hz", [400, 440, 523, 697, 850, 1_000, 1_004, 1_336, 1_400, 1_777, 2_000])
@pytest.mark.parametrize("ms", [150, 400, 1_000, 1_500])
@pytest.mark.parametrize("offset", [0, 57])
def test_a_steady_tone_is_a_beep_reported_when_it_has_ended(hz: int, ms: int, offset: int) -> None:
    (at_ms,) = beeps(sine(hz, ms), offset=offset)
    assert ms + 40 <= at_ms <= ms + 160


@pytest.mark.parametrize("level", [0.02, 0.1, 0.9])
def test_a_beep_may_be_quiet_or_loud_and_the_line_may_hiss(level: float) -> None:
    tone = to_samples(sine(1_000, 500, level))
    assert len(beeps(to_pcm(tone + noise(500, level / 20)))) == 1


@pytest.mark.parametrize(
    ("what", "pcm"),
    [
        ("too short", sine(1_000, 80)),
        ("too long", sine(1_000, 2_000)),
        ("too low", sine(300, 500)),
        ("too high", sine(2_400, 500)),
        ("too quiet", sine(1_000, 500, 0.002)),
        ("a key", tones_of("5", RATE_HZ) * 3),
        ("busy", sine((480, 620), 500)),
        ("ringback", sine((440, 480), 2_000)),
        ("three tones before an announcement", sine(950, 330) + sine(1_400, 330) + sine(1_800, 330)),
        ("hiss", to_pcm(noise(1_000, 0.1))),
        (
            "a sweep",
            to_pcm((0.3 * np.sin(2 * np.pi * np.cumsum(np.linspace(500, 1_800, 4_000)) / RATE_HZ)).astype("f4")),
        ),
        ("silence", b""),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_other_sounds_are_no_beep(what: str, pcm: bytes) -> None:
    assert beeps(pcm) == [], what


def test_our_own_music_for_people_on_hold_has_no_beep() -> None:
    assert beeps(melody().pcm) == []


def test_speech_has_no_beep_and_the_beep_behind_it_is_found() -> None:
    needs_model("espeak-ng")

    async def speak(voice: EspeakVoice, text: str) -> bytes:
        sounds = [sound async for sound in voice.speak(text)]
        whole = to_samples(b"".join(sound.pcm for sound in sounds))
        return to_pcm(resample(whole, sounds[0].rate_hz, RATE_HZ))

    text = "Hello, you have reached Ann Moore. Ooh, I am in the moon room now. Please leave a message after the tone."
    for name in ("en-us", "en-us+f3", "en-us+m7"):
        greeting = asyncio.run(speak(EspeakVoice(name), text))
        assert beeps(greeting) == [], name
        assert len(beeps(greeting + bytes(4_800) + sine(1_000, 300))) == 1, name


def test_two_beeps_with_a_pause_are_two() -> None:
    assert len(beeps(sine(1_000, 300) + bytes(8_000) + sine(1_000, 300))) == 2


def test_a_beep_at_16_khz() -> None:
    pcm = sine(1_000, 300, rate_hz=16_000)
    assert len(beeps(pcm, 16_000)) == 1


def test_a_frame_is_measured() -> None:
    tone = tone_in(to_samples(sine(1_004, 20)), RATE_HZ)
    assert tone is not None
    assert tone.hz == pytest.approx(1_004, abs=8)
    assert tone.level == pytest.approx(0.3 / 2**0.5, rel=0.02)
    assert tone_in(to_samples(sine(1_004, 5)), RATE_HZ) is None, "too short to measure"


def test_the_state_is_a_value_and_no_tone_lasts_for_ever() -> None:
    state, tone = BeepState(), Tone(1_000, 0.2)
    for _ in range(BEEP_MS_MAX // 20 + 5):
        state, ended = next_beep(state, tone, 20)
        assert not ended
    for _ in range(4):
        state, ended = next_beep(state, None, 20)
        assert not ended
    assert state == BeepState()
