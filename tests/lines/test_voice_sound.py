"""The sound that a line keeps for its client."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.audio.frames import Samples, UnusableAudio, to_pcm
from duologue.audio.resample import LiveResampler
from duologue.lab.bench.measured_server import resident_kb
from duologue.lines.voice_sound import BLOCK_BYTES, VoiceSound
from duologue.ports.sound import Sound

HZ = 24_000


def numbered(samples: int, first: int = 0) -> bytes:
    """Samples that differ from their neighbours."""
    return (np.arange(first, first + samples) % 30_000).astype("<i2").tobytes()


def kept(*pieces: bytes, rate_hz: int = HZ) -> VoiceSound:
    sound = VoiceSound(HZ)
    for pcm in pieces:
        assert sound.add(Sound(1, pcm, rate_hz)) == len(pcm) // 2
    return sound


@given(st.lists(st.integers(1, 12_000), min_size=1, max_size=5), st.data())
def test_any_part_that_is_still_needed_can_be_taken(sizes: list[int], data: st.DataObject) -> None:
    whole, sound = b"", VoiceSound(HZ)
    for size in sizes:
        pcm = numbered(size, len(whole) // 2)
        whole += pcm
        sound.add(Sound(1, pcm))
    needed = data.draw(st.integers(0, sum(sizes)))
    sound.drop_before(needed)
    start = data.draw(st.integers(needed, sum(sizes)))
    end = data.draw(st.integers(start, sum(sizes)))
    assert sound.take(start, end) == whole[start * 2 : end * 2]


def test_sound_is_freed_block_by_block_while_it_is_heard() -> None:
    sound = kept(numbered(30_000))
    sizes = [sound.memory_bytes]
    for position in range(0, 30_001, BLOCK_BYTES // 2):
        sound.drop_before(position)
        sizes.append(sound.memory_bytes)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 4 * BLOCK_BYTES
    sound.drop_before(30_000)
    assert sound.memory_bytes == 0


def test_sound_can_be_added_after_all_sound_was_heard() -> None:
    sound = kept(numbered(500))
    sound.drop_before(500)
    sound.add(Sound(1, numbered(9_000, 500)))
    assert sound.take(500, 9_500) == numbered(9_000, 500)


def test_nothing_is_dropped_before_a_position_that_is_already_gone() -> None:
    sound = kept(numbered(30_000))
    sound.drop_before(BLOCK_BYTES)
    sound.drop_before(10)
    assert sound.take(BLOCK_BYTES, 30_000) == numbered(30_000 - BLOCK_BYTES, BLOCK_BYTES)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which only Linux has")
def test_memory_of_heard_sound_goes_back_to_the_operating_system_at_once() -> None:
    sounds = [kept(numbered(240_000)) for _ in range(20)]
    before_kb = resident_kb()
    for sound in sounds:
        sound.drop_before(230_000)
    assert before_kb - resident_kb() > 20 * 400


def test_sound_without_samples_is_silence_of_its_length() -> None:
    sound = VoiceSound(HZ)
    assert sound.add(Sound(10)) == 240
    assert sound.take(0, 240) == bytes(480)


def test_a_new_voice_begins_at_its_own_start() -> None:
    sound = kept(numbered(500))
    sound.drop_before(500)
    sound.begin()
    sound.add(Sound(1, numbered(100, 7)))
    assert sound.take(0, 100) == numbered(100, 7)


def test_sound_of_another_rate_is_converted_and_its_end_is_kept() -> None:
    samples = np.sin(np.arange(1_600, dtype=np.float32) / 9) / 2
    expected = LiveResampler(16_000, HZ)
    pcm = to_pcm(np.concatenate((expected.feed(_rounded(samples)), expected.finish())))
    sound = VoiceSound(HZ)
    made = sound.add(Sound(100, to_pcm(samples), 16_000)) + sound.finish()
    assert made == 2_400
    assert sound.take(0, made) == pcm


def test_the_rate_may_change_within_a_voice() -> None:
    sound = VoiceSound(HZ)
    made = sound.add(Sound(100, bytes(3_200), 16_000)) + sound.add(Sound(100, numbered(2_400)))
    assert made == 4_800
    assert sound.take(2_400, 4_800) == numbered(2_400)


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(UnusableAudio, match="even number of bytes, not 3"):
        VoiceSound(HZ).add(Sound(1, b"abc"))


def _rounded(samples: Samples) -> Samples:
    """The samples as they are after a conversion to PCM and back."""
    pcm = np.frombuffer(to_pcm(samples), "<i2")
    return pcm.astype(np.float32) * np.float32(1 / 32_768)
