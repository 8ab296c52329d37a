"""The agent's sound as frames: every sample at its place, whatever the chunks are."""

from __future__ import annotations

import random

import numpy as np
import pytest

from duologue.server.voice_frames import (
    AS_PCM,
    CUE,
    HEADER,
    VOICE,
    OpusFrames,
    PacketStream,
    PcmFrames,
    voice_frames,
)

from .opus_client import VoiceReader, parse, wave

LATE_MAX = 24 * 40  # samples: no sample waits for more sound than 40 ms


def likeness(decoded: bytes, pcm: bytes) -> float:
    """The signal-to-noise ratio in dB."""
    heard, real = (np.frombuffer(each, dtype="<i2").astype(float) for each in (decoded, pcm))
    return float(10 * np.log10((real**2).sum() / ((heard - real) ** 2).sum()))


def cut(pcm: bytes, seed: int) -> list[bytes]:
    """Chunks of all lengths that the line sends, up to 100 ms."""
    rng, chunks, at = random.Random(seed), [], 0
    while at < len(pcm):
        length = 2 * rng.choice((1, 59, 60, 61, 419, 420, 421, 480, 1_234, 2_400, rng.randint(1, 2_400)))
        chunks.append(pcm[at : at + length])
        at += length
    return chunks


def test_pcm_is_sent_as_it_is() -> None:
    frames = PcmFrames()
    assert frames.chunk(3, 4, b"ab") == HEADER.pack(VOICE, AS_PCM, 0, 3, 4) + b"ab"
    assert frames.cue(5, b"cd") == HEADER.pack(CUE, AS_PCM, 0, 5, 0) + b"cd"
    assert frames.rest(3) is None
    assert isinstance(voice_frames("pcm"), PcmFrames)
    assert isinstance(voice_frames("opus"), OpusFrames)


@pytest.mark.parametrize("seed", range(6))
def test_a_voice_decodes_to_exactly_its_samples_and_none_waits_long(seed: int) -> None:
    pcm = wave(24 * (700 + seed * 37) + seed)
    frames, reader = OpusFrames(), VoiceReader()
    for number, chunk in enumerate(cut(pcm, seed), 1):
        parsed = reader.read(frames.chunk(9, number, chunk))
        assert (parsed.kind, parsed.number, parsed.chunk) == (VOICE, 9, number)
        assert parsed.is_new == (number == 1)
        assert 0 < reader.late <= LATE_MAX
    rest = frames.rest(9)
    assert rest is not None
    assert reader.read(rest).samples == 0
    assert reader.samples * 2 == len(pcm)
    assert 0 <= -reader.late < 480, "what follows the last sample is padding, and less than a packet"
    assert likeness(reader.pcm[: len(pcm)], pcm) > 15, "a shift by one sample would show"
    assert frames.rest(9) is None, "the rest is sent once"


def test_a_chunk_that_does_not_follow_the_one_before_begins_a_stream() -> None:
    frames = OpusFrames()
    chunk = wave(2_400)
    begins = [(1, 1), (1, 2), (1, 4), (1, 5), (1, 5), (2, 6), (2, 7), (1, 8)]
    assert [parse(frames.chunk(voice, number, chunk)).is_new for voice, number in begins] == [
        True,
        False,
        True,
        False,
        True,
        True,
        False,
        True,
    ]
    assert frames.rest(2) is None, "another voice has begun since"
    assert frames.rest(1) is not None
    assert parse(frames.chunk(1, 9, chunk)).is_new, "after its rest, a stream is over"


def test_a_stream_that_begins_in_the_middle_of_a_voice_sounds_right_from_its_first_sample() -> None:
    pcm = wave(24_000)
    frames, reader = OpusFrames(), VoiceReader()
    for number in range(1, 11):
        reader.read(frames.chunk(1, number, pcm[(number - 1) * 4_800 : number * 4_800]))
    for number in range(4, 11):  # sent again to another socket would have other frames: the same one will do
        reader.read(frames.chunk(1, number, pcm[(number - 1) * 4_800 : number * 4_800]))
    rest = frames.rest(1)
    assert rest is not None
    reader.read(rest)
    resent = pcm[3 * 4_800 :]
    assert reader.samples * 2 == len(resent)
    assert likeness(reader.pcm[:480], resent[:480]) > 10
    assert likeness(reader.pcm[: len(resent)], resent) > 15


def test_a_cue_is_one_frame_that_decodes_by_itself_and_leaves_the_voice_alone() -> None:
    pcm, cue = wave(7_200), wave(7_511, hertz=440)
    frames, reader, cues = OpusFrames(), VoiceReader(), VoiceReader()
    reader.read(frames.chunk(1, 1, pcm[:4_800]))
    parsed = cues.read(frames.cue(3, cue))
    assert (parsed.kind, parsed.is_new, parsed.number, parsed.samples) == (CUE, True, 3, 7_511)
    assert likeness(cues.pcm[: len(cue)], cue) > 15
    assert not reader.read(frames.chunk(1, 2, pcm[4_800:])).is_new
    rest = frames.rest(1)
    assert rest is not None
    reader.read(rest)
    assert likeness(reader.pcm[: len(pcm)], pcm) > 15


def test_speech_takes_at_most_40_kbit_per_second_with_headers() -> None:
    pcm = wave(24_000 * 4)
    frames = OpusFrames()
    sent = sum(len(frames.chunk(1, number + 1, pcm[number * 4_800 : (number + 1) * 4_800])) for number in range(40))
    assert sent * 8 / 4 <= 40_000


def test_silence_costs_next_to_nothing() -> None:
    packets = PacketStream().add(bytes(48_000))
    assert sum(map(len, packets[10:])) * 8 / 0.8 < 3_000
