"""Opus through libopus: there and back, loss, packets that are none."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.lines.opus import (
    PACKET_CLOCKS,
    SILENCE,
    NoOpus,
    OpusDecoder,
    OpusEncoder,
    UndecodablePacket,
    clocks_of,
    libopus_path,
    why_no_opus,
)

from .webrtc.aiortc_client import loudest_hz, tone

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


def test_with_low_delay_sound_is_2_5_ms_late_and_otherwise_6_5() -> None:
    assert OpusEncoder(24_000, is_low_delay=True).lookahead == 60
    assert OpusEncoder(24_000).lookahead == 156


def test_a_stream_after_a_reset_is_that_of_a_new_encoder() -> None:
    pcm = tone(200, 440, 24_000)
    used, new = OpusEncoder(is_low_delay=True), OpusEncoder(is_low_delay=True)
    packets_of(tone(300, 200, 24_000), used)
    used.reset()
    assert packets_of(pcm, used) == packets_of(pcm, new)


def test_a_packet_decodes_to_the_samples_that_were_counted_or_not_at_all() -> None:
    (packet,) = packets_of(tone(20, 440, 24_000), OpusEncoder())
    decoder = OpusDecoder(16_000)
    assert decoder.samples_of(packet) == 320
    assert len(decoder.decode_exactly(packet, 320)) == 640
    for wrong, samples in ((packet, 160), (b"", 320), (b"\xff\xff\xff", 320)):
        with pytest.raises(UndecodablePacket):
            decoder.decode_exactly(wrong, samples)


def test_without_libopus_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert why_no_opus() is None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.raises(NoOpus, match=r"pip install 'duologue\[webrtc\]'"):
        libopus_path()
