"""Frame pairs: any rate and length becomes the models' rate and length, and both sides stay together."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.audio.frames import to_pcm
from duologue.ears.frame_pairs import FramePair, FramePairs
from duologue.ears.model_input import UnusableAudio
from duologue.ports.ears import Frame
from tests.ears.ears_recordings import noise


def fed(pairs: FramePairs, frames: list[Frame]) -> list[FramePair]:
    return [pair for frame in frames for pair in pairs.feed(frame)]


def test_frames_of_any_length_become_frames_of_one_length() -> None:
    heard, played = noise(1, 0.1, seed=1), noise(1, 0.1, seed=2)
    frames = [
        Frame(to_pcm(heard[at : at + 300]), 16_000, to_pcm(played[at : at + 300])) for at in range(0, 16_000, 300)
    ]
    found = fed(FramePairs(16_000, 512), frames)
    assert len(found) == 16_000 // 512
    assert np.concatenate([pair.heard for pair in found]) == pytest.approx(heard[: 31 * 512], abs=1e-4)
    assert np.concatenate([pair.played for pair in found]) == pytest.approx(played[: 31 * 512], abs=1e-4)


def test_a_side_that_the_line_does_not_report_is_silent() -> None:
    (pair,) = fed(FramePairs(16_000, 512), [Frame(to_pcm(noise(0.032, 0.1)), 16_000)])
    assert pair.heard.any()
    assert not pair.played.any()


def test_the_rate_may_change_in_the_middle_of_a_conversation() -> None:
    pairs = FramePairs(16_000, 512)
    assert len(fed(pairs, [Frame(bytes(2 * 16_000), 16_000)])) == 31
    assert len(fed(pairs, [Frame(bytes(2 * 8_000), 8_000)])) == 31


def test_sides_of_different_lengths_are_rejected() -> None:
    with pytest.raises(UnusableAudio, match="160 heard and 80 played samples"):
        FramePairs(16_000, 512).feed(Frame(bytes(320), 16_000, bytes(160)))
