"""Messages of the carriers, as values and back."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from duologue.lines.phone.carriers import (
    CARRIERS,
    TELNYX,
    TWILIO,
    Carrier,
    Connected,
    Malformed,
    Marked,
    Media,
    Pressed,
    Started,
    StreamEnded,
    UnknownMessage,
    media_writer,
    read_message,
    write_clear,
    write_mark,
    write_media,
)

both = pytest.mark.parametrize("carrier", CARRIERS.values(), ids=lambda carrier: carrier.name)


def started(carrier: Carrier, **changes: Any) -> dict[str, Any]:
    encoding = "audio/x-mulaw" if carrier is TWILIO else "PCMU"
    form = {"encoding": encoding, carrier.sample_rate: 8000, "channels": 1}
    start = {carrier.call_id: "call 1", carrier.parameters: {"token": "t"}, carrier.media_format: form, **changes}
    return {"event": "start", carrier.stream_id: "stream 1", "start": start}


def media(carrier: Carrier, **changes: Any) -> dict[str, Any]:
    content = {"track": "inbound", "chunk": "2", "timestamp": "5", "payload": base64.b64encode(b"\xff" * 160).decode()}
    return {"event": "media", carrier.stream_id: "stream 1", "media": {**content, **changes}}


@both
@pytest.mark.req("V-09")
def test_every_message_of_a_call_is_read(carrier: Carrier) -> None:
    stream = {carrier.stream_id: "stream 1"}
    assert read_message(carrier, '{"event": "connected", "version": "1.0.0"}') == Connected()
    begun = read_message(carrier, json.dumps(started(carrier)))
    assert begun == Started("stream 1", "call 1", "PCMU", 8000, {"token": "t"})
    assert read_message(carrier, json.dumps(media(carrier))) == Media("stream 1", 2, b"\xff" * 160)
    dtmf = {"event": "dtmf", **stream, "dtmf": {"track": "inbound_track", "digit": "5"}}
    assert read_message(carrier, json.dumps(dtmf)) == Pressed("stream 1", "5")
    mark = {"event": "mark", **stream, "mark": {"name": "1.1.5"}}
    assert read_message(carrier, json.dumps(mark)) == Marked("stream 1", "1.1.5")
    assert read_message(carrier, json.dumps({"event": "stop", **stream, "stop": {}})) == StreamEnded("stream 1")


@both
def test_numbers_are_read_as_text_or_as_numbers(carrier: Carrier) -> None:
    form = {"encoding": "PCMA", carrier.sample_rate: "8000"}
    begun = read_message(carrier, json.dumps(started(carrier, **{carrier.media_format: form})))
    assert isinstance(begun, Started)
    assert begun.rate_hz == 8000
    assert read_message(carrier, json.dumps(media(carrier, chunk=7))) == Media("stream 1", 7, b"\xff" * 160)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, {}),
        ("text", {}),
        (7, {}),
        ([[1], "x", {"name": ["a"], "value": "b"}, {"name": "token", "value": "t"}], {"token": "t"}),
        ({"token": "t", "nested": {"a": 1}, "number": 3}, {"token": "t"}),
        ({str(number): "x" for number in range(200)}, {str(number): "x" for number in range(50)}),
    ],
)
def test_parameters_may_have_any_shape(given: Any, found: dict[str, str]) -> None:
    begun = read_message(TWILIO, json.dumps(started(TWILIO, customParameters=given)))
    assert isinstance(begun, Started)
    assert begun.parameters == found


def test_parameters_may_be_a_list_of_names_and_values() -> None:
    listed = started(TELNYX, custom_parameters=[{"name": "token", "value": "t"}, {"odd": 1}, 5])
    begun = read_message(TELNYX, json.dumps(listed))
    assert isinstance(begun, Started)
    assert begun.parameters == {"token": "t"}


@both
def test_an_unknown_event_is_not_an_error(carrier: Carrier) -> None:
    assert read_message(carrier, '{"event": "hologram"}') == UnknownMessage()
    assert read_message(carrier, '{"event": "error", "payload": {}}') == UnknownMessage(is_error=True)
    strange = {"event": "dtmf", carrier.stream_id: "s", "dtmf": {"digit": "flash"}}
    assert read_message(carrier, json.dumps(strange)) == UnknownMessage()


@both
def test_the_agents_own_track_is_marked_as_outbound(carrier: Carrier) -> None:
    outbound = read_message(carrier, json.dumps(media(carrier, track="outbound")))
    assert isinstance(outbound, Media)
    assert not outbound.is_inbound


@both
@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "null",
        '"media"',
        "{}",
        '{"event": 5}',
        '{"event": "media"}',
        '{"event": "start", "start": []}',
        "[" * 100_000,
        '{"event": "x", "pad": "' + "x" * (1 << 20) + '"}',
    ],
    ids=range(11),
)
def test_invalid_text_is_malformed_and_not_repeated(carrier: Carrier, text: str) -> None:
    with pytest.raises(Malformed) as caught:
        read_message(carrier, text)
    assert len(str(caught.value)) < 60


@both
@pytest.mark.parametrize("changes", [{"payload": "§§"}, {"payload": 5}, {"chunk": "x"}, {"chunk": -1}, {"chunk": True}])
def test_invalid_sound_is_malformed(carrier: Carrier, changes: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        read_message(carrier, json.dumps(media(carrier, **changes)))


def test_messages_to_twilio_name_the_stream_and_messages_to_telnyx_do_not() -> None:
    payload = base64.b64encode(b"abc").decode()
    assert json.loads(write_media(TWILIO, "s", b"abc")) == {
        "event": "media",
        "streamSid": "s",
        "media": {"payload": payload},
    }
    assert json.loads(write_media(TELNYX, "s", b"abc")) == {"event": "media", "media": {"payload": payload}}
    assert json.loads(write_mark(TWILIO, "s", "m")) == {"event": "mark", "streamSid": "s", "mark": {"name": "m"}}
    assert json.loads(write_mark(TELNYX, "s", "m")) == {"event": "mark", "mark": {"name": "m"}}
    assert json.loads(write_clear(TWILIO, "s")) == {"event": "clear", "streamSid": "s"}
    assert json.loads(write_clear(TELNYX, "s")) == {"event": "clear"}


@both
def test_a_writer_for_one_stream_writes_the_same(carrier: Carrier) -> None:
    for stream in ("s", 'Pw==" {}%', "Pw"):
        assert media_writer(carrier, stream)(b"abc") == write_media(carrier, stream, b"abc")
