"""Telephone codecs agree with CPython's audioop bit for bit, and their error is within the standard."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.audio.frames import UnusableAudio
from duologue.audio.g711 import alaw_to_pcm, pcm_to_alaw, pcm_to_ulaw, ulaw_to_pcm

Code = Callable[[bytes], bytes]
LAWS = [pytest.param(pcm_to_ulaw, ulaw_to_pcm, id="ulaw"), pytest.param(pcm_to_alaw, alaw_to_pcm, id="alaw")]
EVERY_SAMPLE = np.arange(1 << 16, dtype="<u2").tobytes()
EVERY_CODE = bytes(range(256))


@pytest.fixture
def audioop() -> ModuleType:
    if sys.version_info >= (3, 13):
        pytest.skip("audioop is gone from Python 3.13 on")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import audioop
    return audioop


def test_every_sample_and_every_code_agrees_with_audioop(audioop: ModuleType) -> None:
    assert pcm_to_ulaw(EVERY_SAMPLE) == audioop.lin2ulaw(EVERY_SAMPLE, 2)
    assert pcm_to_alaw(EVERY_SAMPLE) == audioop.lin2alaw(EVERY_SAMPLE, 2)
    assert ulaw_to_pcm(EVERY_CODE) == audioop.ulaw2lin(EVERY_CODE, 2)
    assert alaw_to_pcm(EVERY_CODE) == audioop.alaw2lin(EVERY_CODE, 2)


@pytest.mark.parametrize(("encode", "decode"), LAWS)
@given(coded=st.binary(max_size=300))
def test_decoded_audio_encodes_to_the_same_audio(encode: Code, decode: Code, coded: bytes) -> None:
    """Not to the same bytes: µ-law has two zeros."""
    pcm = decode(coded)
    assert len(pcm) == 2 * len(coded)
    assert decode(encode(pcm)) == pcm


@pytest.mark.parametrize(("encode", "decode"), LAWS)
def test_the_error_is_small_relative_to_the_sample(encode: Code, decode: Code) -> None:
    samples = np.frombuffer(EVERY_SAMPLE, "<i2").astype(int)
    error = np.abs(np.frombuffer(decode(encode(EVERY_SAMPLE)), "<i2") - samples)
    assert (error <= np.abs(samples) / 16 + 16).all()


@pytest.mark.parametrize(("encode", "decode"), LAWS)
def test_empty_stays_empty_and_half_a_sample_is_rejected(encode: Code, decode: Code) -> None:
    assert encode(b"") == decode(b"") == b""
    with pytest.raises(UnusableAudio):
        encode(b"abc")
