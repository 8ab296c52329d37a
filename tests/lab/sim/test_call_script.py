"""Scripts of telephone calls: what they may contain, and which problems are reported."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.lab.sim.call_script import Expect, InvalidCallScript, Listen, PlayWav, Press, Say, read_script


def test_a_script_is_read_step_by_step() -> None:
    script = read_script(
        {
            "carrier": "telnyx",
            "network": {"jitter_ms": 20, "loss": 0.01},
            "steps": ["listen", {"say": "hello"}, {"wav": "a.wav"}, {"dtmf": 42}, {"expect": {"heard": "42"}}],
        }
    )
    assert script.carrier == "telnyx"
    assert script.network.loss == 0.01
    assert script.steps == (Listen(), Say("hello"), PlayWav("a.wav"), Press("42"), Expect(heard="42"))


def test_one_error_lists_every_problem_of_a_script() -> None:
    steps: list[Any] = [
        "dance",
        {"say": ""},
        {"pause": -1},
        {"dtmf": "x"},
        {"expect": {"magic": 1}},
        {"sing": "la"},
        {},
    ]
    with pytest.raises(InvalidCallScript) as caught:
        read_script({"steps": steps, "carrier": "pigeon", "network": {"loss": "much"}, "wait_s": 0, "extra": 1})
    for part in ("step 1", "step 2", "step 3", "step 4", "step 5", "step 6", "step 7", "carrier", "network", "wait_s"):
        assert part in str(caught.value)
    assert "'extra'" in str(caught.value)


@pytest.mark.parametrize("data", [None, [], "steps", {}, {"steps": []}, {"steps": {}}])
def test_anything_else_than_a_script_is_refused(data: object) -> None:
    with pytest.raises(InvalidCallScript):
        read_script(data)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"carrier": ["twilio"]}, "carrier must be one of"),
        ({"wait_s": True}, "wait_s must be a number"),
        ({"network": {"loss": float("nan")}}, r"network\.loss must be a number from 0 to 1"),
        ({"network": {"loss": 1.5}}, r"network\.loss must be a number from 0 to 1"),
        ({"network": {"jitter_ms": 2.5}}, r"network\.jitter_ms must be a whole number"),
        ({"network": {"seed": True}}, r"network\.seed must be a whole number"),
        ({"steps": [{"expect": {"over": "no"}}]}, "step 1: over must be true or false"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_by_name(more: dict[str, object], problem: str) -> None:
    with pytest.raises(InvalidCallScript, match=problem):
        read_script({"steps": ["listen"], **more})
