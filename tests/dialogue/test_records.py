"""`changed` does what `dataclasses.replace` does."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from duologue.dialogue.records import changed
from duologue.dialogue.state import DialogueState, Instance, Phase


def test_changed_returns_the_same_as_replace() -> None:
    state = DialogueState(requests=3, queue=("yes",), stack=(Instance(1, "book", confirmed=("a",)),))
    changes = {"phase": Phase.ERROR, "misses": 2, "stack": ()}
    assert changed(state, changes) == replace(state, **changes)  # type: ignore[arg-type]
    assert changed(state, {}) == state
    assert changed(state.stack[0], {"at": 7}) == replace(state.stack[0], at=7)


def test_a_copy_is_a_frozen_instance_of_the_same_class() -> None:
    state = DialogueState()
    copy = changed(state, {"misses": 2})
    assert type(copy) is DialogueState
    assert hash(copy) == hash(replace(state, misses=2))
    with pytest.raises(FrozenInstanceError):
        copy.misses = 3  # type: ignore[misc]


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(TypeError, match="State has no field 'mises'"):
        changed(DialogueState(), {"mises": 1})
