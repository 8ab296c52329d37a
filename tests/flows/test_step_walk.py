"""Walking through the raw data of a flow file, valid or not."""

from __future__ import annotations

from duologue.flows.step_walk import choices_of, conditions_of, entries_of, pairs_of, steps_of, texts_of

NESTED = {
    "flows": {
        "pay": {
            "steps": [
                {"while": "amount > 5", "steps": [{"collect": "amount"}]},
                {"branch": [{"if": "amount", "steps": [{"say": "x"}]}, {"else": [{"end": True}]}]},
                {"confirm": "Sure?", "on_no": [{"set": {"amount": None}}]},
                {"action": "send", "on_failure": [{"say": "Sorry."}]},
            ]
        }
    }
}


def test_every_step_is_found_at_any_depth_with_its_path() -> None:
    found = [(at.key, at.path[2:]) for at in steps_of(NESTED)]
    assert found == [
        ("while", ("steps", 0)),
        ("collect", ("steps", 0, "steps", 0)),
        ("branch", ("steps", 1)),
        ("say", ("steps", 1, "branch", 0, "steps", 0)),
        ("end", ("steps", 1, "branch", 1, "else", 0)),
        ("confirm", ("steps", 2)),
        ("set", ("steps", 2, "on_no", 0)),
        ("action", ("steps", 3)),
        ("say", ("steps", 3, "on_failure", 0)),
    ]


def test_conditions_are_found_with_their_key() -> None:
    found = [(key, text) for at in steps_of(NESTED) for _, key, text in conditions_of(at)]
    assert found == [("while", "amount > 5"), ("if", "amount")]


def test_what_has_the_wrong_shape_is_skipped() -> None:
    for data in (None, [], {"flows": 5}, {"flows": {"a": []}}, {"flows": {"a": {"steps": "x"}}}):
        assert list(steps_of(data)) == []
    wrong = {"flows": {"a": {"steps": ["say", {"say": "x", "collect": "y"}, {"while": 5, "steps": 5}, {"say": "ok"}]}}}
    assert [at.key for at in steps_of(wrong)] == ["while", "say"]
    assert entries_of({"slots": {"a": {}, "b": 5}}, "slots") == {"a": {}}


def test_names_and_texts_are_read_from_lists_and_mappings() -> None:
    assert pairs_of(["a", 5, "b"]) == [("a", "a"), ("b", "b")]
    assert pairs_of({"a": "b", "c": 5}) == [("a", "b")]
    assert pairs_of("a") == []
    assert (texts_of("a"), texts_of(["a", 5]), texts_of(5)) == (["a"], ["a"], [])
    slot = {"choices": ["inside", {"value": "outside", "also": ["terrace"]}]}
    assert choices_of(slot) == ["inside", "outside", "terrace"]
    assert choices_of(slot, with_also=False) == ["inside", "outside"]
