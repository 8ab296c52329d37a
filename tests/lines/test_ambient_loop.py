"""The ambient sound: repeated under everything, and quieter under a voice."""

from __future__ import annotations

import numpy as np

from duologue.audio.frames import to_pcm, to_samples
from duologue.lines.ambient_loop import DUCKED, AmbientLoop

FRAME = bytes(320)
HUM = to_pcm(np.full(400, 0.1, np.float32))


def test_without_a_sound_everything_stays_as_it_is() -> None:
    pcm = bytes(range(200))
    assert AmbientLoop().mix(pcm, is_voice=True) is pcm
    assert not AmbientLoop()


def test_it_goes_on_where_it_was_and_starts_again_at_its_end() -> None:
    wave = to_pcm(np.linspace(-0.5, 0.5, 400, dtype=np.float32))
    loop = AmbientLoop(wave)
    played = b"".join(loop.mix(FRAME, is_voice=False) for _ in range(10))
    assert played == (wave * 4)[: len(played)]


def test_under_a_voice_it_becomes_quieter_without_a_jump_and_comes_back() -> None:
    loop = AmbientLoop(HUM)
    frames = [to_samples(loop.mix(FRAME, is_voice=20 <= at < 60)) for at in range(100)]
    sound = np.concatenate(frames)
    assert float(np.abs(np.diff(sound)).max()) < 0.001
    assert abs(float(frames[59].mean()) - 0.1 * DUCKED) < 0.001
    assert abs(float(frames[99].mean()) - 0.1) < 0.001


def test_the_voice_itself_is_not_changed() -> None:
    voice = to_pcm(np.sin(np.arange(160, dtype=np.float32)) * 0.5)
    mixed = to_samples(AmbientLoop(HUM).mix(voice, is_voice=True)) - to_samples(voice)
    assert 0.09 < float(mixed.min()) <= float(mixed.max()) < 0.11
