"""Reads audio files: WAV (PCM, float, µ-law, A-law) and, if soundfile is installed, FLAC. Writes WAV as PCM.

Audio of poor quality (clipped, offset, silent) is read like any other audio. Rule: if a file can't be used, the error
is one line with the name of the file and the reason.
"""

from __future__ import annotations

import importlib
import io
import struct
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import g711
from .frames import Samples, UnusableAudio, to_samples

BYTES_MAX = 1 << 30  # a file is read into memory as a whole
CHANNELS_MAX = 32
_BLOCK = 1 << 18  # samples that are decoded in one call
_BLOCKS_MAX = 1 << 11
_RATE_HZ_MAX = 768_000
_OPEN = 0xFFFF_FFFF  # the length in the header if the writer streamed the file
_EXTENSIBLE = 0xFFFE
_CODECS = {
    1: "PCM",
    2: "ADPCM",
    3: "float",
    6: "A-law",
    7: "µ-law",
    0x11: "ADPCM",
    0x31: "GSM",
    0x50: "MPEG",
    0x55: "MP3",
}
_OTHERS = {
    b"OggS": "Ogg",
    b"ID3": "MP3",
    b"\xff\xfb": "MP3",
    b"RF64": "RF64",
    b"FORM": "AIFF",
    b"\x1aE\xdf\xa3": "WebM",
}


class Recording(NamedTuple):
    """The audio of a file: mono, at the rate of the file."""

    samples: Samples
    rate_hz: int

    @property
    def ms(self) -> int:
        return len(self.samples) * 1000 // self.rate_hz


def read_audio(path: Path) -> Recording:
    """The audio of a WAV or FLAC file. Raises UnusableAudio if the file can't be used."""
    try:
        if path.stat().st_size > BYTES_MAX:
            raise UnusableAudio(f"the file is larger than {BYTES_MAX >> 20} MB: cut it into shorter files")
        return decode(path.read_bytes())
    except OSError as error:
        raise UnusableAudio(f"{path}: {error.strerror or 'not readable'}") from None
    except ValueError as problem:  # a path that can't exist, such as one with a null byte
        if isinstance(problem, UnusableAudio):
            raise UnusableAudio(f"{path}: {problem}") from None
        raise UnusableAudio(f"{str(path)!r}: {problem}") from None


def decode(data: bytes) -> Recording:
    """The audio in the bytes of a WAV or FLAC file. Raises UnusableAudio if the bytes can't be used."""
    if not data:
        raise UnusableAudio("the file is empty")
    if data[:4] == b"fLaC":
        recording = _decode_flac(data)
    elif data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        recording = _decode_wav(data)
    else:
        kind = next((name for magic, name in _OTHERS.items() if data.startswith(magic)), None)
        raise UnusableAudio(f"{kind} is not supported: convert it to WAV or FLAC" if kind else "neither WAV nor FLAC")
    if not recording.samples.size:
        raise UnusableAudio("the file has no samples")
    if not np.isfinite(recording.samples).all():
        raise UnusableAudio("some samples are NaN or infinite")
    return recording


def write_wav(path: Path, pcm: bytes, rate_hz: int) -> None:
    """Write 16-bit mono PCM to a WAV file."""
    assert len(pcm) % 2 == 0, len(pcm)
    with path.open("wb") as file, wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate_hz)
        out.writeframes(pcm)


# -- WAV


class _Format(NamedTuple):
    codec: int
    channels: int
    rate_hz: int
    bits: int


