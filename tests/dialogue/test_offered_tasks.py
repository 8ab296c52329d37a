"""Tasks that the agent offers after an unclear first message."""

from __future__ import annotations

from dataclasses import replace

import pytest

from duologue.dialogue.commands import ChitChat
from duologue.dialogue.english import SlotKind
from duologue.dialogue.flow import Collect, SlotSpec
from duologue.dialogue.offered_tasks import offer_of
from duologue.lab.check.dialogue.domains import domain, flow
from tests.dialogue.dialogue_flows import Talker, number

DAY, PEOPLE, CABINS = SlotSpec("day", SlotKind.DATE, "Which day?"), number("people"), number("cabins")
ASKED = (Collect("d", "day"), Collect("p", "people"), Collect("c", "cabins"))
FERRY = replace(flow("ferry", *ASKED), description="book a ferry")
FREIGHT = replace(flow("freight", Collect("d", "day")), description="ship a parcel")


def offered() -> Talker:
    talker = Talker(domain(FERRY, FREIGHT, slots=(DAY, PEOPLE, CABINS)))
    talker.says("we're off to the island on Friday, four people and a dog")
    return talker.means(ChitChat(offer_of(talker.domain, FERRY)))


@pytest.mark.req("D-04")
def test_a_yes_starts_the_task_with_the_values_of_the_first_message() -> None:
    talker = offered()
    assert talker.said == "I can book a ferry. Is that what you need?"
    talker.says("yes please")
    assert talker.slots == {"day": "2025-12-05", "people": 4}
    assert talker.said.startswith("So far I have day December 5, people 4.")


@pytest.mark.req("D-04")
def test_a_no_tells_what_is_possible() -> None:
    talker = offered().says("no")
    assert (talker.phase, talker.slots) == ("idle", {})
    assert talker.said == "I can help you with: book a ferry, ship a parcel."


def test_a_yes_without_an_offer_starts_nothing() -> None:
    talker = Talker(domain(FERRY, FREIGHT, slots=(DAY, PEOPLE, CABINS))).says("yes")
    assert talker.state.stack == ()


def test_a_later_yes_is_no_answer_to_the_offer() -> None:
    talker = offered().says("hello").says("yes")
    assert talker.state.stack == ()


def test_a_wish_after_a_no_is_read_like_any_other_message() -> None:
    assert offered().says("no, I have a parcel to send").asked_nlu
