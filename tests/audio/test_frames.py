"""Frames: no sample is lost between bytes, frames and the ring buffer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.audio.frames import FrameCutter, Samples, UnusableAudio, to_pcm, to_samples

sizes = st.lists(st.integers(0, 70), max_size=30)


def count_up(size: int, start: int = 0) -> Samples:
    """Samples whose value is their position."""
    return np.arange(start, start + size, dtype=np.float32)


def pieces(lengths: list[int]) -> list[Samples]:
    starts = np.cumsum([0, *lengths])
    return [count_up(length, int(start)) for length, start in zip(lengths, starts, strict=False)]


# -- PCM


@given(st.binary(max_size=200).map(lambda data: data[: len(data) // 2 * 2]))
def test_pcm_converted_to_samples_and_back_is_unchanged(pcm: bytes) -> None:
    assert to_pcm(to_samples(pcm)) == pcm


def test_samples_are_between_minus_one_and_one() -> None:
    extremes = to_samples(np.array([-32_768, 0, 32_767], "<i2").tobytes())
    assert extremes.dtype == np.float32
    assert extremes.tolist() == [-1.0, 0.0, 32_767 / 32_768]


def test_samples_beyond_full_scale_are_clipped_and_do_not_wrap_around() -> None:
    loud = np.array([1.5, 1.0, -1.0, -7.0], np.float32)
    assert np.frombuffer(to_pcm(loud), "<i2").tolist() == [32_767, 32_767, -32_768, -32_768]


def test_half_a_sample_is_rejected() -> None:
    with pytest.raises(UnusableAudio, match="even number of bytes, not 3"):
        to_samples(b"abc")


# -- Cutting


@given(sizes, st.integers(1, 50))
def test_cutting_loses_nothing_and_adds_nothing(lengths: list[int], size: int) -> None:
    cutter = FrameCutter(size)
    frames = [frame for piece in pieces(lengths) for frame in cutter.feed(piece)]
    assert all(frame.size == size for frame in frames)
    rest = cutter.rest()
    assert rest.size < size
    assert np.concatenate([*frames, rest]).tolist() == count_up(sum(lengths)).tolist()
    assert not cutter.rest().size


def test_a_frame_is_returned_as_soon_as_it_is_full() -> None:
    cutter = FrameCutter(4)
    assert cutter.feed(count_up(3)) == []
    assert [frame.tolist() for frame in cutter.feed(count_up(1, 3))] == [[0, 1, 2, 3]]
