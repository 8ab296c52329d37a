"""A quiet melody for people on hold, made of sine tones. It needs no file and no licence.

Rule: the melody can be repeated without a click, because its beginning and its end are silent.
"""

from __future__ import annotations

import numpy as np

from duologue.audio.frames import to_pcm
from duologue.ports.sound import Sound

RATE_HZ = 8_000
NOTE_MS = 500
_LEVEL = 0.12
_NOTES_HZ = (262, 330, 392, 330, 294, 349, 440, 349, 247, 294, 392, 294, 262, 330, 392, 523)


def melody() -> Sound:
    """Eight seconds of the melody."""
    at = np.arange(RATE_HZ * NOTE_MS // 1000) / RATE_HZ
    fade = np.minimum(1, at / 0.02) * np.exp(-3 * at) * np.minimum(1, (at[-1] - at) / 0.02)
    notes = [np.sin(2 * np.pi * hz * at) + 0.3 * np.sin(4 * np.pi * hz * at) for hz in _NOTES_HZ]
    sound = np.concatenate([_LEVEL * note * fade for note in notes]).astype(np.float32)
    return Sound(NOTE_MS * len(_NOTES_HZ), to_pcm(sound), RATE_HZ)
