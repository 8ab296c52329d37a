"""Items: how they are read and written, and what they do to the history."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.ports.history import AgentSaid, CallOutput, Note, UserSaid
from duologue.server.realtime.items import ItemKind, ItemRecord, arguments_text, as_history, read_item
from duologue.server.realtime.refusal import EventRefused
from duologue.testing.realtime.protocol_types import problems_of_server_event


def message(role: str, **part: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [part]}


def test_items_are_read_and_written_as_the_protocol_has_them() -> None:
    for given in (
        message("user", type="input_text", text="hello"),
        message("system", type="input_text", text="It is May."),
        message("assistant", type="output_text", text="Hi."),
        {"type": "function_call_output", "call_id": "c", "output": "42"},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    ):
        item = read_item(given, "item_1")
        written = item.as_json()
        event = {"type": "conversation.item.added", "event_id": "e", "item": written, "previous_item_id": None}
        assert problems_of_server_event(event) == []
        assert {name: written[name] for name in given} == given


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "missing_required_parameter"),
        ({"type": "song"}, "invalid_value"),
        ({"type": "mcp_call"}, "unsupported_parameter"),
        ({"type": "message", "role": "user"}, "invalid_type"),
        (message("dog", type="input_text", text=""), "invalid_value"),
        (message("user", type="text", text="x"), "beta_api_shape_disabled"),
        (message("user", type="input_audio", audio="AAAA"), "unsupported_parameter"),
        (message("user", type="input_image", image_url="x"), "unsupported_parameter"),
        (message("user", type="output_text", text="x"), "invalid_value"),
        (message("user", type="input_text"), "missing_required_parameter"),
        ({"type": "function_call_output", "call_id": "c"}, "missing_required_parameter"),
    ],
)
def test_what_cant_be_an_item_is_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(EventRefused) as why:
        read_item(given, "item_1")
    assert why.value.code == code


def created(id_: str, kind: ItemKind, text: str) -> ItemRecord:
    return ItemRecord(id_, kind, text, is_created=True)


def test_what_was_created_has_its_place_in_the_history() -> None:
    history = (UserSaid(1, "one"), AgentSaid(4, "first"), CallOutput(9, "own tool"), UserSaid(2, "two"))
    items = (
        created("a", ItemKind.SYSTEM, "before"),
        ItemRecord("b", ItemKind.USER_AUDIO, "one", turn=1),
        ItemRecord("c", ItemKind.AGENT_AUDIO, "first", reply=4),
        created("d", ItemKind.USER_TEXT, "between"),
        ItemRecord("e", ItemKind.USER_TEXT, "two", turn=2, is_created=True),
        created("f", ItemKind.AGENT_TEXT, "after"),
        created("g", ItemKind.USER_TEXT, "three"),
    )
    assert as_history(history, items, (), ("g",)) == (
        Note("before"),
        UserSaid(1, "one"),
        AgentSaid(4, "first"),
        UserSaid(0, "between"),
        CallOutput(9, "own tool"),
        UserSaid(2, "two"),
        AgentSaid(0, "after"),
    )
    assert as_history(history, items[2:3], (items[1],)) == history[1:]


def test_arguments_are_json() -> None:
    assert arguments_text({"city": "Köln"}) == '{"city": "Köln"}'
