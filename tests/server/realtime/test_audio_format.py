"""Sound on the wire."""

from __future__ import annotations

import pytest

from duologue.audio.g711 import pcm_to_alaw, pcm_to_ulaw
from duologue.server.realtime.audio_format import AudioFormat, OutputEncoder, read_format
from duologue.server.realtime.refusal import EventRefused
from tests.server.realtime.tone_agent import tone


def test_pcm_is_passed_on_and_telephone_sound_is_decoded() -> None:
    pcm = tone(20, 8_000)
    assert AudioFormat.PCM.decode(pcm) == pcm
    assert pcm_to_ulaw(AudioFormat.PCMU.decode(pcm_to_ulaw(pcm))) == pcm_to_ulaw(pcm)
    assert pcm_to_alaw(AudioFormat.PCMA.decode(pcm_to_alaw(pcm))) == pcm_to_alaw(pcm)


@pytest.mark.parametrize(("wanted", "size"), [(AudioFormat.PCM, 48), (AudioFormat.PCMU, 8), (AudioFormat.PCMA, 8)])
def test_no_sample_is_lost_by_encoding(wanted: AudioFormat, size: int) -> None:
    encoder = OutputEncoder(wanted)
    data = b"".join(encoder.encode(tone(100)) for _ in range(10)) + encoder.finish()
    assert len(data) == pytest.approx(1_000 * size, abs=8)
    assert wanted.bytes_per_ms == size


OTHERS = [
    "pcm16",
    None,
    {},
    {"type": "audio/mp3"},
    {"type": "audio/pcmu", "rate": 16_000},
    {"type": "audio/pcm", "b": 8},
]


@pytest.mark.parametrize("value", OTHERS)
def test_another_format_is_refused(value: object) -> None:
    with pytest.raises(EventRefused):
        read_format(value, "session.audio.input.format")
