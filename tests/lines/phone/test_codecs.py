"""The audio codecs of phone calls."""

from __future__ import annotations

import numpy as np
import pytest

from duologue.lines.phone.carriers import TELNYX, TWILIO
from duologue.lines.phone.codecs import UnknownCodec, codec_of


@pytest.mark.parametrize(("encoding", "rate_hz"), [("PCMU", 8000), ("PCMA", 8000), ("L16", 8000), ("L16", 16000)])
def test_every_codec_gives_back_what_it_was_given(encoding: str, rate_hz: int) -> None:
    codec = codec_of(TELNYX, encoding, rate_hz)
    tone = (8_000 * np.sin(np.arange(rate_hz // 50) / 5)).astype("<i2")
    coded = codec.encode(tone.tobytes())
    assert len(coded) == codec.frame_bytes == len(codec.silence)
    back = np.frombuffer(codec.decode(coded), "<i2").astype(float)
    assert np.abs(back - tone).max() <= (0 if encoding == "L16" else 300)


def test_l16_is_in_network_order() -> None:
    assert codec_of(TELNYX, "L16", 16000).encode(b"\x01\x02") == b"\x02\x01"


@pytest.mark.parametrize(("encoding", "rate_hz"), [("", 8000), ("OPUS", 16000), ("PCMU", 16000), ("L16", 44100)])
def test_an_unsupported_codec_is_refused(encoding: str, rate_hz: int) -> None:
    with pytest.raises(UnknownCodec):
        codec_of(TWILIO, encoding, rate_hz)
