"""Telephone stories are read from YAML, and every problem of a story is told at once."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.lab.sim.call_script import Beep, InvalidCallScript, Say
from duologue.lab.sim.phone_story import read_story
from duologue.lab.sim.telephones import AnsweredBy
from duologue.lines.phone.call.state import OnMachine

STORY: dict[str, Any] = {
    "story": "A machine answers.",
    "telephones": {
        "ann": {"answer": "machine", "ring_ms": 500, "steps": [{"say": "Hello."}, {"beep": {"hz": 900, "ms": 300}}]},
        "desk": {
            "number": "+4930555222",
            "menu": {"pages": {"a": {"say": "Press 1.", "keys": {1: "b"}}, "b": {"say": "Bye."}}},
        },
        "bob": None,
    },
    "dial": {"to": "ann", "on_machine": "hang_up", "ring_s": 5},
    "stop": {"after_ms": 100},
    "expect": {"outcome": "machine", "timeline": ["ann: rings"]},
    "settings": {"carrier_amd": True},
}


def test_a_story_is_read() -> None:
    story = read_story(STORY)
    ann, desk, bob = story.telephones
    assert (ann.number, desk.number, bob.number) == ("+4930555001", "+4930555222", "+4930555003")
    assert ann.telephone.steps == (Say("Hello."), Beep(900, 300))
    assert (ann.telephone.answer, ann.telephone.ring_ms) == (AnsweredBy.MACHINE, 500)
    assert desk.menu is not None
    assert (desk.menu.start, desk.menu.pages["a"].keys) == ("a", {"1": "b"})
    assert story.dial is not None
    assert (story.dial.on_machine, story.dial.ring_s) == (OnMachine.HANG_UP, 5)
    assert story.stop is not None
    assert story.stop.after_ms == 100
    assert story.name_of("+4930555222") == "desk"
    assert story.name_of("+49") == "+49"
    assert story.phone("carl") is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"story": ""}, "story must be text"),
        ({"dance": 1}, "unknown key 'dance'"),
        ({"telephones": {}}, "telephones must be a mapping"),
        ({"telephones": {"ann": 1}}, "telephones.ann: must be a mapping"),
        ({"telephones": {"ann": {"colour": 1}}}, "telephones.ann: unknown key 'colour'"),
        ({"telephones": {"ann": {"answer": "cat"}}}, "telephones.ann: answer must be one of person, machine"),
        ({"telephones": {"ann": {"ring_ms": -1}}}, "telephones.ann: ring_ms must be whole milliseconds"),
        ({"telephones": {"ann": {"steps": ["dance"]}}}, "telephones.ann: step 1: must be listen"),
        ({"telephones": {"ann": {"steps": [{"beep": "loud"}]}}}, "beep must be a frequency"),
        ({"telephones": {"ann": {"steps": [{"beep": {"hz": 0}}]}}}, "beep: hz must be from 1 to 4000"),
        ({"telephones": {"ann": {"menu": {}}}}, "telephones.ann: menu must be a mapping with `pages`"),
        ({"telephones": {"ann": {"menu": {"pages": {"a": 1}}}}}, "page a must be a mapping"),
        ({"telephones": {"ann": {"menu": {"pages": {"a": {"say": "x", "keys": {"1": "b"}}}}}}}, "there is no page 'b'"),
        ({"telephones": {"ann": {"menu": {"pages": {"a": {"say": "x", "keys": {"x": "a"}}}}}}}, "keys must be 0 to 9"),
        ({"telephones": {"ann": {"menu": {"pages": {"a": {"say": "x"}}, "tries_max": "x"}}}}, "menu.tries_max"),
        ({"carrier": "pigeon"}, "carrier must be one of twilio, telnyx"),
        ({"call": "ann"}, "set either `call`"),
        ({"query": {"campaign": 7}}, "query must be a mapping of texts to texts"),
        ({"query": {"campaign": "spring"}}, "query is for a story with `call`"),
        ({"dial": 1}, "dial must be a mapping"),
        ({"dial": {}}, "dial: to is missing"),
        ({"dial": {"to": "ann", "on_machine": "cry"}}, "dial.on_machine must be one of talk, message, hang_up"),
        ({"dial": {"to": "ann", "ring_s": -1}}, "dial.ring_s must be a number"),
        ({"stop": {"when": 1}}, "stop must be a mapping; its keys are after_ms, drain_s"),
        ({"expect": {"outcome": "rain"}}, "expect.outcome must be one of completed"),
        ({"expect": {"timeline": "ann"}}, "expect.timeline must be a list"),
        ({"settings": {"token_key": "x"}}, "settings must be a mapping; its keys are carrier_amd"),
        ({"limit_s": 0}, "limit_s must be a number above 0"),
    ],
)
def test_a_problem_is_named(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidCallScript, match=told.replace("(", r"\(")):
        read_story({**STORY, **change})


def test_a_caller_who_does_not_exist_and_no_story_at_all() -> None:
    called = {key: value for key, value in STORY.items() if key != "dial"} | {"call": "carl"}
    with pytest.raises(InvalidCallScript, match="there is no telephone 'carl'; the telephones are ann, desk, bob"):
        read_story(called)
    with pytest.raises(InvalidCallScript, match="must be a mapping"):
        read_story([])


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(InvalidCallScript, match=r"story must be text.*carrier must be one of"):
        read_story({**STORY, "story": 1, "carrier": "pigeon"})
