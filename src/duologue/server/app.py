"""The server as an ASGI app: every route and its handler.

Rule: this module only connects the parts of the server: each handler is short, or calls a function of another module.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from duologue.core.errors import DuologueError
from duologue.draw import names, render
from duologue.fairness.fair_queue import QueueFull
from duologue.fairness.fair_threads import REPLAYS
from duologue.fairness.work_pauses import with_pauses
from duologue.observe.prometheus import CONTENT_TYPE
from duologue.replay.journal import InvalidJournal, read_journal, replay
from duologue.runtime.agent_source import AgentOrMaker

from .access_control import AccessControl
from .client_socket import Gate
from .connection_limit import ConnectionLimit
from .conversations import Conversations
from .credentials import admit, bearer, is_own_page, may_operate
from .debug_steps import STEPS_MAX, UntrueJournal, is_worth_showing, settings_of, steps_to_json, table
from .embed import embed_answer, sharing_headers
from .leases import Leases
from .limit_news import LimitNews
from .limited_caller import now_ms
from .request_limit import RequestLimit
from .served_conversation import ServedConversation
from .settings import ServerSettings
from .siblings import ALONE, Siblings
from .slow_answers import LIMIT as SLOW_REQUESTS
from .slow_answers import Answer, SlowAnswers
from .slow_requests import BodyTimeout
from .static_files import SafeHeaders, index, web_files
from .stopped_requests import StoppedRequests

LOG = logging.getLogger("duologue.server")
_NOT_OWN = (403, "This server is not reached under this name or from this page: name its origin with --origin.")
_FOR_OPERATORS = "This is for operators: send the operator's token as Authorization: Bearer TOKEN (--operator-token)."


class Server:
    """One server: its conversations and its routes. `app` is the ASGI application."""

    def __init__(
        self,
        agent: AgentOrMaker,
        settings: ServerSettings | None = None,
        routes: Sequence[BaseRoute] = (),
        leases: Leases | None = None,
        siblings: Siblings = ALONE,
    ) -> None:
        self.settings = (settings or ServerSettings()).guarded()
        self.conversations = Conversations(agent, self.settings, leases, siblings)
        self.connection_limit = ConnectionLimit(
            self.conversations.shared_limits, self.settings.trusted_proxies, self.conversations.note_refused
        )
        self.access = AccessControl(
            self.settings, self.conversations.shared_limits, self.connection_limit, self.conversations.note_refused
        )
        self._slow = SlowAnswers(self.access.address_of, self.conversations.note_refused)
        files = web_files()
        gate = Gate(self.conversations, self.settings, self.access)
        self._starlette = Starlette(
            routes=[
                Route("/", self._own(self._index)),
                Route("/healthz", self._health),
                Route("/readyz", self._readiness),
                Route("/metrics", self._own(self._for_operators(self._metrics))),
                Route("/conversations/{id}/journal", self._own(self._journal)),
                Route(
                    "/debug/replay", self._own(self._for_operators(self._slow.bounded(self._replay))), methods=["POST"]
                ),
                Route("/debug/diagram/{name}.svg", self._own(self._for_operators(self._slow.bounded(self._diagram)))),
                Route("/embed/check", self._embed),
                WebSocketRoute("/ws", gate),
                *routes,
                Mount("/", OwnPages(files, self.settings), name="web"),
            ]
        )
        in_time = BodyTimeout(self._starlette, self.settings.limits.request_s_max, self.conversations.note_refused)
        limited = RequestLimit(StoppedRequests(in_time), self.access, self.settings.limits, files.has)
        self.app = SafeHeaders(limited)  # outermost, so that error responses have these headers too

    def add_routes(self, routes: Sequence[BaseRoute]) -> None:
        """Add routes, such as those of a carrier. They are inserted before the route of the panel's files, because that
        route matches every path."""
        self._starlette.router.routes[-1:-1] = routes

    # -- Handlers

    async def _index(self, _: Request) -> Response:
        return index()

    async def _embed(self, request: Request) -> Response:
        return embed_answer(request, self.settings, self.conversations.agent_name)

    async def _health(self, _: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def _readiness(self, _: Request) -> Response:
        if self.conversations.is_draining or self.conversations.starts.is_full:
            why = "stopping" if self.conversations.is_draining else "full"
            return PlainTextResponse(f"{why}\n", status_code=503)
        return PlainTextResponse("ready\n")

    async def _metrics(self, _: Request) -> Response:
        text = await self.conversations.siblings.metrics(self.own_metrics())
        return Response(text, media_type=CONTENT_TYPE)

    def own_metrics(self) -> str:
        """The metrics of this process, as text."""
        return self.conversations.tally.text() + self.conversations.gauges()

    def share_calls(self, is_shared: bool) -> None:
        """Start or stop telling the server's other processes which conversations run in this process."""
        self.conversations.switchboard.share(is_shared)

    def note_calls(self, process: int, calls: Sequence[dict[str, Any]]) -> None:
        """Note the list of conversations that run in another process of this server."""
        self.conversations.switchboard.note_elsewhere(process, calls)

    def note_limits(self, process: int, news: Iterable[LimitNews]) -> None:
        """Process reports of another process of this server on what addresses have used of their limits."""
        for one in news:
            self.conversations.shared_limits.note(process, one, now_ms())

    def all_limits(self) -> Iterable[LimitNews]:
        """What every address uses of its limits now, for a process that has just started."""
        return self.conversations.shared_limits.everything(now_ms())

    def drop_limits(self, process: int) -> None:
        """Forget the connections and conversations that another process of this server counted, because it has
        ended."""
        self.conversations.shared_limits.drop(process)

    async def _journal(self, request: Request) -> Response:
        conversations, id_ = self.conversations, request.path_params["id"]
        served = conversations.served.get(id_) or conversations.past.get(id_)
        if served is None:
            process = await conversations.siblings.find("", id_)
            if process is not None and conversations.siblings.give_request(dict(request.scope), process):
                return GivenAway()
        if served is None or not self._may_read(request, served):
            return await self._refuse(request, 404, "This conversation doesn't exist, or the key is wrong.")
        name = f"{served.began:%Y%m%d-%H%M%S}.jsonl"

        def journal() -> Response:
            try:
                text = served.screen.log.journal(served.is_over)
            except UntrueJournal as problem:
                return _refusal(500, f"The journal can't be made: {problem}.")
            return PlainTextResponse(text, headers={"content-disposition": f'attachment; filename="{name}"'})

        return await self._slow.bounded(lambda one: self._in_thread(one, journal))(request)

    async def _replay(self, request: Request) -> Response:
        limit = self.settings.limits.replay_bytes_max
        data = bytearray()
        async for piece in request.stream():
            data += piece
            if len(data) > limit:
                return _refusal(413, f"The journal is larger than {limit >> 20} MiB.")
        return await self._in_thread(request, lambda: replay_response(bytes(data)))

    async def _diagram(self, request: Request) -> Response:
        name = PurePosixPath(request.path_params["name"]).name
        if name not in names():
            return _refusal(404, f"Unknown diagram; choose one of {', '.join(names())}.")
        return await self._in_thread(request, lambda: Response(_draw(name), media_type="image/svg+xml"))

    async def _in_thread(self, request: Request, work: Callable[[], Response]) -> Response:
        """Run slow work in a thread, so that it doesn't delay conversations. If work from several addresses is queued,
        the addresses take turns."""
        address = self.access.address_of(dict(request.scope))
        try:
            return await REPLAYS.run_for(address, work)
        except QueueFull:
            self.conversations.note_refused(SLOW_REQUESTS)
            return _refusal(429, "Your address has too many requests of this kind: try again when one is answered.")

    # -- Authorization

    def _own(self, answer: Answer) -> Answer:
        """Make a handler that calls `answer` only if the request's Host and Origin are this server's own, and otherwise
        refuses the request."""

        async def answer_if_own(request: Request) -> Response:
            return await answer(request) if is_own_page(dict(request.scope), self.settings) else _refusal(*_NOT_OWN)

        return answer_if_own

    def _for_operators(self, answer: Answer) -> Answer:
        """Make a handler that calls `answer` only for operators, and refuses everyone else."""

        async def answer_if_operator(request: Request) -> Response:
            scope = dict(request.scope)
            if not may_operate(bearer(scope), scope, self.settings):
                is_caller = admit(bearer(scope), scope, self.settings, self.conversations.agent_name, time.time())
                return _refusal(403, _FOR_OPERATORS) if is_caller else await self._refuse(request, 401, _FOR_OPERATORS)
            return await answer(request)

        return answer_if_operator

    def _may_read(self, request: Request, served: ServedConversation) -> bool:
        """May this request read the conversation's journal? The conversation's own caller may, and so may operators."""
        scope, presented = dict(request.scope), bearer(dict(request.scope))
        if may_operate(presented, scope, self.settings) and self.settings.operator_token:
            return True
        admission = admit(presented, scope, self.settings, self.conversations.agent_name, time.time())
        return admission is not None and served.is_key(request.headers.get("x-conversation-key", ""), admission.user)

    async def _refuse(self, request: Request, status: int, why: str) -> Response:
        """Refuse a request. If it presented a token or a key, log that, and wait before the refusal is sent."""
        scope = dict(request.scope)
        if bearer(scope) or "x-conversation-key" in request.headers:
            await self.access.refuse_late(scope)
        return _refusal(status, why)


