"""The built-in sounds: soft, short, quiet, and the same at every rate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from duologue.audio.frames import to_samples
from duologue.audio.levels import rms, to_dbfs
from duologue.ports.sound import Sound
from duologue.voice.built_in_sounds import connected_sound, thinking_sound

MAKERS = [thinking_sound, connected_sound]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 24_000, 48_000])
def test_a_sound_has_its_length_at_every_rate(make: Callable[[int], Sound], rate_hz: int) -> None:
    sound = make(rate_hz)
    assert sound.rate_hz == rate_hz
    assert len(sound.pcm) // 2 == rate_hz * sound.ms // 1000
    assert 300 <= sound.ms <= 800


@pytest.mark.parametrize("make", MAKERS)
def test_it_starts_and_ends_in_silence_and_never_jumps(make: Callable[[], Sound]) -> None:
    samples = to_samples(make().pcm)
    assert abs(float(samples[0])) < 0.001
    assert abs(float(samples[-1])) < 0.001
    assert float(np.abs(np.diff(samples)).max()) < 0.03


@pytest.mark.parametrize("make", MAKERS)
def test_it_is_quieter_than_speech_and_can_be_heard(make: Callable[[], Sound]) -> None:
    samples = to_samples(make().pcm)
    assert -45 < to_dbfs(rms(samples)) < -28
    assert float(np.abs(samples).max()) < 0.15


@pytest.mark.parametrize("make", MAKERS)
def test_a_telephone_carries_it(make: Callable[[int], Sound]) -> None:
    samples = to_samples(make(8_000).pcm)
    power = np.abs(np.fft.rfft(samples)) ** 2
    hz = np.fft.rfftfreq(samples.size, 1 / 8_000)
    assert float(power[(hz > 300) & (hz < 3_400)].sum() / power.sum()) > 0.85


def test_a_sound_is_made_once() -> None:
    assert thinking_sound() is thinking_sound()
    assert thinking_sound() != connected_sound()
