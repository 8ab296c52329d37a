"""Frames of Pipecat's transport: as its own serializers write them, and whatever else a client may send."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.server.rtvi.frames import (
    FIELDS_MAX,
    AudioOfClient,
    InvalidFrame,
    TextOfClient,
    UnusedFrame,
    audio_frame,
    fields_of,
    interruption_frame,
    message_frame,
    read_frame,
)

# As `ProtobufFrameSerializer` of @pipecat-ai/websocket-transport 1.7.1 writes them.
AUDIO = bytes.fromhex("12121205617564696f1a040102030420807d2801")
MESSAGE = bytes.fromhex("22150a137b226c6162656c223a22727476692d6169227d")
TEXT = bytes.fromhex("0a0908071201741a026869")

_UINT64, _STRING, _BYTES, _UINT32, _MESSAGE = 4, 9, 12, 13, 11
SCHEMA: dict[str, list[tuple[str, int, int]]] = {
    "TextFrame": [("id", 1, _UINT64), ("name", 2, _STRING), ("text", 3, _STRING)],
    "AudioRawFrame": [
        ("id", 1, _UINT64),
        ("name", 2, _STRING),
        ("audio", 3, _BYTES),
        ("sample_rate", 4, _UINT32),
        ("num_channels", 5, _UINT32),
        ("pts", 6, _UINT64),
    ],
    "MessageFrame": [("data", 1, _STRING)],
    "InterruptionFrame": [("id", 1, _UINT64), ("name", 2, _STRING)],
}
MEMBERS = {"text": (1, "TextFrame"), "audio": (2, "AudioRawFrame"), "message": (4, "MessageFrame")}


def reference() -> Any:
    """The class of `pipecat.Frame`, made by Google's protobuf from Pipecat's frames.proto."""
    file = descriptor_pb2.FileDescriptorProto(name="frames.proto", package="pipecat", syntax="proto3")
    for name, fields in SCHEMA.items():
        made = file.message_type.add(name=name)
        for field, number, kind in fields:
            made.field.add(name=field, number=number, type=kind, label=1)  # type: ignore[arg-type]
    frame = file.message_type.add(name="Frame")
    frame.oneof_decl.add(name="frame")
    for field, (number, kind_name) in {**MEMBERS, "interruption": (5, "InterruptionFrame")}.items():
        frame.field.add(
            name=field,
            number=number,
            type=_MESSAGE,  # type: ignore[arg-type]
            label=1,  # type: ignore[arg-type]
            type_name=f".pipecat.{kind_name}",
            oneof_index=0,
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("pipecat.Frame"))


REFERENCE = reference()


def test_frames_of_the_javascript_client_are_read() -> None:
    assert read_frame(AUDIO) == AudioOfClient(b"\x01\x02\x03\x04", 16_000, 1)
    assert read_frame(MESSAGE) == TextOfClient('{"label":"rtvi-ai"}')
    assert read_frame(TEXT) == UnusedFrame("text")


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.integers(1, 96_000), st.text(max_size=100))
def test_both_directions_agree_with_googles_protobuf(pcm: bytes, rate_hz: int, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    audio = REFERENCE.FromString(audio_frame(pcm, rate_hz))
    assert audio.WhichOneof("frame") == "audio"
    assert (audio.audio.audio, audio.audio.sample_rate, audio.audio.num_channels) == (pcm, rate_hz, 1)
    message = REFERENCE.FromString(message_frame(text))
    assert message.message.data == text
    assert REFERENCE.FromString(interruption_frame()).WhichOneof("frame") == "interruption"
    sent = REFERENCE(audio={"id": 2**64 - 1, "name": text, "audio": pcm, "sample_rate": rate_hz, "num_channels": 2})
    sent.audio.pts = 99
    assert read_frame(sent.SerializeToString()) == AudioOfClient(pcm, rate_hz, 2)
    assert read_frame(REFERENCE(message={"data": text}).SerializeToString()) == TextOfClient(text)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "neither audio nor a message"),
        (b"\x12", "middle of a number"),
        (b"\x12\xff", "middle of a number"),
        (b"\x12\x05a", "longer than the frame"),
        (b"\x10\x01", "field 2 of the frame isn't a message"),
        (b"\x13", "wire type 3"),
        (b"\x02\x00", "field with the number 0"),
        (b"\xff" * 20, "a number in the frame is too long"),
        (b"\x22\x03\x0a\x01\xff", "isn't UTF-8"),
        (b"\x22\x02\x08\x01", "text of the message has the wrong type"),
        (b"\x12\x02\x18\x01", "a field of the audio has the wrong type"),
        (b"\x30\x01" * (FIELDS_MAX + 1) + MESSAGE, "more than 100 fields"),
    ],
)
def test_what_isnt_a_frame_is_refused_with_a_reason(data: bytes, why: str) -> None:
    with pytest.raises(InvalidFrame, match=why):
        read_frame(data)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.binary(max_size=80), st.builds(lambda at, more: AUDIO[:at] + more, st.integers(0, 20), st.binary()))
)
def test_garbage_is_a_frame_or_refused_and_nothing_else(data: bytes) -> None:
    try:
        read_frame(data)
    except InvalidFrame:
        return


def test_unknown_fields_are_skipped() -> None:
    assert read_frame(b"\x7d\x00\x00\x00\x00\x79\x00\x00\x00\x00\x00\x00\x00\x00\x78\x01" + MESSAGE) == read_frame(
        MESSAGE
    )
    assert list(fields_of(b"\x08\x96\x01")) == [(1, 150)]
