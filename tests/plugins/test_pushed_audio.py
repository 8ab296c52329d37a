"""Audio frames reach the plugin at one rate, and are counted."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.plugins.pushed_audio import PushedFrames, audio_frame
from duologue.ports import ServiceError
from duologue.ports.ears import Frame
from tests.needs import needs_package


class Stream:
    def __init__(self) -> None:
        needs_package("livekit.rtc", "pip install 'duologue[dev]'")
        self.frames: list[Any] = []

    def push_frame(self, frame: Any) -> None:
        self.frames.append(frame)


def test_every_frame_has_the_rate_of_the_first() -> None:
    stream = Stream()
    pushed = PushedFrames(stream)
    for _ in range(10):
        pushed.push(Frame(bytes(640), 16_000))
    assert pushed.at_ms == 200
    for _ in range(50):
        pushed.push(Frame(bytes(320), 8_000))
    assert {frame.sample_rate for frame in stream.frames} == {16_000}
    assert 1_100 <= pushed.at_ms <= 1_200


def test_an_empty_frame_is_left_out() -> None:
    stream = Stream()
    PushedFrames(stream).push(Frame(b""))
    assert not stream.frames
    assert audio_frame(b"", 16_000) is None


@pytest.mark.parametrize("frame", [Frame(b"abc"), Frame(bytes(4), 0)])
def test_a_frame_that_is_no_pcm_is_refused(frame: Frame) -> None:
    with pytest.raises(ServiceError, match="isn't 16-bit PCM"):
        PushedFrames(Stream()).push(frame)
