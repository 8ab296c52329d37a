"""Frames: nothing is lost between bytes, frames and the ring; an offset goes without a step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.audio.frames import Cutter, DcRemover, Ring, Samples, UnusableAudio, samples_in, to_pcm, to_samples
from duologue.audio.frames import without_dc as remove_dc

sizes = st.lists(st.integers(0, 70), max_size=30)


def count_up(size: int, start: int = 0) -> Samples:
    """Samples that tell their own position."""
    return np.arange(start, start + size, dtype=np.float32)


def pieces(lengths: list[int]) -> list[Samples]:
    starts = np.cumsum([0, *lengths])
    return [count_up(length, int(start)) for length, start in zip(lengths, starts, strict=False)]


# -- PCM


@given(st.binary(max_size=200).map(lambda data: data[: len(data) // 2 * 2]))
def test_pcm_survives_the_way_to_samples_and_back(pcm: bytes) -> None:
    assert to_pcm(to_samples(pcm)) == pcm


def test_samples_lie_between_minus_one_and_one() -> None:
    extremes = to_samples(np.array([-32_768, 0, 32_767], "<i2").tobytes())
    assert extremes.dtype == np.float32
    assert extremes.tolist() == [-1.0, 0.0, 32_767 / 32_768]


def test_what_is_too_loud_is_clipped_and_does_not_wrap_around() -> None:
    loud = np.array([1.5, 1.0, -1.0, -7.0], np.float32)
    assert np.frombuffer(to_pcm(loud), "<i2").tolist() == [32_767, 32_767, -32_768, -32_768]


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(UnusableAudio, match="even number of bytes, not 3"):
        to_samples(b"abc")


@pytest.mark.parametrize(("ms", "rate_hz", "count"), [(20, 16_000, 320), (20, 22_050, 441), (32, 16_000, 512)])
def test_milliseconds_become_whole_samples(ms: int, rate_hz: int, count: int) -> None:
    assert samples_in(ms, rate_hz) == count


@pytest.mark.parametrize(("ms", "rate_hz"), [(1, 22_050), (0, 16_000), (20, 0), (-20, 16_000)])
def test_a_frame_that_would_drift_is_refused(ms: int, rate_hz: int) -> None:
    with pytest.raises(UnusableAudio, match="no whole number of samples"):
        samples_in(ms, rate_hz)


# -- Cutting


@given(sizes, st.integers(1, 50))
def test_cutting_loses_nothing_and_adds_nothing(lengths: list[int], size: int) -> None:
    cutter = Cutter(size)
    frames = [frame for piece in pieces(lengths) for frame in cutter.feed(piece)]
    assert all(frame.size == size for frame in frames)
    rest = cutter.rest()
    assert rest.size < size
    assert np.concatenate([*frames, rest]).tolist() == count_up(sum(lengths)).tolist()
    assert not cutter.rest().size


def test_a_frame_is_there_as_soon_as_it_is_full() -> None:
    cutter = Cutter(4)
    assert cutter.feed(count_up(3)) == []
    assert [frame.tolist() for frame in cutter.feed(count_up(1, 3))] == [[0, 1, 2, 3]]


# -- The ring


@given(sizes, st.integers(1, 60), st.integers(-10, 2_000), st.integers(0, 100))
def test_the_ring_gives_back_what_was_at_a_position(lengths: list[int], room: int, start: int, size: int) -> None:
    ring = Ring(room)
    for piece in pieces(lengths):
        ring.write(piece)
    total = sum(lengths)
    assert (ring.start, ring.end) == (max(0, total - room), total)
    wanted = range(max(start, ring.start), min(start + size, ring.end))
    assert ring.read(start, start + size).tolist() == list(wanted)


def test_what_was_read_does_not_change_when_the_ring_turns() -> None:
    ring = Ring(4)
    ring.write(count_up(4))
    read = ring.read(0, 4)
    ring.write(count_up(4, 4))
    assert read.tolist() == [0, 1, 2, 3]


# -- Offset


def test_an_offset_is_taken_out_of_a_whole_sound() -> None:
    assert remove_dc(np.array([0.5, 0.7], np.float32)) == pytest.approx([-0.1, 0.1])
    assert not remove_dc(np.empty(0, np.float32)).size


def test_an_offset_is_taken_out_of_a_stream_without_a_step() -> None:
    time = np.arange(32_000) / 16_000
    spoken = 0.1 * np.sin(2 * np.pi * 200 * time)
    shifted = (spoken + 0.2).astype(np.float32)
    remover = DcRemover(16_000)
    cleaned = np.concatenate([remover.feed(frame) for frame in shifted.reshape(-1, 320)])
    assert abs(float(cleaned[-3_200:].mean())) < 0.002
    assert np.abs(np.diff(cleaned)).max() < np.abs(np.diff(spoken)).max() * 1.05
    assert np.corrcoef(cleaned, spoken)[0, 1] > 0.999
