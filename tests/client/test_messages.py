"""Frames become values and back; what is no frame of the protocol is refused with a reason."""

from __future__ import annotations

import json
import struct

import pytest

from duologue.client.messages import CUE, VOICE, ServerSaid, VoiceChunk, read, written
from duologue.server.client_messages import read_message


def test_a_message_has_its_kind_without_the_prefix() -> None:
    frame = json.dumps({"type": "duologue.state", "payload": {"phase": "listening"}})
    assert read(frame) == ServerSaid("state", {"phase": "listening"})
    assert read('{"type": "duologue.pong"}') == ServerSaid("pong", {})


def test_sound_has_its_kind_number_chunk_and_samples() -> None:
    chunk = read(struct.pack("<BBHII", VOICE, 0, 0, 7, 3) + bytes(480))
    assert chunk == VoiceChunk(VOICE, 7, 3, bytes(480))
    assert isinstance(chunk, VoiceChunk)
    assert chunk.samples == 240
    cue = read(struct.pack("<BBHII", CUE, 0, 0, 1, 0))
    assert isinstance(cue, VoiceChunk)
    assert cue.kind == CUE


@pytest.mark.parametrize("frame", ["[]", "{}", '{"type": 1}', "no json", bytes(11)])
def test_what_is_no_frame_is_refused(frame: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's own message, or ours
        read(frame)


def test_what_it_writes_the_server_reads() -> None:
    told = read_message(written("type", {"text": "hello", "id": "1"}))
    assert (told.type, told.payload) == ("type", {"text": "hello", "id": "1"})
