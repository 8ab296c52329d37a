"""The tones of telephone keys, made and recognised."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.audio.frames import to_pcm, to_samples
from duologue.audio.g711 import alaw_to_pcm, pcm_to_alaw, pcm_to_ulaw, ulaw_to_pcm
from duologue.lines.phone.tones import DIGITS_MAX, KeyDetector, UnknownKeys, tones_of

RATE_HZ = 8_000
ALL = "0123456789*#ABCD"


def heard(pcm: bytes, frame_ms: int = 20) -> str:
    size, detector = 2 * RATE_HZ * frame_ms // 1000, KeyDetector(RATE_HZ)
    return "".join(detector.hear(pcm[at : at + size]) for at in range(0, len(pcm), size))


@pytest.mark.parametrize(
    "code", [lambda pcm: pcm, lambda pcm: ulaw_to_pcm(pcm_to_ulaw(pcm)), lambda pcm: alaw_to_pcm(pcm_to_alaw(pcm))]
)
def test_every_key_is_recognised_also_after_the_codec(code: object) -> None:
    assert heard(code(tones_of(ALL, RATE_HZ))) == ALL  # type: ignore[operator]


def test_the_same_key_twice_is_two_keys_and_a_long_one_is_one() -> None:
    assert heard(tones_of("11", RATE_HZ)) == "11"
    tone = tones_of("5", RATE_HZ)[: 2 * RATE_HZ // 10]
    assert heard(tone * 10) == "5"


@pytest.mark.parametrize("offset", range(0, 160, 20))
def test_keys_may_begin_anywhere_in_a_frame(offset: int) -> None:
    assert heard(bytes(2 * offset) + tones_of("4711#", RATE_HZ)) == "4711#"


def test_noise_and_single_tones_are_no_keys() -> None:
    dice = np.random.default_rng(1)
    noise = to_pcm((0.2 * dice.standard_normal(RATE_HZ * 5)).astype(np.float32))
    at = np.arange(RATE_HZ) / RATE_HZ
    beep = to_pcm((0.5 * np.sin(2 * np.pi * 941 * at)).astype(np.float32))
    assert heard(noise) == heard(beep) == heard(bytes(RATE_HZ)) == ""


def test_keys_are_recognised_in_some_noise() -> None:
    dice = np.random.default_rng(2)
    clean = to_samples(tones_of("0987", RATE_HZ))
    noisy = to_pcm((clean + 0.05 * dice.standard_normal(clean.size)).astype(np.float32))
    assert heard(noisy) == "0987"


def test_a_pause_has_its_length() -> None:
    assert len(tones_of("w", RATE_HZ)) == len(tones_of("W", RATE_HZ)) // 2 == 2 * RATE_HZ // 2


@pytest.mark.parametrize("digits", ["", "12x", "+49", "1" * (DIGITS_MAX + 1)])
def test_what_is_no_key_is_refused(digits: str) -> None:
    with pytest.raises(UnknownKeys, match="keys"):
        tones_of(digits, RATE_HZ)
