"""Who may start a conversation: few addresses can't take all places."""

from __future__ import annotations

import pytest

from duologue.server.settings import Limits
from duologue.server.start_limits import Occupancy, UnspokenConversation, first_to_end, too_soon, why_not

LIMITS = Limits(conversations_max=500)


@pytest.mark.parametrize(
    ("found", "limit"),
    [
        (Occupancy(0, 0, 0), None),
        (Occupancy(499, 0, 0), None),
        (Occupancy(500, 0, 0), "conversations"),
        (Occupancy(60, 50, 0), "address"),
        (Occupancy(60, 20, 10), "unspoken"),
        (Occupancy(480, 20, 0), "address"),
        (Occupancy(480, 19, 0), None),
    ],
)
def test_each_limit_refuses_what_is_too_much(found: Occupancy, limit: str | None) -> None:
    refused = why_not(LIMITS, found)
    assert (refused.limit if refused is not None else None) == limit


@pytest.mark.parametrize("addresses", [1, 10, 100, 400])
def test_greedy_addresses_always_leave_room_for_others(addresses: int) -> None:
    own, running, has_started = [0] * addresses, 0, True
    while has_started:
        has_started = False
        for address in range(addresses):
            if why_not(LIMITS, Occupancy(running, own[address], 0)) is None:
                own[address] += 1
                running += 1
                has_started = True
    assert why_not(LIMITS, Occupancy(running, 0, 0)) is None


def test_the_words_say_what_to_do() -> None:
    refused = why_not(LIMITS, Occupancy(60, 20, 10))
    assert refused is not None
    assert refused.message == ("Your address has 10 conversations in which nothing was said yet: use or end one first.")
    assert too_soon(1_400).message == "Your address starts conversations too often: try again in 2 s."


def test_the_oldest_conversation_of_the_address_with_the_most_is_ended_first() -> None:
    oldest = UnspokenConversation(None, 1, "honest", 0)
    many = [UnspokenConversation(process, 1, "greedy", 10 + process) for process in range(3)]
    assert first_to_end([oldest, *reversed(many)]) == many[0]
    assert first_to_end([oldest]) == oldest
    assert first_to_end([]) is None
