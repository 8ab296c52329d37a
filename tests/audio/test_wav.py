"""Files: every plain WAV is read, FLAC too, and a file that can't be used is rejected in one line."""

from __future__ import annotations

import struct
import sys
import wave
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.audio.frames import Samples, UnusableAudio, to_pcm
from duologue.audio.g711 import pcm_to_alaw, pcm_to_ulaw
from duologue.audio.wav import decode, read_audio, write_wav
from tests.needs import needs_package

TONE = (0.5 * np.sin(2 * np.pi * 440 * np.arange(800) / 8_000)).astype(np.float32)


def wav(
    data: bytes, bits: int = 16, codec: int = 1, channels: int = 1, rate_hz: int = 8_000, declared: int | None = None
) -> bytes:
    """A WAV file with these bytes of audio, valid or not."""
    block = channels * bits // 8
    fmt = struct.pack("<HHIIHH", codec, channels, rate_hz, rate_hz * block, block, bits)
    size = len(data) if declared is None else declared
    body = b"WAVE" + chunk(b"fmt ", fmt) + b"data" + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def chunk(name: bytes, data: bytes) -> bytes:
    return name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)


def as_integers(samples: Samples, bits: int) -> bytes:
    scaled = np.rint(samples.astype(np.float64) * 2 ** (bits - 1)).astype(np.int64)
    if bits == 8:
        return (scaled + 128).astype(np.uint8).tobytes()
    wide = scaled.astype("<i8").view(np.uint8).reshape(-1, 8)
    return wide[:, : bits // 8].tobytes()


def problem_of(data: bytes) -> str:
    with pytest.raises(UnusableAudio) as caught:
        decode(data)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


# -- What is read


@pytest.mark.parametrize(("bits", "error"), [(8, 1 / 128), (16, 1e-4), (24, 1e-6), (32, 1e-7)])
def test_integers_of_every_size_are_read(bits: int, error: float) -> None:
    recording = decode(wav(as_integers(TONE, bits), bits))
    assert recording.rate_hz == 8_000
    assert recording.samples.dtype == np.float32
    assert recording.samples == pytest.approx(TONE, abs=error)
    assert recording.ms == 100


@pytest.mark.parametrize(("bits", "kind"), [(32, "<f4"), (64, "<f8")])
def test_floats_of_every_size_are_read(bits: int, kind: str) -> None:
    assert decode(wav(TONE.astype(kind).tobytes(), bits, codec=3)).samples == pytest.approx(TONE)


@pytest.mark.parametrize(("codec", "encode"), [(6, pcm_to_alaw), (7, pcm_to_ulaw)])
def test_telephone_codecs_are_read(codec: int, encode: object) -> None:
    assert callable(encode)
    assert decode(wav(encode(to_pcm(TONE)), 8, codec)).samples == pytest.approx(TONE, abs=0.02)


def test_two_channels_become_one() -> None:
    both = np.stack((TONE, np.zeros_like(TONE)), axis=1)
    recording = decode(wav(to_pcm(both), channels=2))
    assert recording.samples == pytest.approx(TONE / 2, abs=1e-4)


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000, 96_000])
def test_every_rate_is_read(rate_hz: int) -> None:
    assert decode(wav(to_pcm(TONE), rate_hz=rate_hz)).rate_hz == rate_hz


def test_the_extensible_format_is_read() -> None:
    fmt = struct.pack("<HHIIHHHHI", 0xFFFE, 1, 8_000, 16_000, 2, 16, 22, 16, 4) + struct.pack("<H", 1) + bytes(14)
    body = b"WAVE" + chunk(b"fmt ", fmt) + chunk(b"data", to_pcm(TONE))
    assert decode(b"RIFF" + struct.pack("<I", len(body)) + body).samples == pytest.approx(TONE, abs=1e-4)


def test_other_chunks_are_ignored() -> None:
    plain = wav(to_pcm(TONE))
    full = plain[:12] + chunk(b"LIST", b"odd") + plain[12:] + chunk(b"id3 ", b"more")
    assert decode(full).samples.size == TONE.size


def test_a_length_that_was_left_open_means_up_to_the_end() -> None:
    assert decode(wav(to_pcm(TONE), declared=0xFFFF_FFFF)).samples.size == TONE.size
    streamed = wav(to_pcm(TONE), declared=0)
    assert decode(streamed[:4] + bytes(4) + streamed[8:]).samples.size == TONE.size


def test_audio_of_poor_quality_is_read_as_it_is() -> None:
    clipped = (TONE * 3).clip(-1, 1)
    assert decode(wav(clipped.tobytes(), 32, codec=3)).samples.tolist() == clipped.tolist()
    offset = TONE * 0.5 + np.float32(0.3)
    assert decode(wav(offset.tobytes(), 32, codec=3)).samples.tolist() == offset.tolist()
    assert not decode(wav(bytes(100))).samples.any()


