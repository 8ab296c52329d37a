"""The page that a browser sees while models are still being downloaded.

`show_loading` serves the page on the server's own socket, runs the download in a thread, and returns when the download
is done. Then the page reloads itself, and the real server responds. Rule: during the download no conversation can
begin, and `/readyz` says that the server isn't ready.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from duologue.core.errors import DuologueError

from . import static_files
from .run import QuietServer
from .static_files import SafeHeaders, web_files

PROBLEM_S = 3.0  # a failed download is shown this long before the server ends


@dataclass
class LoadingProgress:
    """The progress of a download. The downloading thread writes it, and the server reads it."""

    name: str
    """The name of the agent, for the page."""
    total_bytes: int = 0
    done_bytes: dict[str, int] = field(default_factory=dict)
    """The bytes that are downloaded, by package."""
    step: str = ""
    """What is being done now, such as "moonshine-tiny: unpacking"."""
    problem: str = ""

    def to_json(self) -> dict[str, Any]:
        done = min(sum(self.done_bytes.values()), self.total_bytes)
        return {
            "loading": True,
            "name": self.name,
            "doneBytes": done,
            "totalBytes": self.total_bytes,
            "step": self.step,
            "problem": self.problem,
        }


def loading_app(progress: LoadingProgress) -> SafeHeaders:
    """An app that serves the page, its files, and the progress of the download as JSON."""

    async def page(_: Request) -> Response:
        return FileResponse(static_files.WEB / "loading.html", media_type="text/html; charset=utf-8")

    async def status(_: Request) -> Response:
        return JSONResponse(progress.to_json())

    async def health(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readiness(_: Request) -> Response:
        return PlainTextResponse("loading\n", status_code=503)

    routes = [
        Route("/", page),
        Route("/loading.json", status),
        Route("/healthz", health),
        Route("/readyz", readiness),
        Mount("/", web_files(), name="web"),
    ]
    return SafeHeaders(Starlette(routes=routes))


async def show_loading(
    listening: socket.socket, progress: LoadingProgress, work: Callable[[], None], opened: Callable[[], None]
) -> None:
    """Run `work` in a thread, and serve the page until `work` is done. `opened` is called when the page can be opened.
    Raises the exception that `work` raises; if it is a DuologueError, its message is shown on the page first."""
    loop = asyncio.get_running_loop()
    config = uvicorn.Config(
        loading_app(progress), log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    server = QuietServer(config)
    serving = loop.create_task(server.serve([listening.dup()]), name="loading page")
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        opened()
        await _in_daemon_thread(work)
    except DuologueError as problem:
        progress.problem = str(problem)
        await asyncio.sleep(PROBLEM_S)
        raise
    finally:
        server.should_exit = True
        await serving


async def _in_daemon_thread(work: Callable[[], None]) -> None:
    """Run `work` in a thread that doesn't keep the process alive: Ctrl-C ends a download immediately."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def settle(problem: BaseException | None) -> None:
        if not done.done():
            done.set_exception(problem) if problem is not None else done.set_result(None)

    def run() -> None:
        problem: BaseException | None = None
        try:
            work()
        except BaseException as raised:  # noqa: BLE001 - it is raised again by `await done`
            problem = raised
        loop.call_soon_threadsafe(settle, problem)

    threading.Thread(target=run, name="loading", daemon=True).start()
    await done