def _decode_wav(data: bytes) -> Recording:
    form: _Format | None = None
    is_open = int.from_bytes(data[4:8], "little") in (0, _OPEN)
    for name, start, size in _chunks(data):
        if name == b"fmt ":
            form = _read_format(data[start : start + size])
        elif name == b"data":
            if form is None:
                raise UnusableAudio("damaged: the data chunk comes before the format chunk")
            if size == _OPEN or (size == 0 and is_open):
                return _read_data(form, data[start:])
            if len(data) < start + size:
                raise UnusableAudio(f"truncated: {len(data) - start} of {size} bytes of audio")
            return _read_data(form, data[start : start + size])
    raise UnusableAudio("truncated: no data chunk" if form else "truncated: no format chunk")


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The name, the start and the declared size of each chunk."""
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        yield name, at + 8, size
        at += 8 + size + size % 2


def _read_format(chunk: bytes) -> _Format:
    if len(chunk) < 16:
        raise UnusableAudio("truncated in the format chunk")
    codec, channels, rate_hz, _, _, bits = struct.unpack("<HHIIHH", chunk[:16])
    if codec == _EXTENSIBLE and len(chunk) >= 26:
        codec = int.from_bytes(chunk[24:26], "little")
    if not 0 < rate_hz <= _RATE_HZ_MAX:
        raise UnusableAudio(f"unusable sample rate: {rate_hz} Hz")
    if not 0 < channels <= CHANNELS_MAX:
        raise UnusableAudio(f"unusable number of channels: {channels}")
    supported = {1: (8, 16, 24, 32), 3: (32, 64), 6: (8,), 7: (8,)}
    if bits not in supported.get(codec, ()):
        what = _CODECS.get(codec, f"codec {codec:#06x}")
        raise UnusableAudio(
            f"{what} with {bits} bits is not supported" if codec in supported else f"{what} is not supported"
        )
    return _Format(codec, channels, rate_hz, bits)


def _read_data(form: _Format, data: bytes) -> Recording:
    if len(data) % (form.channels * form.bits // 8):
        raise UnusableAudio("truncated in the middle of a sample")
    samples = _to_float(form, data).reshape(-1, form.channels)
    mono = samples[:, 0] if form.channels == 1 else samples.mean(axis=1, dtype=np.float32)
    return Recording(np.ascontiguousarray(mono), form.rate_hz)


def _to_float(form: _Format, data: bytes) -> Samples:
    match form.codec, form.bits:
        case 1, 8:
            return np.float32(1 / 128) * (np.frombuffer(data, np.uint8).astype(np.float32) - np.float32(128))
        case 1, 16:
            return to_samples(data)
        case 1, 24:
            return _from_24_bits(data)
        case 1, _:
            return (np.frombuffer(data, "<i4") / 2.0**31).astype(np.float32)
        case 6, _:
            return to_samples(g711.alaw_to_pcm(data))
        case 7, _:
            return to_samples(g711.ulaw_to_pcm(data))
    with np.errstate(over="ignore"):  # a number too large for 32 bits becomes infinite and is rejected
        return np.frombuffer(data, "<f4" if form.bits == 32 else "<f8").astype(np.float32)


def _from_24_bits(data: bytes) -> Samples:
    wide: NDArray[np.uint8] = np.zeros((len(data) // 3, 4), np.uint8)
    wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
    return (wide.view("<i4")[:, 0] / 2.0**31).astype(np.float32)


# -- FLAC


def _decode_flac(data: bytes) -> Recording:
    soundfile = _soundfile()
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            samples = _read_blocks(file)
            declared, rate_hz = file.frames, file.samplerate
    except soundfile.SoundFileError:
        raise UnusableAudio("damaged or truncated FLAC") from None
    if len(samples) < declared < 1 << 40:  # a larger length means that the writer didn't know it
        raise UnusableAudio(f"truncated: {len(samples)} of {declared} samples")
    return Recording(samples, rate_hz)


def _read_blocks(file: Any) -> Samples:
    """All samples of the file. The file is read block by block, so that a wrong length in its header can't fill the
    memory."""
    blocks: list[Samples] = []
    while len(blocks) < _BLOCKS_MAX:
        block = file.read(_BLOCK, dtype="float32", always_2d=True)
        blocks.append(block.mean(axis=1, dtype=np.float32))
        if len(block) < _BLOCK:
            return np.ascontiguousarray(np.concatenate(blocks))
    raise UnusableAudio(f"the file is longer than {_BLOCKS_MAX * _BLOCK} samples: cut it into shorter files")


def _soundfile() -> Any:
    try:
        return importlib.import_module("soundfile")
    except ModuleNotFoundError as missing:
        if missing.name != "soundfile":
            raise
        raise UnusableAudio("FLAC needs soundfile: pip install soundfile, or convert the file to WAV") from None
