"""A tool is described by values, with its name as its identity in sets and dicts."""

from __future__ import annotations

from duologue.ports.worker import Mode, Tool


def test_a_tool_can_be_hashed_though_its_schema_is_a_dict() -> None:
    lookup = Tool("lookup", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
    assert {lookup: 1}[Tool("lookup", parameters=lookup.parameters)] == 1
    assert lookup != Tool("lookup")


def test_each_tool_without_arguments_has_its_own_schema() -> None:
    one, other = Tool("one"), Tool("other")
    assert one.parameters == {"type": "object", "properties": {}}
    assert one.parameters is not other.parameters
    assert (one.mode, one.cancellable, one.idempotent) == (Mode.TOOL, False, False)
