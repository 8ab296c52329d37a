"""The messages of one stream: admitted once, passed to the line, refused if they violate the protocol."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from duologue.lines.phone.carriers import TELNYX, TWILIO, Carrier, Started
from duologue.lines.phone.media_stream import MALFORMED, PROTOCOL_ERROR, REFUSED, UNSUPPORTED, Stream, StreamRefused
from duologue.ports.line import Closed, LineEvent

SOUND = base64.b64encode(bytes(160)).decode()


class Wire:
    """Takes everything and sends nothing."""

    def send(self, text: str) -> None: ...

    def close(self) -> None: ...


def admit_all(started: Started) -> None: ...


def start(carrier: Carrier = TWILIO, encoding: str = "audio/x-mulaw") -> str:
    form = {"encoding": encoding, carrier.sample_rate: 8000}
    content = {carrier.call_id: "CA1", carrier.media_format: form}
    return json.dumps({"event": "start", carrier.stream_id: "MZ1", "start": content})


def message(event: str, stream: str = "MZ1", **content: Any) -> str:
    return json.dumps({"event": event, "streamSid": stream, event: content})


def started() -> Stream:
    stream = Stream(TWILIO, Wire(), admit_all)
    stream.receive(start())
    return stream


def refusal(stream: Stream, text: str) -> int:
    with pytest.raises(StreamRefused) as caught:
        stream.receive(text)
    return caught.value.code


def test_a_start_message_that_is_admitted_makes_the_line() -> None:
    seen: list[Started] = []
    stream = Stream(TELNYX, Wire(), seen.append)
    stream.receive('{"event": "connected"}')
    assert stream.line is None
    stream.receive(start(TELNYX, "PCMA"))
    assert [one.call for one in seen] == ["CA1"]
    assert stream.line is not None
    assert stream.line.codec.name == "PCMA"


def test_a_stream_that_is_not_admitted_has_no_line() -> None:
    def refuse(_: Started) -> None:
        raise StreamRefused(REFUSED, "no token")

    stream = Stream(TWILIO, Wire(), refuse)
    assert refusal(stream, start()) == REFUSED
    assert stream.line is None


def test_what_violates_the_protocol_is_refused_with_its_code() -> None:
    assert refusal(Stream(TWILIO, Wire(), admit_all), message("media", payload=SOUND)) == PROTOCOL_ERROR
    assert refusal(Stream(TWILIO, Wire(), admit_all), start(encoding="audio/opus")) == UNSUPPORTED
    assert refusal(started(), start()) == PROTOCOL_ERROR
    assert refusal(started(), message("media", "another", payload=SOUND)) == REFUSED
    assert refusal(started(), "no JSON") == MALFORMED


def test_unknown_messages_and_errors_are_counted() -> None:
    stream = started()
    for text in ('{"event": "news"}', '{"event": "news"}', '{"event": "error"}'):
        stream.receive(text)
    assert stream.counts == {"unknown": 2, "errors": 1}


def test_keys_and_the_end_reach_the_line() -> None:
    stream, keys, told = started(), list[str](), list[LineEvent]()
    assert stream.line is not None
    stream.line.pressed = keys.append
    stream.receive(message("dtmf", digit="7"))
    assert keys == ["7"]
    asyncio.run(stream.line.open(told.append))
    stream.receive(message("stop"))
    assert stream.has_stopped
    assert told == [Closed(hung_up=True)]
