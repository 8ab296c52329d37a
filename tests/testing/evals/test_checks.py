"""Hard assertions on a call."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date

import pytest

from duologue import Agent, Context, Request
from duologue.testing import Call
from duologue.testing.evals.checks import broken_assertions, transcript_of
from duologue.testing.evals.suite import AgentPromise, ExpectedCall, HardAssertions
from tests.testing.evals.scripted_models import desk


@pytest.fixture(scope="module")
def call():  # type: ignore[no-untyped-def]
    with Call(desk()) as made:
        made.user("a table please").expect_heard("booked")
        yield made


@pytest.mark.parametrize(
    ("wanted", "broken"),
    [
        (HardAssertions(called=(ExpectedCall("book_table", {"people": 2}),)), []),
        (
            HardAssertions(called=(ExpectedCall("book_table", {"people": 3}),)),
            ['book_table was not called with {"people": 3}'],
        ),
        (HardAssertions(not_called=("book_table", "other")), ["book_table was called"]),
        (HardAssertions(heard=(re.compile("booked"),)), []),
        (HardAssertions(heard=(re.compile("never"),)), ["never heard: never"]),
        (HardAssertions(never_said=(re.compile("text"),)), ["said: text"]),
        (
            HardAssertions(promises=(AgentPromise(re.compile("a text"), "send_text"),)),
            ["promised (a text), but send_text was not called"],
        ),
        (HardAssertions(promises=(AgentPromise(re.compile("a fax"), "send_fax"),)), []),
        (HardAssertions(ended=True), ["the agent did not end the call"]),
        (HardAssertions(ended=False), []),
        (HardAssertions(data={"people": "2"}), ["people is '', not '2'"]),
    ],
)
def test_each_assertion_that_does_not_hold_is_one_sentence(
    call: Call, wanted: HardAssertions, broken: list[str]
) -> None:
    assert broken_assertions(call, wanted) == broken


@dataclass
class Table:
    day: date | None = None
    seats: list[int] = field(default_factory=list)


@dataclass
class Booking:
    name: str = ""
    paid: bool = False
    table: Table = field(default_factory=Table)


def test_the_data_of_the_call_is_checked_field_by_field() -> None:
    def brain(request: Request, context: Context[Booking]) -> str:
        context.data.name, context.data.paid = "Ada", True
        context.data.table = Table(date(2026, 3, 4), [7, 8])
        return "Booked."

    reached = {"name": "Ada", "paid": "true", "table.day": "2026-03-04", "table.seats": "7, 8"}
    with Call(Agent(brain, data=Booking)) as call:
        call.user("a table please").expect_heard("Booked.")
        assert broken_assertions(call, HardAssertions(data=reached)) == []
        assert broken_assertions(call, HardAssertions(data={"name": "Grace"})) == ["name is 'Ada', not 'Grace'"]


def test_the_transcript_has_words_calls_and_outputs(call: Call) -> None:
    assert transcript_of(call).splitlines() == [
        "caller: a table please",
        'agent calls book_table({"people": 2})',
        "book_table returns: booked for 2",
        "agent: Your table is booked. I'll send you a text.",
    ]
