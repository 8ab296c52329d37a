"""Why the server closes a socket: a WebSocket close code and one sentence for each reason (docs/protocol.md).

Rule: a reason contains nothing that a client sent.
"""

from __future__ import annotations

from typing import NamedTuple


class CloseCode(NamedTuple):
    """One reason to close a socket. Names are unique, but some reasons share a code."""

    code: int
    name: str
    reason: str  # at most 123 bytes: the limit of a WebSocket close frame


BAD_MESSAGE = CloseCode(4400, "bad_message", "Too many invalid messages.")
NO_TOKEN = CloseCode(4401, "token", "This server requires its token: open the address that it printed.")
TICKET_OVER = CloseCode(4401, "ticket_over", "This ticket is over: get a new one.")
WRONG_ORIGIN = CloseCode(4403, "origin", "Pages from another origin may not connect to this server.")
NO_HELLO = CloseCode(4408, "no_hello", "The client sent no hello in time.")
SILENT = CloseCode(4408, "silent", "The client sent nothing for a long time: connect again.")
SEAT_TAKEN = CloseCode(4409, "seat_taken", "This conversation is open in another tab or window.")
TAKEN_OVER = CloseCode(4410, "taken_over", "The conversation continues in another tab or window.")
WRONG_VERSION = CloseCode(4426, "version", "The page and the server have different versions: reload the page.")
TOO_FAST = CloseCode(4429, "too_fast", "Too many messages within a second.")
TOO_MANY = CloseCode(4429, "too_many", "This server has too many conversations: try again later.")
SLOW_READER = CloseCode(4508, "slow_reader", "The client doesn't read what the server sends.")
STOPPING = CloseCode(4503, "stopping", "The server is stopping: connect again.")
MOVED = CloseCode(4503, "moved", "The conversation has moved to another server: connect again.")
NO_STORE = CloseCode(4503, "store", "The stored conversation can't be reached right now: connect again.")
TOO_BIG = CloseCode(1009, "too_big", "A message is too large.")
