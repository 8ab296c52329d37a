"""Whole dialogues, word for word."""

from __future__ import annotations

import pytest

from duologue.dialogue.commands import (
    StartFlow,
)
from duologue.flows.load import parse_flows
from tests.dialogue.dialogue_flows import (
    FLIGHTS,
    Talker,
)


@pytest.mark.req("D-03")
def test_a_flow_written_in_yaml_runs() -> None:
    written = parse_flows(
        """
        version: 1
        slots:
          people: {type: number, prompt: "For how many?"}
        flows:
          table:
            description: book a table
            steps:
              - collect: people
              - branch:
                  - if: people > 6
                    steps: [{say: That is a lot.}]
              - action: book
              - say: Booked.
        """
    )
    talker = Talker(written).starts("table").says("eight")
    assert talker.said == "That is a lot."
    assert talker.runs[0].slots == (("people", 8),)
    assert talker.done().said == "Booked."


def flying() -> Talker:
    return Talker(FLIGHTS).says("I want to book a flight").means(StartFlow("book_flight"))


@pytest.mark.req("D-16")
def test_the_specified_flight_booking_word_for_word() -> None:
    talker = flying()
    assert (talker.said, talker.step) == ("Where would you like to fly from?", "collect_origin")
    assert talker.says("New York").valid("New York").said == "Where would you like to fly to?"
    assert talker.says("Los Angeles").valid("Los Angeles").said == "When would you like to depart?"
    talker.says("Next Friday").valid("2025-12-12")
    assert (talker.phase, talker.step, talker.state.waiting_for) == ("executing_action", "search_flights", None)
    talker.done(booking_ref="BK-98765")
    assert talker.said == "Your flight is booked! Booking reference: BK-98765"
    assert (talker.phase, talker.state.current_flow) == ("idle", "none")
    assert talker.slots == {
        "origin": "New York",
        "destination": "Los Angeles",
        "departure_date": "2025-12-12",
        "booking_ref": "BK-98765",
    }


@pytest.mark.req("D-07", "D-16")
def test_the_specified_correction_word_for_word() -> None:
    talker = flying().says("New York").valid("New York").says("Actually, change the origin to Boston").valid("Boston")
    assert talker.said == "Got it, I've updated your origin to Boston. Where would you like to fly to?"
    assert (talker.phase, talker.step) == ("waiting_for_slot", "collect_destination")
    assert (talker.state.waiting_for, talker.slots) == ("destination", {"origin": "Boston"})
