"""Why a socket is closed: one code and one plain sentence for each reason (docs/protocol.md).

Rule: a reason holds nothing that a client sent.
"""

from __future__ import annotations

from typing import NamedTuple


class Goodbye(NamedTuple):
    code: int
    name: str
    reason: str  # at most 123 bytes, as WebSockets have it


BAD_MESSAGE = Goodbye(4400, "bad_message", "Too many messages that are not of this protocol.")
NO_TOKEN = Goodbye(4401, "token", "This server wants its token: open the address that it printed.")
WRONG_ORIGIN = Goodbye(4403, "origin", "A page of another origin may not talk to this server.")
NO_HELLO = Goodbye(4408, "no_hello", "No hello came in time.")
SEAT_TAKEN = Goodbye(4409, "seat_taken", "This conversation is open in another tab or window.")
TAKEN_OVER = Goodbye(4410, "taken_over", "The conversation goes on in another tab or window.")
WRONG_VERSION = Goodbye(4426, "version", "Page and server are of different versions: reload the page.")
TOO_FAST = Goodbye(4429, "too_fast", "Too many messages within a second.")
TOO_MANY = Goodbye(4429, "too_many", "Too many conversations are going on here: try again in a while.")
SLOW_READER = Goodbye(4508, "slow_reader", "The client does not read what it is sent.")
STOPPING = Goodbye(4503, "stopping", "The server is stopping: connect again.")
MOVED = Goodbye(4503, "moved", "Another server has this conversation now: connect again.")
NO_STORE = Goodbye(4503, "store", "What is kept of this conversation can't be reached right now: connect again.")
TOO_BIG = Goodbye(1009, "too_big", "A message is too big.")