class OwnPages:
    """An ASGI app that serves only requests whose Host and Origin are this server's own, or are allowed."""

    def __init__(self, inner: Any, settings: ServerSettings) -> None:
        self._inner = inner
        self._settings = settings

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not is_own_page(scope, self._settings):
            await _refusal(*_NOT_OWN)(scope, receive, send)
            return

        async def send_shared(event: Any) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], *sharing_headers(scope)]}
            await send(event)

        await self._inner(scope, receive, send_shared)


class GivenAway(Response):
    """The response for a connection that was given to another process. It sends nothing, because that process answers
    the request, and it is over when this process has lost the connection: uvicorn logs an error if it ends before."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002
        while (await receive())["type"] != "http.disconnect":
            pass


@cache
def _draw(name: str) -> str:
    return render(name, "svg")


def replay_response(data: bytes) -> Response:
    """Replay an uploaded journal (the recorded events of a conversation). Returns the newest steps of the journal as
    JSON. If the journal can't be replayed, the response has status 422 and says why."""
    try:
        journal = read_journal(with_pauses(data.decode().splitlines(keepends=True)), complete=False)
        newest = deque((record for record in with_pauses(replay(journal)) if is_worth_showing(record)), STEPS_MAX)
    except UnicodeDecodeError:
        return _refusal(422, "The journal isn't a text file in UTF-8.")
    except RecursionError:
        return _refusal(422, "This isn't a journal: a value in it is nested too deeply.")
    except (InvalidJournal, DuologueError) as problem:
        return _refusal(422, str(problem))
    return JSONResponse(
        {
            **table(),
            "settings": settings_of(journal.settings),
            "moments": steps_to_json(with_pauses(newest)),
            "agrees": True,
            "events": len(journal.entries),
        }
    )


def _refusal(status: int, why: str) -> Response:
    readable = why.encode("utf-8", "backslashreplace").decode()  # the reason may quote a lone surrogate
    return JSONResponse({"error": readable}, status_code=status)
