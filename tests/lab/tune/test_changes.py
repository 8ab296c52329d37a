"""What changes from one setting to another is said in words, and the unknown is called unknown."""

from __future__ import annotations

import pytest

from duologue.lab.tune.changes import ChangedPause, changes, is_changed
from duologue.lab.tune.pauses import DecidedPause
from tests.lab.tune.decided_calls import call, end, middle


@pytest.mark.parametrize(
    ("recorded", "other", "what"),
    [
        (middle(), middle(300), "would cut in"),
        (middle(300), middle(), "would not cut in any more"),
        (end(500), end(800), "would answer 300 ms later"),
        (end(800), end(500), "would answer 300 ms earlier"),
        (end(500), end(None), "not known"),
    ],
)
def test_a_change_is_said_in_words(recorded: DecidedPause, other: DecidedPause, what: str) -> None:
    assert is_changed(recorded, other)
    assert ChangedPause("call", recorded, other).what.startswith(what)


@pytest.mark.parametrize(
    ("recorded", "other"),
    [(end(500), end(599)), (middle(), middle()), (middle(300), middle(700)), (end(None), end(None))],
)
def test_a_small_difference_is_no_change(recorded: DecidedPause, other: DecidedPause) -> None:
    assert not is_changed(recorded, other)


def test_changes_name_their_call_in_order() -> None:
    found = changes(
        ["a", "b"], [call(middle(), end(500)), call(end(500))], [call(middle(300), end(500)), call(end(900))]
    )
    assert [(one.call, one.what) for one in found] == [("a", "would cut in"), ("b", "would answer 400 ms later")]


def test_a_change_as_json_has_both_decisions() -> None:
    data = ChangedPause("a", end(500, answered_ms=600), end(900, answered_ms=600)).to_json()
    assert (data["call"], data["silent_at"], data["answered_at"]) == ("a", 1_000, 1_600)
    assert data["recorded"] == {"ended_at": 1_500, "wait_ms": 500, "cut_in": False, "unknown": False, "assumed": False}
    assert (data["other"]["wait_ms"], data["other"]["assumed"]) == (900, True)
