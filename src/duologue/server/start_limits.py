"""Decides whether a client may start a conversation now. Pure: takes counts of conversations, and returns a refusal
with a sentence for the client, or None.

An address that has conversations may start another one only if the server can still take more conversations than the
address already has. For example, an address with 5 conversations is refused if only 5 more fit on the server. So a few
addresses can't fill the server, and an address without a conversation is refused only if the server is full. Rule: each
refusal says what to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .caller_budget import Refused
from .settings import Limits


class Occupancy(NamedTuple):
    """How many conversations a server has in all its processes, and how many of them belong to one address."""

    running: int
    own: int
    own_unspoken: int  # those in which the user has said nothing yet


def why_not(limits: Limits, found: Occupancy) -> Refused | None:
    """Why this address can't start a conversation; None if it can."""
    free = limits.conversations_max - found.running
    if free <= 0:
        return Refused("conversations", "This server has too many conversations: try again later.")
    if found.own >= limits.conversations_per_address_max:
        most = limits.conversations_per_address_max
        return Refused("address", f"Your address has {found.own} conversations, and {most} are allowed: end one first.")
    if found.own_unspoken >= limits.unspoken_per_address_max:
        count = found.own_unspoken
        return Refused(
            "unspoken", f"Your address has {count} conversations in which nothing was said yet: use or end one first."
        )
    if found.own and found.own >= free:
        return Refused(
            "address",
            f"This server is busy, and your address has {found.own} conversations: end one or try again later.",
        )
    return None


class UnspokenConversation(NamedTuple):
    """A conversation that may be ended to make room, because the user has said nothing. `process` is None if this
    process has it."""

    process: int | None
    number: int
    address: str
    since_ms: int


def first_to_end(found: Sequence[UnspokenConversation]) -> UnspokenConversation | None:
    """Which of these conversations is ended first: of the address that has the most of them, the oldest one. None if
    the list is empty."""
    by_address = Counter(one.address for one in found)
    return min(found, key=lambda one: (-by_address[one.address], one.since_ms), default=None)


def too_soon(wait_ms: int | None) -> Refused:
    """The refusal of an address that starts conversations too often."""
    seconds = max(1, -(-(wait_ms or 0) // 1000))
    return Refused("starts", f"Your address starts conversations too often: try again in {seconds} s.", wait_ms)
