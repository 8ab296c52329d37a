"""Pipecat's serializers read what we write and write what we read: `make oracles`.

Pipecat is half a gigabyte, so `make test` does without it.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest

pytest.importorskip(
    "pipecat", reason="Pipecat is not installed, so its serializers can not judge our frames: make oracles"
)

from pipecat.frames.frames import InputAudioRawFrame, InputDTMFFrame, InterruptionFrame, OutputAudioRawFrame
from pipecat.serializers.telnyx import TelnyxFrameSerializer
from pipecat.serializers.twilio import TwilioFrameSerializer

from duologue.lines.phone.carriers import (
    CARRIERS,
    KEYS,
    TELNYX,
    TWILIO,
    Carrier,
    Media,
    read_message,
    write_clear,
    write_media,
)
from duologue.lines.phone.codecs import codec_of

CASES = [(TWILIO, "PCMU"), (TELNYX, "PCMU"), (TELNYX, "PCMA")]
cases = pytest.mark.parametrize(("carrier", "encoding"), CASES, ids=["twilio", "telnyx", "telnyx-alaw"])


def pcm(seed: int = 1) -> bytes:
    """20 ms at 8 kHz of everything that a sample can be."""
    return np.random.default_rng(seed).integers(-32_768, 32_768, 160, dtype=np.int16).astype("<i2").tobytes()


async def serializer(carrier: Carrier, encoding: str) -> Any:
    if carrier is TWILIO:
        made: Any = TwilioFrameSerializer(
            "stream 1", params=TwilioFrameSerializer.InputParams(auto_hang_up=False, sample_rate=8_000)
        )
    else:
        made = TelnyxFrameSerializer(
            "stream 1",
            encoding,
            encoding,
            params=TelnyxFrameSerializer.InputParams(auto_hang_up=False, sample_rate=8_000),
        )
    made._sample_rate = 8_000  # what setup() takes from a whole pipeline
    return made


@cases
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.req("V-09")
def test_pipecat_sends_the_very_frames_that_we_send(carrier: Carrier, encoding: str, seed: int) -> None:
    sound = pcm(seed)

    async def theirs() -> str:
        frame = OutputAudioRawFrame(audio=sound, sample_rate=8_000, num_channels=1)
        return str(await (await serializer(carrier, encoding)).serialize(frame))

    ours = write_media(carrier, "stream 1", codec_of(carrier, encoding, 8_000).encode(sound))
    assert json.loads(ours) == json.loads(asyncio.run(theirs()))


@cases
def test_pipecat_reads_the_sound_that_we_read(carrier: Carrier, encoding: str) -> None:
    codec = codec_of(carrier, encoding, 8_000)
    payload = bytes(range(256))
    text = json.dumps(
        {
            **json.loads(write_media(carrier, "stream 1", payload)),
            carrier.stream_id: "stream 1",
        }
    )

    async def theirs() -> bytes:
        frame = await (await serializer(carrier, encoding)).deserialize(text)
        assert isinstance(frame, InputAudioRawFrame)
        return frame.audio

    ours = read_message(carrier, text)
    assert isinstance(ours, Media)
    assert codec.decode(ours.payload) == asyncio.run(theirs())


@cases
def test_pipecat_clears_as_we_do(carrier: Carrier, encoding: str) -> None:
    async def theirs() -> str:
        return str(await (await serializer(carrier, encoding)).serialize(InterruptionFrame()))

    assert json.loads(write_clear(carrier, "stream 1")) == json.loads(asyncio.run(theirs()))


@pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)
def test_pipecat_knows_the_keys_that_we_know(carrier: Carrier) -> None:
    async def theirs(key: str) -> str:
        text = json.dumps({"event": "dtmf", carrier.stream_id: "stream 1", "dtmf": {"digit": key}})
        frame = await (await serializer(carrier, "PCMU")).deserialize(text)
        return str(frame.button.value) if isinstance(frame, InputDTMFFrame) else ""

    found = "".join(asyncio.run(theirs(key)) for key in KEYS)
    assert found == "0123456789*#", "the keys that telephones have; A to D are for exchanges"
