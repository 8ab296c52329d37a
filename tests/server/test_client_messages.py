"""What a client may say: every message of the table is read, everything else is refused without repeating it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from duologue.server.client_messages import TABLE, BadMessage, ClientMessage, WrongVersion, read_message

GOOD: dict[str, dict[str, Any]] = {
    "hello": {
        "version": 1,
        "seat": "a seat",
        "token": "t",
        "language": "de-AT",
        "conversation": "c",
        "key": "k",
        "take_over": True,
        "audio": {"rate_hz": 48_000},
        "played": {"voice": 3, "ms": 400, "chunk": 4},
        "receipts": ["one", "two"],
    },
    "type": {"text": "book a flight to Zürich ✈", "id": "m-1"},
    "cancel": {"call": 3},
    "answer": {"call": 3, "text": "yes"},
    "played": {"voice": 1, "ms": 20},
    "finished": {"voice": 1, "ms": 20},
    "stopped": {"voice": 1, "ms": 0},
    "unplayable": {"voice": 1},
    "debug": {"on": True},
    "start": {"microphone": "off"},
    "microphone": {"state": "muted"},
    "key": {"key": "a-new-key"},
    "attention": {"here": True},
    "calls": {"on": False},
    "watch": {"id": "1f0c2a9b77de"},
    "webrtc": {"sdp": "v=0\r\n"},
    "heard": {"rtp": 4_000_000_000},
    "carrier": {"carrier": "socket"},
    "ping": {"t": 12.5},
}
OPTIONAL = {
    "type.id", "hello.token", "hello.language", "hello.conversation", "hello.key", "hello.take_over", "hello.audio",
    "hello.played", "hello.receipts", "calls.on",
    "start.microphone",
}  # fmt: skip
NONE_IS_RIGHT = {"watch.id"}
WRONG: dict[str, list[Any]] = {
    "sdp": [5, None, "x" * 32_769, "\ud800"],
    "rtp": [-1, 1 << 32, 1.5, "1", None, True],
    "carrier": ["webrtc", 1, None],
    "version": [True, 1.0],
    "seat": ["", "   ", "x" * 201, 5, None, "a\nb", "\ud800"],
    "token": [5, None, [], "\x00"],
    "language": [5, {}],
    "conversation": [5, "\u200b" * 300],
    "key": [5, ["k"]],
    "take_over": [1, "true", None],
    "audio": [5, {"rate_hz": 44_100}, {"rate_hz": 16_000.0}, {"rate_hz": True}, {"rate_hz": []}, {"hz": 8_000}, None],
    "played": [
        5,
        {},
        {"voice": 1, "ms": 2},
        {"voice": -1, "ms": 2, "chunk": 1},
        {"voice": 1, "ms": 1.5, "chunk": 1},
        {"voice": 1, "ms": 2, "chunk": 1, "more": 1},
        {"voice": 1 << 60, "ms": 2, "chunk": 1},
        {"voice": (1 << 32) - 1, "ms": 2, "chunk": 1},  # the next voice would not fit into a frame
        {"voice": True, "ms": 2, "chunk": 1},
    ],
    "receipts": ["one", {}, None, [5], ["é"], ["a"] * 5, ["a" * 60_001]],
    "id": [5, None, "line\nbreak"],
    "text": [5, None, ["a"], "half \ud83d a face"],
    "call": [-1, 1.0, "1", True, None, 1 << 60],
    "voice": [-1, 1.5, "1", True, None, 1 << 60],
    "ms": [-1, 1.5, "1", True, None, 10**12],
    "on": [1, "on", None],
    "here": [1, "yes", None],
    "microphone": ["loud", 5, None],
    "state": ["loud", "", 5, None, ["on"], {}],
    "t": ["now", None, True, 10**400, float("inf"), float("-inf"), float("nan")],
}


def as_text(kind: Any, payload: Any) -> str:
    return json.dumps({"type": kind, "payload": payload})


@pytest.mark.req("C-CON-001", "C-PAT-003")
@pytest.mark.parametrize("kind", TABLE)
def test_every_message_of_the_protocol_is_read(kind: str) -> None:
    payload = GOOD.get(kind, {})
    assert read_message(as_text(kind, payload)) == ClientMessage(kind, payload)


def test_a_message_without_fields_may_leave_its_payload_out() -> None:
    assert read_message('{"type":"start"}') == ClientMessage("start", {})


def test_the_id_of_a_watched_call_may_be_null() -> None:
    assert read_message(as_text("watch", {"id": None})) == ClientMessage("watch", {"id": None})


def test_optional_fields_may_be_left_out() -> None:
    few = {"version": 1, "seat": "a seat"}
    assert read_message(as_text("hello", few)) == ClientMessage("hello", few)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (kind, name, value)
        for kind, fields in TABLE.items()
        for name in fields
        for value in WRONG[name]
        if value is not None or f"{kind}.{name}" not in NONE_IS_RIGHT
    ],
)
def test_a_field_that_is_wrong_is_named_and_not_repeated(kind: str, name: str, value: Any) -> None:
    if kind == "hello" and name == "version":
        assert value == 1, "another version is told apart below"
    with pytest.raises(BadMessage, match=name):
        read_message(as_text(kind, {**GOOD[kind], name: value}))


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, fields in TABLE.items() for name in fields if f"{kind}.{name}" not in OPTIONAL],
)
def test_a_field_that_is_missing_is_named(kind: str, name: str) -> None:
    rest = {key: value for key, value in GOOD[kind].items() if key != name}
    with pytest.raises(BadMessage):
        read_message(as_text(kind, rest))


@pytest.mark.parametrize("kind", TABLE)
def test_an_unknown_field_is_refused_without_repeating_its_name(kind: str) -> None:
    with pytest.raises(BadMessage) as refused:
        read_message(as_text(kind, {**GOOD.get(kind, {}), "hidden": 1}))
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize("version", [0, 2, "1", None, [], 1.5])
def test_another_protocol_version_has_its_own_error(version: Any) -> None:
    with pytest.raises(WrongVersion):
        read_message(as_text("hello", {**GOOD["hello"], "version": version}))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "5", '"start"', '{"type":5}', '{"type":"nope"}', '{"type":"start","payload":[]}',
     '{"type":"start","payload":null}', "[" * 100_000, '{"type":' * 5_000, "9" * 5_000,
     '{"type":"ping","payload":{"t":NaN}}', '{"type":"ping","payload":{"t":1e999}}'],
)  # fmt: skip
def test_text_that_is_not_a_message_is_refused(text: str) -> None:
    with pytest.raises(BadMessage):
        read_message(text)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields_of_ours = st.sampled_from(sorted({name for fields in TABLE.values() for name in fields}))
messages = st.builds(
    as_text,
    st.sampled_from(list(TABLE)) | st.text(max_size=10),
    st.dictionaries(fields_of_ours | st.text(max_size=6), anything, max_size=9) | anything,
)


def words_of(value: Any) -> set[str]:
    """Everything in it that could give something away."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set().union(set(value), *map(words_of, value.values()))
    if isinstance(value, list):
        return set().union(*map(words_of, value))
    return set()


