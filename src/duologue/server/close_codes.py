"""Why a socket is closed: one code and one plain sentence for each reason (docs/protocol.md).

Rule: a reason holds nothing that a client sent.
"""

from __future__ import annotations

from typing import NamedTuple


class CloseCode(NamedTuple):
    code: int
    name: str
    reason: str  # at most 123 bytes, as WebSockets have it


BAD_MESSAGE = CloseCode(4400, "bad_message", "Too many messages that are not of this protocol.")
NO_TOKEN = CloseCode(4401, "token", "This server wants its token: open the address that it printed.")
WRONG_ORIGIN = CloseCode(4403, "origin", "A page of another origin may not talk to this server.")
NO_HELLO = CloseCode(4408, "no_hello", "No hello came in time.")
SEAT_TAKEN = CloseCode(4409, "seat_taken", "This conversation is open in another tab or window.")
TAKEN_OVER = CloseCode(4410, "taken_over", "The conversation goes on in another tab or window.")
WRONG_VERSION = CloseCode(4426, "version", "Page and server are of different versions: reload the page.")
TOO_FAST = CloseCode(4429, "too_fast", "Too many messages within a second.")
TOO_MANY = CloseCode(4429, "too_many", "Too many conversations are going on here: try again in a while.")
SLOW_READER = CloseCode(4508, "slow_reader", "The client does not read what it is sent.")
STOPPING = CloseCode(4503, "stopping", "The server is stopping: connect again.")
MOVED = CloseCode(4503, "moved", "Another server has this conversation now: connect again.")
NO_STORE = CloseCode(4503, "store", "What is kept of this conversation can't be reached right now: connect again.")
TOO_BIG = CloseCode(1009, "too_big", "A message is too big.")
