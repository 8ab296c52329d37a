"""An MCP server that runs errands for the tests: `python mcp_errand_server.py`, or `... http PORT`.

Over HTTP it prints the port that it got. Paths under /status/ answer with that status, like a server
that is locked or busy.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections import defaultdict
from typing import Annotated, Any, Literal

import uvicorn
from mcp import MCPError
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import INVALID_PARAMS
from pydantic import BaseModel

server = MCPServer("errands", log_level="ERROR")
cancelled: dict[str, asyncio.Event] = defaultdict(asyncio.Event)


class Weather(BaseModel):
    city: str
    degrees: int


class Size(BaseModel):
    size: str


class Dough(BaseModel):
    dough: Literal["thick", "thin"]


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(name="files.find")
def files_find(pattern: str, where: Literal["here", "there"] = "here") -> str:
    """Find files."""
    return f"{pattern} {where}"


@server.tool()
def weather(city: str) -> Weather:
    """The weather."""
    return Weather(city=city, degrees=21)


@server.tool(structured_output=False)
def picture() -> list[Any]:
    """A picture."""
    return ["Here it is.", Image(data=b"\x89PNG" * 1000, format="png")]


@server.tool()
def nothing() -> None:
    """Does nothing."""


@server.tool()
async def long_errand(token: str, ctx: Context) -> str:
    """An errand that never ends by itself."""
    await ctx.report_progress(1, 4, "a quarter")
    await ctx.report_progress(2, 4, "half way")
    await ctx.report_progress(3)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        cancelled[token].set()
        raise
    return "never"


@server.tool()
async def was_cancelled(token: str) -> bool:
    """Whether that errand was cancelled, as soon as it was."""
    async with asyncio.timeout(120):
        return await cancelled[token].wait()


@server.tool()
def empty_till() -> str:
    """Fails."""
    raise ToolError("the till is empty")


@server.tool()
def no_shelf() -> str:
    """Finds fault with its arguments by itself."""
    raise MCPError(INVALID_PARAMS, "there is no such shelf")


@server.tool()
def pid() -> int:
    """The number of this process."""
    return os.getpid()


@server.tool()
def variable(name: str) -> str:
    """A variable of this process's environment."""
    return os.environ.get(name, "none")


@server.tool()
def header(name: str, ctx: Context) -> str:
    """A header of this request."""
    return (ctx.headers or {}).get(name, "")


def ask_size() -> Elicit[Size]:
    return Elicit("What size?", Size)


def ask_dough() -> Elicit[Dough]:
    return Elicit("Thick or thin?", Dough)


@server.tool()
def order_pizza(size: Annotated[Size, Resolve(ask_size)]) -> str:
    """Order a pizza; asks for its size."""
    return f"one {size.size} pizza"


@server.tool()
def choose_dough(dough: Annotated[Dough, Resolve(ask_dough)]) -> str:
    """Choose the dough from a list."""
    return dough.dough


async def serve(port: int) -> None:
    app = server.streamable_http_app()

    async def entrance(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/status/"):
            status = int(scope["path"].split("/")[2])
            await send({"type": "http.response.start", "status": status, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    bound = socket.socket(proto=socket.IPPROTO_TCP)  # asyncio looks at it before it switches Nagle off
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    bound.listen()
    print(bound.getsockname()[1], flush=True)  # noqa: T201 - the tests wait for it
    await uvicorn.Server(uvicorn.Config(entrance, log_level="error")).serve(sockets=[bound])


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        asyncio.run(serve(int(sys.argv[2])))
    else:
        server.run()
