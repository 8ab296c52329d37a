"""Loading a flow file: files that can't be read, and files that aren't flows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duologue.core.errors import DuologueError
from duologue.dialogue.flow import (
    SayText,
)
from duologue.flows import InvalidFlows, load_flows, parse_flows, read_flows
from tests.flows.flow_problems import problems_of

NOT_FLOWS = [
    (
        "",
        "1: the file is empty; a flow file has `version: 1`, `slots` and `flows`",
    ),
    (
        "# nothing\n",
        "1: the file is empty; a flow file has `version: 1`, `slots` and `flows`",
    ),
    (
        "just words",
        "1: the file isn't a mapping; a flow file has `version: 1`, `slots` and `flows`",
    ),
    (
        "- a\n- b",
        "1: the file isn't a mapping; a flow file has `version: 1`, `slots` and `flows`",
    ),
]


@pytest.mark.parametrize(("text", "expected"), NOT_FLOWS, ids=["empty", "comment", "text", "list"])
def test_a_file_without_flows_is_refused_in_one_line(text: str, expected: str) -> None:
    assert problems_of(text) == [expected]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe\x00binary", "the file isn't UTF-8 text; save it in this encoding"),
        (b"x" * 1_000_001, "the file is too large; at most 1,000,000 bytes are allowed"),
    ],
)
def test_a_file_that_is_not_text_is_refused_in_one_line(content: bytes, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(content)
    with pytest.raises(InvalidFlows) as caught:
        load_flows(file)
    assert str(caught.value) == f"{file}: {expected}"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    for file in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(DuologueError, match="directory"):
            load_flows(file)


ROOT = Path(__file__).parent.parent.parent


# Without stories such as flights.stories.yaml, which are in the same folder.
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.yaml")) if "." not in path.stem]


@pytest.mark.req("D-03")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_loads_without_a_warning(path: Path) -> None:
    file = read_flows(path)
    assert file.warnings == ()
    assert file.domain.offered


@pytest.mark.req("D-16")
def test_the_flight_example_asks_the_specified_questions() -> None:
    domain = load_flows(ROOT / "examples" / "flights.yaml")
    flow = domain.flows["book_flight"]
    assert [at.step for at in flow.program] == [
        "collect_origin",
        "collect_destination",
        "collect_date",
        "search_flights",
        "completed",
        "end",
    ]
    assert [domain.slots[slot].prompt for slot in flow.slots] == [
        "Where would you like to fly from?",
        "Where would you like to fly to?",
        "When would you like to depart?",
    ]
    assert flow.program[4] == SayText("completed", "Your flight is booked! Booking reference: {booking_ref}")
    assert domain.slots["origin"].names is not None
    assert domain.slots["departure_date"].prefers == "last"


WORDS = ["version", "slots", "flows", "steps", "collect", "say", "set", "branch", "if", "else", "while", "action"]
WORDS += ["confirm", "on_no", "on_failure", "then", "call", "link", "end", "id", "type", "prompt", "choices", "names"]
WORDS += ["patterns", "depends_on", "outputs", "gives", "takes", "hours", "number", "text", "a", "b", "a > 1", "{a}"]
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.sampled_from(WORDS), st.text(max_size=8)
)
keys = st.one_of(st.sampled_from(WORDS), st.text(max_size=4))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=20,
)


def loads_or_complains(text: str) -> None:
    try:
        parse_flows(text, "any.yaml")
    except InvalidFlows as error:
        lines = str(error).split("\n")
        assert lines
        assert all(line.startswith(("any.yaml", "and ")) for line in lines)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(values)
def test_any_structure_loads_or_is_refused(value: Any) -> None:
    loads_or_complains(yaml.safe_dump(value, allow_unicode=True))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(EXAMPLES), st.data())
def test_any_change_to_an_example_loads_or_is_refused(path: Path, data: st.DataObject) -> None:
    whole = yaml.safe_load(path.read_text(encoding="utf-8").replace("cities.txt", "[Paris]"))
    for _ in range(data.draw(st.integers(1, 3))):
        part = whole
        while True:
            places = list(part) if isinstance(part, dict) else list(range(len(part)))
            if not places:
                break
            place = data.draw(st.sampled_from(places))
            if isinstance(part[place], dict | list) and part[place] and data.draw(st.integers(0, 4)):
                part = part[place]
                continue
            if data.draw(st.booleans()):
                part[place] = data.draw(values)
            else:
                del part[place]
            break
    loads_or_complains(yaml.safe_dump(whole))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"%@`#,? \n\t\\x0U1\u2028\x00é")))
def test_any_text_loads_or_is_refused(text: str) -> None:
    loads_or_complains(text)
