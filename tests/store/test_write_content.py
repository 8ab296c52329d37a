"""What a store accepts: checked before anything changes; different writes have different digests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.ports.store import Damaged, Lease, OutboxMessage, StoreFailed, StoreWrite
from duologue.store.write_content import (
    NAME_BYTES_MAX,
    TTL_MS_MAX,
    WRITE_BYTES_MAX,
    content_of,
    conversation_of,
    decode,
    encode,
    lease_of,
    text_of,
    ttl_of,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
)


@given(VALUES)
def test_json_survives_being_stored(value: object) -> None:
    assert decode(encode(value, "a value"), "call", "a value") == value
    assert encode(value, "a value").isascii()


def test_parts_are_written_and_none_removes_one() -> None:
    content = content_of(StoreWrite({"b": 1, "a": None}))
    assert (content.parts, content.removed) == ([("b", "1")], ["a"])
    assert not content.has_parts_only
    assert content_of(StoreWrite({"b": 1})).has_parts_only


def test_the_digest_depends_on_everything_that_is_written() -> None:
    writes = [
        StoreWrite({}),
        StoreWrite({"a": "b"}),
        StoreWrite({"a": None}),
        StoreWrite({"ab": ""}),
        StoreWrite({}, done=[("a", "b")]),
        StoreWrite({}, messages=[OutboxMessage("a", "b")]),
        StoreWrite({}, is_over=True),
    ]
    assert len({content_of(write).digest for write in writes}) == len(writes)
    assert content_of(StoreWrite({"a": 1, "b": 2})).digest == content_of(StoreWrite({"b": 2, "a": 1})).digest


@pytest.mark.parametrize("name", ["", "a\nb", "\x00", "\ud800", 7, "x" * (NAME_BYTES_MAX + 1)], ids=repr)
def test_a_name_that_a_database_cannot_store_is_rejected(name: str) -> None:
    with pytest.raises(StoreFailed):
        conversation_of(name)
    with pytest.raises(StoreFailed):
        lease_of(Lease(name, "node", 1))


def test_only_a_text_may_be_empty() -> None:
    assert text_of("", "address") == ""
    with pytest.raises(StoreFailed):
        conversation_of("")


@pytest.mark.parametrize("ttl_ms", [-1, TTL_MS_MAX + 1])
def test_a_lease_has_a_bounded_duration(ttl_ms: int) -> None:
    assert ttl_of(TTL_MS_MAX) == TTL_MS_MAX
    with pytest.raises(StoreFailed, match="a lease must last from 0"):
        ttl_of(ttl_ms)


def test_a_write_that_is_too_large_is_rejected() -> None:
    with pytest.raises(StoreFailed, match="too large: write at most"):
        content_of(StoreWrite({"a": "x" * WRITE_BYTES_MAX}))


def test_damage_is_reported_without_the_content() -> None:
    with pytest.raises(Damaged, match="part 'a' of conversation 'call' can't be read") as caught:
        decode('{"secret', "call", "part 'a'")
    assert "secret" not in str(caught.value)
