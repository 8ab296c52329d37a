"""Checks the heads of HTTP requests before they are parsed.

A line of a head takes a hundred times as long to parse as the same number of bytes of a body, and so does each chunk of
a body in chunks. Without limits, one client could keep the server busy with lines or with chunks of one byte. So a head
may have only so many bytes and lines, and a body must say its length in its head. Rule: this module only reads. Where
it finds a complete head, the server's parser finds the same head or refuses the request.
"""

from __future__ import annotations

import re

from duologue.core.errors import DuologueError

HEAD_BYTES_MAX = 32_768
HEAD_LINES_MAX = 100
TOGETHER_MAX = 50  # heads that come together, before the first of these requests is answered
_END = re.compile(rb"\n\r?\n")
_CHUNKED = re.compile(rb"\ntransfer-encoding", re.IGNORECASE)
_LENGTH = re.compile(rb"\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)


class HeadRefused(DuologueError):
    """A request can't be accepted. The exception has the HTTP status, and the message is one sentence for people."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class RequestHeads:
    """The heads of all requests on one connection."""

    def __init__(self) -> None:
        self.count = 0  # of complete heads
        self.body_left = 0  # bytes of the newest request's body that are still to come
        self._head = b""  # the beginning of a head that isn't complete

    def check(self, data: bytes) -> None:
        """Check what has just come over the connection. Raises HeadRefused before a head that can't be accepted, or its
        body, is parsed."""
        at = min(self.body_left, len(data))
        self.body_left -= at
        rest, self._head = self._head + data[at:], b""
        searched = len(rest) - len(data) + at
        at = heads = 0
        while (end := _END.search(rest, max(at, searched - 2))) is not None:
            body = self._length_of(rest[at : end.end()])
            heads, self.count = heads + 1, self.count + 1
            if heads > TOGETHER_MAX:
                raise HeadRefused("429 Too Many Requests", "Too many requests came together: wait for an answer.")
            at = min(len(rest), end.end() + body)
            self.body_left = end.end() + body - at
        self._head = rest[at:]
        if self._head:
            self._length_of(self._head)

    def _length_of(self, head: bytes) -> int:
        """Check a head, or its beginning. Returns the length of the body, as far as it is known."""
        if len(head) > HEAD_BYTES_MAX or head.count(b"\n") > HEAD_LINES_MAX:
            message = f"The head of the request has more than {HEAD_BYTES_MAX} bytes or {HEAD_LINES_MAX} lines."
            raise HeadRefused("431 Request Header Fields Too Large", message)
        if _CHUNKED.search(head):
            raise HeadRefused("411 Length Required", "The request must say its length: send Content-Length.")
        found = _LENGTH.search(head)
        return int(found[1]) if found else 0
