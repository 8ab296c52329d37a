"""Limits how many slow requests are answered at the same time, such as journals that are made or replayed: in total,
and for one address.

A request has its place from its beginning until the client has read the whole answer, because until then the server
keeps the answer in memory. Rule: one address never has all places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

SLOW_MAX = 8  # at the same time
EACH_MAX = 4  # of one address
PIECE_BYTES = 65_536
_BUSY = "Other journals are being made or replayed: try again later."
_OWN = "Your address has too many requests of this kind: try again when one is answered."
LIMIT = "slow_requests"
Answer: TypeAlias = Callable[[Request], Awaitable[Response]]


class SlowAnswers:
    """The slow requests of one server process. `address_of` returns the address for which a request counts.
    `note_refused` is called with the limit's name for each refusal."""

    def __init__(self, address_of: Callable[[dict[str, Any]], str], note_refused: Callable[[str], None]) -> None:
        self._address_of = address_of
        self._note_refused = note_refused
        self._places: Counter[str] = Counter()  # by address

    def bounded(self, answer: Answer) -> Answer:
        """Make a handler that calls `answer` if there is a place for the request, and refuses it otherwise."""

        async def answer_later(request: Request) -> Response:
            return _SlowAnswer(self, answer, request)

        return answer_later

    async def answer(self, answer: Answer, request: Request, send: Any) -> None:
        """Answer the request, or refuse it. Returns when the client has read the answer."""
        address = self._address_of(dict(request.scope))
        refusal = None
        if self._places[address] >= EACH_MAX:
            refusal = JSONResponse({"error": _OWN}, status_code=429)
        elif self._places.total() >= SLOW_MAX:
            refusal = JSONResponse({"error": _BUSY}, status_code=503)
        if refusal is not None:
            self._note_refused(LIMIT)
            await refusal(request.scope, request.receive, send)
            return
        self._places[address] += 1
        try:
            await (await answer(request))(request.scope, request.receive, _in_pieces(send))
        finally:
            self._places[address] -= 1
            if not self._places[address]:
                del self._places[address]


class _SlowAnswer(Response):
    """A response that is made only when it is sent."""

    def __init__(self, slow: SlowAnswers, answer: Answer, request: Request) -> None:
        super().__init__()
        self._answer_with = slow.answer, answer, request

    async def __call__(self, _scope: Any, _receive: Any, send: Any) -> None:
        make, answer, request = self._answer_with
        await make(answer, request, send)


def _in_pieces(send: Any) -> Any:
    """A `send` that divides the body of a response into pieces. It waits while the client doesn't read; the server's
    own `send` returns at once, however large the body is."""

    async def send_pieces(message: dict[str, Any]) -> None:
        body = memoryview(message.get("body", b""))  # a part of it isn't copied
        while len(body) > PIECE_BYTES:
            await send({**message, "body": bytes(body[:PIECE_BYTES]), "more_body": True})
            body = body[PIECE_BYTES:]
        await send({**message, "body": bytes(body)} if body else message)

    return send_pieces