OURS = " ".join(
    [*TABLE, *(name for fields in TABLE.values() for name in fields)]
    + [field.what for fields in TABLE.values() for field in fields.values()]
)
TELLING = "a text frame must be one JSON object; a message must be an object with a type; unknown type; must be one of"
MORE = "payload must be an object; unknown field; allowed: none; is missing; must be; this server uses "
EVEN_MORE = "version of the protocol: reload the page"


@settings(max_examples=600, deadline=None)
@given(messages | st.text(max_size=60))
@example('{"type":"hello","payload":{"version":1,"seat":[{}],"audio":{"rate_hz":{}}}}')
def test_any_text_is_parsed_or_refused_and_never_repeated_in_the_error(text: str) -> None:
    try:
        incoming = read_message(text)
    except BadMessage as refused:
        told = str(refused)
        try:
            sent = words_of(json.loads(text))
        except (ValueError, RecursionError):
            sent = {text}
        ours = f"{OURS} {TELLING} {MORE} {EVEN_MORE} 1"
        assert not [word for word in sent if len(word) > 2 and word in told and word not in ours]
    else:
        assert incoming.type in TABLE
        assert set(incoming.payload) <= set(TABLE[incoming.type])
        json.dumps(incoming.payload, ensure_ascii=False, allow_nan=False).encode()