@settings(deadline=None)  # it writes to a disk, which may be slow
@given(st.binary(min_size=2, max_size=400).map(lambda data: data[: len(data) // 2 * 2]), st.integers(1, 96_000))
def test_a_written_file_is_read_back(tmp_path_factory: pytest.TempPathFactory, pcm: bytes, rate_hz: int) -> None:
    path = tmp_path_factory.getbasetemp() / "written.wav"
    write_wav(path, pcm, rate_hz)
    recording = read_audio(path)
    assert to_pcm(recording.samples) == pcm
    assert recording.rate_hz == rate_hz


def test_other_programs_can_read_a_written_file(tmp_path: Path) -> None:
    write_wav(tmp_path / "out.wav", to_pcm(TONE), 22_050)
    with wave.open(str(tmp_path / "out.wav")) as file:
        facts = (file.getnchannels(), file.getsampwidth(), file.getframerate(), file.getnframes())
    assert facts == (1, 2, 22_050, TONE.size)


# -- What is rejected


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "the file is empty", id="empty"),
        pytest.param(b"hello, this is text", "neither WAV nor FLAC", id="text"),
        pytest.param(b"OggS" + bytes(50), "Ogg is not supported: convert it to WAV or FLAC", id="ogg"),
        pytest.param(b"ID3" + bytes(50), "MP3 is not supported: convert it to WAV or FLAC", id="mp3"),
        pytest.param(wav(b""), "the file has no samples", id="no samples"),
        pytest.param(wav(to_pcm(TONE))[:-2], "truncated: 1598 of 1600 bytes of audio", id="cut in its sound"),
        pytest.param(wav(to_pcm(TONE))[:40], "truncated: no data chunk", id="cut before its sound"),
        pytest.param(wav(to_pcm(TONE))[:20], "truncated in the format chunk", id="cut in its format"),
        pytest.param(wav(to_pcm(TONE))[:12], "truncated: no format chunk", id="cut after its name"),
        pytest.param(wav(b"abc"), "truncated in the middle of a sample", id="half a sample"),
        pytest.param(wav(to_pcm(TONE), rate_hz=0), "unusable sample rate: 0 Hz", id="no rate"),
        pytest.param(wav(to_pcm(TONE), channels=0), "unusable number of channels: 0", id="no channel"),
        pytest.param(wav(to_pcm(TONE), codec=2), "ADPCM is not supported", id="adpcm"),
        pytest.param(wav(to_pcm(TONE), codec=0x55), "MP3 is not supported", id="mp3 in wav"),
        pytest.param(wav(to_pcm(TONE), codec=0x1234), "codec 0x1234 is not supported", id="unknown codec"),
        pytest.param(wav(to_pcm(TONE), bits=12), "PCM with 12 bits is not supported", id="12 bits"),
        pytest.param(wav(to_pcm(TONE), bits=0), "PCM with 0 bits is not supported", id="0 bits"),
    ],
)
def test_an_unusable_file_is_rejected_with_the_reason(data: bytes, reason: str) -> None:
    assert problem_of(data) == reason


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinite_samples_are_rejected(bad: float) -> None:
    samples = TONE.copy()
    samples[5] = bad
    assert "NaN or infinite" in problem_of(wav(samples.tobytes(), 32, codec=3))


def test_a_number_too_large_for_32_bits_is_rejected() -> None:
    assert "NaN or infinite" in problem_of(wav(np.full(8, 1e300).tobytes(), 64, codec=3))


@given(st.data())
def test_a_damaged_file_is_either_read_or_rejected(data: st.DataObject) -> None:
    whole = bytearray(wav(to_pcm(TONE[:20])))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(4, 43))] = data.draw(st.integers(0, 255))
    with suppress(UnusableAudio):
        recording = decode(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
        assert np.isfinite(recording.samples).all()
        assert recording.rate_hz > 0


def test_the_message_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.wav"
    path.write_bytes(wav(to_pcm(TONE))[:-2])
    with pytest.raises(UnusableAudio) as caught:
        read_audio(path)
    assert str(caught.value) == f"{path}: truncated: 1598 of 1600 bytes of audio"
    for wrong, reason in ((tmp_path / "none.wav", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(UnusableAudio, match=reason):
            read_audio(wrong)


# -- FLAC


@pytest.fixture
def flac(tmp_path: Path) -> Path:
    soundfile = needs_package("soundfile", "pip install soundfile")
    path = tmp_path / "tone.flac"
    soundfile.write(path, np.tile(TONE, 20), 16_000, subtype="PCM_16")
    return path


def test_flac_is_read(flac: Path) -> None:
    recording = read_audio(flac)
    assert recording.rate_hz == 16_000
    assert recording.samples == pytest.approx(np.tile(TONE, 20), abs=1e-4)


def test_truncated_flac_is_rejected(flac: Path) -> None:
    data = flac.read_bytes()
    for size in (20, 60, len(data) // 2, len(data) - 10):
        assert "truncated" in problem_of(data[:size])


def test_flac_without_soundfile_says_what_to_install(flac: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(UnusableAudio, match="FLAC needs soundfile: pip install soundfile"):
        read_audio(flac)
