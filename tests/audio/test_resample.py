"""Resampling: audio keeps its pitch, its length and its level; a live stream is delayed by less than 3 ms."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.audio.frames import Samples, UnusableAudio
from duologue.audio.levels import rms, to_dbfs
from duologue.audio.resample import LiveResampler, resample

PAIRS = [(22_050, 16_000), (22_050, 8_000), (8_000, 16_000), (16_000, 8_000), (24_000, 16_000), (16_000, 48_000)]
NOTHING = np.empty(0, np.float32)


def tone(hz: float, rate_hz: int, seconds: float = 1) -> Samples:
    return (0.5 * np.sin(2 * np.pi * hz * np.arange(int(rate_hz * seconds)) / rate_hz)).astype(np.float32)


def through(stream: LiveResampler, samples: Samples, size: int) -> Samples:
    pieces = [stream.feed(samples[at : at + size]) for at in range(0, samples.size, size)]
    return np.concatenate([*pieces, stream.finish()])


@pytest.mark.parametrize(("from_hz", "to_hz"), PAIRS)
def test_a_tone_stays_the_same_tone(from_hz: int, to_hz: int) -> None:
    sound = through(LiveResampler(from_hz, to_hz), tone(440, from_hz), from_hz // 50)
    assert sound.dtype == np.float32
    assert sound.size == pytest.approx(to_hz, abs=1)
    error = (sound - tone(440, to_hz, 2)[: sound.size])[200:-200]
    assert to_dbfs(rms(error)) < -75


@pytest.mark.parametrize(("from_hz", "to_hz"), PAIRS)
def test_a_recording_and_a_stream_agree(from_hz: int, to_hz: int) -> None:
    sound = tone(300, from_hz, 0.5)
    whole = resample(sound, from_hz, to_hz)
    streamed = through(LiveResampler(from_hz, to_hz), sound, 100)
    assert whole.size == pytest.approx(streamed.size, abs=1)
    shared = min(whole.size, streamed.size)
    assert np.abs(whole[:shared] - streamed[:shared])[200:-200].max() < 1e-3


def test_frequencies_above_half_the_lower_rate_are_removed() -> None:
    sound = through(LiveResampler(16_000, 8_000), tone(5_000, 16_000), 320)
    assert to_dbfs(rms(sound[200:-200])) < -70


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=1, max_size=12), st.sampled_from(PAIRS))
def test_the_size_of_the_pieces_does_not_matter(lengths: list[int], pair: tuple[int, int]) -> None:
    sound = np.random.default_rng(3).standard_normal(sum(lengths)).astype(np.float32)
    stream, cuts = LiveResampler(*pair), np.cumsum(lengths)[:-1]
    cut = np.concatenate([*(stream.feed(piece) for piece in np.split(sound, cuts)), stream.finish()])
    whole = LiveResampler(*pair)
    assert np.allclose(cut, np.concatenate((whole.feed(sound), whole.finish())), atol=1e-6)
    assert cut.size == -(-sound.size * pair[1] // pair[0])


@pytest.mark.parametrize(("from_hz", "to_hz"), PAIRS)
def test_a_live_stream_holds_back_less_than_three_milliseconds(from_hz: int, to_hz: int) -> None:
    stream, out = LiveResampler(from_hz, to_hz), 0
    for frame in range(1, 50):
        out += stream.feed(np.zeros(from_hz // 50, np.float32)).size
        assert 20 * frame - 1000 * out / to_hz < 3


def test_after_finish_a_new_stream_starts() -> None:
    stream, sound = LiveResampler(8_000, 16_000), tone(440, 8_000)
    assert np.array_equal(through(stream, sound, 160), through(stream, sound, 160))


def test_equal_rates_pass_the_samples_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soxr", None)
    sound = tone(440, 16_000)
    stream = LiveResampler(16_000, 16_000)
    assert stream.feed(sound) is sound
    assert not stream.finish().size
    assert resample(sound, 16_000, 16_000) is sound


def test_empty_stays_empty() -> None:
    assert not resample(NOTHING, 8_000, 16_000).size
    assert not through(LiveResampler(8_000, 16_000), NOTHING, 1).size


def test_without_soxr_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soxr", None)
    with pytest.raises(ModuleNotFoundError, match=r"resampling needs soxr: pip install 'duologue\[speech\]'"):
        resample(tone(440, 8_000), 8_000, 16_000)


@pytest.mark.parametrize("rate_hz", [0, -8_000, 10**9])
def test_an_impossible_rate_is_rejected(rate_hz: int) -> None:
    for use in (lambda: resample(NOTHING, rate_hz, 8_000), lambda: LiveResampler(8_000, rate_hz)):
        with pytest.raises(UnusableAudio, match="a sample rate must be from"):
            use()


def test_rates_with_a_small_common_divisor_are_rejected_for_a_live_stream() -> None:
    with pytest.raises(UnusableAudio, match="too small a common divisor"):
        LiveResampler(16_000, 15_999)
