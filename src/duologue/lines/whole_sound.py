"""Converts a whole sound, such as a cue, to the sample rate of a line.

Rule: converting a sound doesn't change its length by more than one sample.
"""

from __future__ import annotations

import numpy as np

from duologue.audio.frames import UnusableAudio, to_pcm, to_samples
from duologue.audio.resample import LiveResampler
from duologue.ports.sound import Sound


def sound_at(sound: Sound, rate_hz: int) -> bytes:
    """The whole sound as PCM at this sample rate. For simulated sound, which has a length but no samples, the result is
    silence."""
    pcm = sound.pcm or bytes(sound.rate_hz * sound.ms // 1000 * 2)
    if len(pcm) % 2:
        raise UnusableAudio(f"16-bit audio must have an even number of bytes, not {len(pcm)}")
    if sound.rate_hz == rate_hz:
        return pcm
    resampler = LiveResampler(sound.rate_hz, rate_hz)
    return to_pcm(np.concatenate((resampler.feed(to_samples(pcm)), resampler.finish())))
