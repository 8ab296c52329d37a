"""WebRTC's noise suppressor in pieces of 10 ms: steady noise becomes quieter, and no sample is lost."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from duologue.audio.frames import Samples
from duologue.audio.levels import rms, to_dbfs
from duologue.ears.noise_suppressor import WebrtcNoiseSuppressor
from tests.ears.ears_recordings import noise, silence
from tests.needs import needs_package


def through(suppressor: WebrtcNoiseSuppressor, sound: Samples, size: int) -> Samples:
    return np.concatenate([suppressor.feed(sound[at : at + size]) for at in range(0, sound.size, size)])


@pytest.mark.parametrize("size", [512, 320, 100])
def test_steady_noise_becomes_quieter_and_as_many_samples_come_out(size: int) -> None:
    needs_package("webrtc_noise_gain", "pip install 'duologue[noise]'")
    sound = noise(2.0, 0.05, seed=1)
    clean = through(WebrtcNoiseSuppressor(), sound, size)
    assert clean.size == sound.size
    assert to_dbfs(rms(clean[16_000:])) < to_dbfs(rms(sound)) - 3


def test_a_higher_level_suppresses_more() -> None:
    needs_package("webrtc_noise_gain", "pip install 'duologue[noise]'")
    sound = noise(2.0, 0.05, seed=1)
    little, most = (rms(through(WebrtcNoiseSuppressor(level), sound, 512)[16_000:]) for level in (1, 4))
    assert most < little


def test_silence_stays_silent() -> None:
    needs_package("webrtc_noise_gain", "pip install 'duologue[noise]'")
    assert not through(WebrtcNoiseSuppressor(), silence(0.2), 512).any()


def test_a_wrong_level_is_named() -> None:
    with pytest.raises(ValueError, match="1, 2, 3 or 4, not 5"):
        WebrtcNoiseSuppressor(5)  # type: ignore[arg-type]


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "webrtc_noise_gain", None)
    with pytest.raises(ModuleNotFoundError, match=r"duologue\[noise\]"):
        WebrtcNoiseSuppressor()
