"""The melody for people on hold."""

from __future__ import annotations

import numpy as np

from duologue.audio.frames import to_samples
from duologue.server.phone.hold_music import melody


def test_the_melody_is_a_quiet_loop() -> None:
    sound = melody()
    samples = to_samples(sound.pcm)
    assert len(samples) * 1000 // sound.rate_hz == sound.ms
    assert 0.02 < np.abs(samples).max() < 0.2
    assert abs(samples[0]) < 0.001
    assert abs(samples[-1]) < 0.001
