"""Frames of a microphone: how long they sound, what they decode to, and what isn't one."""

from __future__ import annotations

import random

import pytest

from duologue.lines.opus import OpusDecoder, OpusEncoder
from duologue.server.client_messages import RATES_HZ, BadMessage
from duologue.server.microphone_frames import OpusMicrophone, PcmMicrophone, microphone_frames

from .opus_client import microphone_packets

LONGEST = bytes([(16 + 15) << 3 | 3, 6]) + bytes(6)  # 6 frames of 20 ms: 120 ms in 8 bytes


def test_pcm_is_counted_by_its_bytes_and_passed_on() -> None:
    frames = microphone_frames("pcm", 16_000)
    assert isinstance(frames, PcmMicrophone)
    assert frames.format == "pcm"
    assert (frames.ms_of(bytes(640)), frames.ms_of(bytes(642)), frames.ms_of(bytes(6_400))) == (20, 21, 200)
    assert frames.pcm_of(b"ab") == b"ab"


@pytest.mark.parametrize("frame", [b"", bytes(81), bytes(82), bytes(318), bytes(641), bytes(6_402), bytes(1 << 20)])
def test_what_is_no_pcm_is_refused_and_opus_is_named(frame: bytes) -> None:
    with pytest.raises(BadMessage, match=r"16-bit PCM of 10 to 200 ms.*Opus"):
        PcmMicrophone(16_000).ms_of(frame)
    assert PcmMicrophone(16_000).ms_of(bytes(320)) == 10


@pytest.mark.parametrize("rate_hz", RATES_HZ)
def test_opus_is_decoded_at_the_rate_of_hello(rate_hz: int) -> None:
    frames = microphone_frames("opus", rate_hz)
    assert isinstance(frames, OpusMicrophone)
    assert frames.format == "opus"
    sound = b""
    for packet in microphone_packets(200, rate_hz):
        assert frames.ms_of(packet) == 20
        sound += frames.pcm_of(packet)
    assert len(sound) == rate_hz * 2 // 5
    assert max(sound) > 0


def test_a_packet_of_another_rate_is_decoded_at_the_rate_of_hello() -> None:
    frames = OpusMicrophone(16_000)
    (packet,) = microphone_packets(20, 48_000)
    assert len(frames.pcm_of(packet)) == 640


def test_a_packet_counts_as_long_as_it_decodes_however_small_it_is() -> None:
    frames = OpusMicrophone(16_000)
    assert frames.ms_of(b"\x01" + LONGEST) == 120
    assert len(frames.pcm_of(b"\x01" + LONGEST)) == 120 * 32
    too_long = bytes([LONGEST[0], 7]) + bytes(7)
    with pytest.raises(BadMessage):
        frames.ms_of(b"\x01" + too_long)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x01",
        b"\x00" + bytes(640),
        bytes(1_024),
        b"\x01\xff",
        b"\x01" + bytes(1_501),
        b"\x01" + bytes(1 << 20),
        b"\x01" + bytes([LONGEST[0], 0]),
    ],
)
def test_what_is_no_packet_is_refused(frame: bytes) -> None:
    with pytest.raises(BadMessage, match="Opus packet"):
        OpusMicrophone(16_000).ms_of(frame)


def test_a_damaged_packet_is_refused_and_the_next_one_is_heard() -> None:
    frames = OpusMicrophone(16_000)
    damaged = b"\x01" + bytes([LONGEST[0] & 0xFC | 3, 0x82, 250]) + bytes(20)  # VBR sizes that don't fit
    try:
        frames.ms_of(damaged)
    except BadMessage:
        pass
    else:
        with pytest.raises(BadMessage, match="left out"):
            frames.pcm_of(damaged)
    (packet,) = microphone_packets(20)
    assert len(frames.pcm_of(packet)) == 640


def test_no_bytes_make_more_sound_than_was_counted_or_another_failure() -> None:
    rng, frames = random.Random(7), OpusMicrophone(16_000)
    for _ in range(2_000):
        frame = b"\x01" + rng.randbytes(rng.choice((1, 2, 3, 8, 40, 80, 300)))
        try:
            ms = frames.ms_of(frame)
            pcm = frames.pcm_of(frame)
        except BadMessage:
            continue
        assert 0 < len(pcm) <= ms * 32 <= 120 * 32


def test_a_decoder_of_one_client_knows_nothing_of_another() -> None:
    one, other = OpusMicrophone(16_000), OpusMicrophone(16_000)
    packets = microphone_packets(100)
    for packet in packets:
        one.pcm_of(packet)
    fresh = OpusDecoder(16_000)
    assert [other.pcm_of(packet) for packet in packets] == [fresh.decode(packet[1:]) for packet in packets]
    assert OpusEncoder(16_000).samples == 320
