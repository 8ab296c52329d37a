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
    assert pair.played is None


@pytest.mark.parametrize("rate_hz", [16_000, 8_000])
def test_what_is_played_in_between_stays_at_its_place(rate_hz: int) -> None:
    """The line reports nothing, then a sound, then digital silence."""
    size, pairs = rate_hz // 50, FramePairs(16_000, 512)
    loud = to_pcm(np.full(size, 0.5, np.float32))
    found = fed(pairs, [Frame(loud, rate_hz, played) for played in [b""] * 9 + [loud] * 8 + [bytes(2 * size)] * 25])
    played = [np.zeros(512) if pair.played is None else pair.played for pair in found]
    loud_at = np.flatnonzero(np.concatenate(played) > 0.25) / 16_000
    assert loud_at[0] == pytest.approx(0.18, abs=2.1e-3)  # a resampler delays by up to 2 ms
    assert loud_at[-1] == pytest.approx(0.34, abs=2.1e-3)
    assert [place for place, pair in enumerate(found) if pair.played is not None][:1] == [5]
    assert found[-1].played is None


def test_the_rate_may_change_in_the_middle_of_a_conversation() -> None:
    pairs, second = FramePairs(16_000, 512), noise(1, 0.1)
    early = fed(pairs, [Frame(to_pcm(second), 16_000)])
    assert len(early) == 31
    late = fed(pairs, [Frame(bytes(2 * 8_000), 8_000), Frame(to_pcm(second), 16_000)])
    assert len(late) == 62
    assert late[0].heard[: 16_000 - 31 * 512] == pytest.approx(second[31 * 512 :], abs=1e-4), "the rest isn't lost"


def test_sides_of_different_lengths_are_rejected() -> None:
    with pytest.raises(UnusableAudio, match="160 samples that were heard, but 80 that were played"):
        FramePairs(16_000, 512).feed(Frame(bytes(320), 16_000, bytes(160)))
