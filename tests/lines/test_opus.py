"""Opus through libopus: there and back, loss, packets that are none."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.lines.opus import PACKET_CLOCKS, SILENCE, OpusDecoder, OpusEncoder, clocks_of

from .aiortc_client import loudest_hz, tone

PIECE = 24 * 20 * 2


def packets_of(pcm: bytes, encoder: OpusEncoder) -> list[bytes]:
    return [encoder.encode(pcm[at : at + PIECE]) for at in range(0, len(pcm), PIECE)]


def test_sound_comes_back_at_another_rate() -> None:
    packets = packets_of(tone(1_000, 440, 24_000), OpusEncoder())
    decoder = OpusDecoder(16_000)
    pcm = b"".join(decoder.decode(packet) for packet in packets)
    assert len(pcm) == 32_000
    assert abs(loudest_hz(pcm[6_400:], 16_000) - 440) < 5
    assert {clocks_of(packet) for packet in packets} == {PACKET_CLOCKS}


def test_a_lost_packet_is_made_up_from_the_copy_in_the_next_one() -> None:
    encoder = OpusEncoder()
    encoder.expect_loss(20)
    rng = np.random.default_rng(1)
    loudness = np.repeat(rng.uniform(0.2, 1.0, 50), 480)
    speech = (np.frombuffer(tone(1_000, 180, 24_000), dtype="<i2") * loudness).astype("<i2").tobytes()
    packets = packets_of(speech, encoder)
    whole = OpusDecoder()
    sound = [whole.decode(packet) for packet in packets]

    def error(has_copy: bool) -> float:
        """How far made-up packets are from the real ones."""
        decoder, far = OpusDecoder(), 0.0
        for at in range(10, 50):
            for before in packets[at - 10 : at]:
                decoder.decode(before)
            made = decoder.conceal(PACKET_CLOCKS, packets[at + 1] if has_copy and at + 1 < 50 else None)
            real = np.frombuffer(sound[at], dtype="<i2").astype(float)
            far += float(np.abs(np.abs(np.frombuffer(made, dtype="<i2").astype(float)) - np.abs(real)).mean())
        return far

    assert len(OpusDecoder().conceal(PACKET_CLOCKS)) == 640
    assert error(has_copy=True) < error(has_copy=False)


def test_what_is_no_packet_makes_silence_and_no_failure() -> None:
    decoder = OpusDecoder()
    assert clocks_of(b"") == 0
    assert clocks_of(b"\xff") == 0
    assert len(decoder.decode(b"\xff\xff\xff")) == 640
    assert decoder.decode(SILENCE) == bytes(640)


def test_only_rates_of_opus_are_taken() -> None:
    with pytest.raises(ValueError, match="44100"):
        OpusEncoder(44_100)
    with pytest.raises(ValueError, match="44100"):
        OpusDecoder(44_100)
