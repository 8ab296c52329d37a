"""Tries real clients of the Realtime and RTVI protocols, unchanged, against a server on this machine: `make interop`.

Each client runs as a process of its own, with its own packages (tools/interop). It speaks, interrupts, truncates and
runs a function. The table in docs/clients.md is written from what the server has seen. Rule: a client passes only if
the server's history says so too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FILES = ROOT / "tools" / "interop"
CACHE = ROOT / "build" / "interop"
PAGE = ROOT / "docs" / "clients.md"
CLIENT_S_MAX = 120.0
TOKEN = "the token of the interop run"
HEARS = ("tell me a story", "stop it now please", "what is the weather")


class Relay(NamedTuple):
    """How a client connects through a TURN server."""

    label: str
    addresses: tuple[str, str]  # the kinds of the client's and the server's address
    transport: str  # from the client to the TURN server


OVER_UDP = Relay("the page through TURN", ("relay", "host"), "udp")
OVER_TCP = Relay("the page through TURN over TCP", ("relay", "host"), "tcp")
BOTH_SIDES = Relay("both sides through TURN", ("relay", "relay"), "udp")


class Client(NamedTuple):
    """One client: its package, the file that runs it, how it truncates, and where it runs."""

    package: str
    file: str
    by: str  # who truncates: the client itself, the script as its application, or the server
    where: str = "Python"  # Python, node or Chromium
    protocol: str = "realtime"  # realtime or rtvi
    carrier: str = "websocket"  # websocket or webrtc
    relay: Relay | None = None  # a TURN server that it connects through

    @property
    def is_npm(self) -> bool:
        return self.where != "Python"

    @property
    def label(self) -> str:
        """The first cell of its row."""
        return f"`{self.package}` ({self.where}{f', {self.relay.label}' if self.relay else ''})"


def _realtime_page(package: str, relay: Relay | None = None) -> Client:
    """A client of the Realtime protocol over WebRTC."""
    return Client(package, "client_realtime_page.py", "server", "Chromium", "realtime", "webrtc", relay)


def _rtvi_page(package: str, carrier: str, relay: Relay | None = None) -> Client:
    return Client(package, "client_rtvi.py", "server", "Chromium", "rtvi", carrier, relay)


CLIENTS = {
    "openai": Client("openai", "client_openai.py", "application"),
    "openai-agents": Client("openai-agents", "client_openai_agents.py", "client"),
    "livekit": Client("livekit-plugins-openai", "client_livekit.py", "application"),
    "pipecat": Client("pipecat-ai", "client_pipecat.py", "client"),
    "npm-openai": Client("openai", "client_node_openai.mjs", "application", "node"),
    "npm-agents": Client("@openai/agents-realtime", "client_node_agents.mjs", "client", "node"),
    "npm-openai-webrtc": _realtime_page("openai"),
    "npm-agents-webrtc": _realtime_page("@openai/agents-realtime"),
    "npm-agents-turn": _realtime_page("@openai/agents-realtime", OVER_TCP),
    "npm-openai-turn": _realtime_page("openai", BOTH_SIDES),
    "rtvi": _rtvi_page("@pipecat-ai/websocket-transport", "websocket"),
    "rtvi-webrtc": _rtvi_page("@pipecat-ai/small-webrtc-transport", "webrtc"),
    "rtvi-turn": _rtvi_page("@pipecat-ai/small-webrtc-transport", "webrtc", OVER_UDP),
}


class Outcome(NamedTuple):
    """What the server has seen of one client."""

    turn: bool
    barge_in: bool
    truncated_ms: int | None
    tool: bool
    problems: tuple[str, ...]
    played_ms: int | None = None  # of what was cut, as the page has measured it

    @property
    def is_fine(self) -> bool:
        return self.turn and self.barge_in and self.truncated_ms is not None and self.tool and not self.problems


# -- Packages


def install(names: list[str]) -> None:
    """Install what the clients need, into build/interop. What is there is left alone."""
    CACHE.mkdir(parents=True, exist_ok=True)
    if any(CLIENTS[name].where == "Chromium" for name in names):
        subprocess.run(["sh", str(ROOT / "tools" / "ensure_chromium.sh")], check=True)
    if any(CLIENTS[name].relay for name in names):
        subprocess.run(["sh", str(ROOT / "tools" / "ensure_coturn.sh")], check=True)
    python = CACHE / "venv" / "bin" / "python"
    if any(not CLIENTS[name].is_npm for name in names) and not _is_current(python, "requirements.txt"):
        subprocess.run([sys.executable, "-m", "venv", str(CACHE / "venv")], check=True)
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "--requirement", str(FILES / "requirements.txt")], check=True)
        shutil.copy(FILES / "requirements.txt", CACHE / "requirements.txt")
    if any(CLIENTS[name].is_npm for name in names):
        for file in FILES.glob("*.mjs"):
            shutil.copy(file, CACHE / file.name)
        if not _is_current(CACHE / "node_modules", "package-lock.json"):
            shutil.copy(FILES / "package.json", CACHE / "package.json")
            shutil.copy(FILES / "package-lock.json", CACHE / "package-lock.json")
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=CACHE, check=True)


def _is_current(made: Path, lock: str) -> bool:
    kept = CACHE / lock
    return made.exists() and kept.is_file() and kept.read_bytes() == (FILES / lock).read_bytes()


def versions() -> dict[str, str]:
    """The versions of the clients, as the lock files have them."""
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)$", (FILES / "requirements.txt").read_text(), re.MULTILINE))
    node = json.loads((FILES / "package-lock.json").read_text())["packages"]
    found = {}
    for name, client in CLIENTS.items():
        found[name] = node[f"node_modules/{client.package}"]["version"] if client.is_npm else pinned[client.package]
    return found


# -- One client


async def try_client(name: str) -> Outcome:
    """Run one client against a server of its own, and with a TURN server of its own if it needs one."""
    from tools.interop.turn_relay import SECRET, turn_relay

    from duologue.lines.webrtc.ice_servers import IceServers
    from duologue.server.settings import WebRtcSettings

    relay = CLIENTS[name].relay
    if relay is None:
        return await _try(name, WebRtcSettings())
    with turn_relay() as url:
        servers = IceServers((f"{url}?transport={relay.transport}",), SECRET)
        return await _try(name, WebRtcSettings(ice_servers=servers))


async def _try(name: str, webrtc: Any) -> Outcome:
    from duologue.server.app import Server
    from duologue.server.listening import bind_socket
    from duologue.server.realtime import socket as realtime_socket
    from duologue.server.realtime.routes import realtime_routes
    from duologue.server.rtvi.routes import rtvi_routes
    from duologue.server.run import serving
    from duologue.server.settings import Limits, ServerSettings

    agent = _agent(CLIENTS[name].protocol)
    listening = bind_socket("127.0.0.1", 0)
    with bind_socket("127.0.0.1", 0) as free:
        page_port = free.getsockname()[1]
    origins = (f"http://127.0.0.1:{page_port}",)
    settings = ServerSettings(port=0, token=TOKEN, origins=origins, limits=Limits(drain_s_max=0.1), webrtc=webrtc)
    server = Server(agent, settings)
    server.add_routes([*realtime_routes(server), *rtvi_routes(server)])
    port = listening.getsockname()[1]
    truncations: list[Any] = []
    read = realtime_socket.read_event

    def noted(text: str | bytes) -> Any:
        event = read(text)
        if type(event).__name__ == "ItemTruncate":
            truncations.append(event)
        return event

    realtime_socket.read_event = noted
    try:
        async with serving(server, listening), _over_tls(port) as tls_port:
            printed, code = await _run(CLIENTS[name], port, tls_port, page_port)
            await server.conversations.drain()
    finally:
        realtime_socket.read_event = read
    is_truncated = bool(truncations) or CLIENTS[name].by == "server"
    return judge(agent.brain.requests, is_truncated, printed, code)


def _agent(protocol: str) -> Any:
    """The agent for one client. RTVI clients don't declare their functions, so the agent does."""
    from tests.server.realtime.tone_agent import tone_agent

    from duologue import Context, Hooks, client_tool
    from duologue.ports.client_channel import ProgramMessage

    if protocol == "realtime":
        return tone_agent(hears=list(HEARS))

    @client_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""

    async def answer(context: Context[None], message: ProgramMessage) -> dict[str, Any]:
        if message.type != "ping":
            raise ValueError(f"unknown message {message.type}")
        context.send_to_client("a message")
        return {"pong": message.data["number"]}

    return tone_agent(hears=list(HEARS), tools=[get_weather], hooks=Hooks(on_message=answer))


def judge(requests: list[Any], is_truncated: bool, printed: str, code: int) -> Outcome:
    """What the server's own history says about the client."""
    lines = [line for line in printed.splitlines() if line.startswith("{")]
    told = json.loads(lines[-1]) if lines else {"failed": f"no report, exit code {code}: {printed[-600:]}"}
    history = requests[-1].history if requests else ()
    said = [item for item in history if type(item).__name__ == "AgentSaid"]
    cut = [item for item in said if item.interrupted and item.text.startswith("word1 ")]
    outputs = [output.output for request in requests for output in request.outputs]
    problems = [*told.get("errors", ()), *([told["failed"]] if "failed" in told else ())]
    return Outcome(
        turn=any("story" in request.text for request in requests),
        barge_in=bool(cut),
        truncated_ms=cut[0].heard_ms if cut and is_truncated else None,
        played_ms=told.get("playedMs"),
        tool="sunny" in " ".join(outputs),
        problems=tuple(str(problem) for problem in problems),
    )


async def _run(client: Client, port: int, tls_port: int, page_port: int) -> tuple[str, int]:
    commands = {
        "node": ["node", str(CACHE / client.file)],
        "Python": [str(CACHE / "venv/bin/python"), str(FILES / client.file)],
        "Chromium": [sys.executable, str(FILES / client.file)],
    }
    environment = {
        **os.environ,
        "URL": f"http://127.0.0.1:{port}/v1",
        "TLS_URL": f"https://localhost:{tls_port}/v1",
        "KEY": TOKEN,
        "PACKAGES": str(CACHE),
        "PAGE_PORT": str(page_port),
        "PACKAGE": client.package,
        "CARRIER": client.carrier,
        "ADDRESSES": json.dumps(client.relay.addresses if client.relay else None),
        "NODE_EXTRA_CA_CERTS": str(CACHE / "localhost.pem"),
        "NO_PROXY": "127.0.0.1,localhost",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }
    process = await asyncio.create_subprocess_exec(
        *commands[client.where], env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        printed, _ = await asyncio.wait_for(process.communicate(), CLIENT_S_MAX)
    except TimeoutError:
        process.kill()
        printed, _ = await process.communicate()
    return printed.decode(errors="replace"), process.returncode or 0


@asynccontextmanager
async def _over_tls(port: int) -> Any:
    """The same server over TLS, with a certificate of its own: one client connects in no other way."""
    certificate, key = CACHE / "localhost.pem", CACHE / "localhost.key"
    if not certificate.exists():
        names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", *names]
        subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    proxy = await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context)
    try:
        yield proxy.sockets[0].getsockname()[1]
    finally:
        proxy.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


# -- The table


HEAD = ["| client | version | spoken turn | barge-in | truncated at | function |", "|---|---|---|---|---|---|"]
TABLE = re.compile("<!-- interop -->\n(.*)<!-- /interop -->", re.DOTALL)


def rows(outcomes: dict[str, Outcome]) -> dict[str, str]:
    """The rows of the docs' table, by their first cell."""
    found, made = versions(), {}
    for name, outcome in outcomes.items():
        client = CLIENTS[name]
        cut = f"{outcome.truncated_ms} ms, by the {client.by}" if outcome.truncated_ms is not None else "no"
        if outcome.played_ms is not None:
            cut += f" (played: {outcome.played_ms} ms)"
        marks = ["yes" if one else "no" for one in (outcome.turn, outcome.barge_in, outcome.tool)]
        cells = [client.label, found[name], marks[0], marks[1], cut, marks[2]]
        made[cells[0]] = f"| {' | '.join(cells)} |"
    return made


def write_table(outcomes: dict[str, Outcome]) -> None:
    """Write the rows of these clients into the table in the docs. Rows of clients that weren't tried stay."""
    text = PAGE.read_text()
    found = TABLE.search(text)
    assert found is not None, f"{PAGE} has no place for the table"
    old = [line for line in found[1].splitlines() if line.startswith("| `")]
    merged = {line.split(" | ")[0].removeprefix("| "): line for line in old} | rows(outcomes)
    whole = "\n".join([*HEAD, *(merged[client.label] for client in CLIENTS.values() if client.label in merged)])
    PAGE.write_text(TABLE.sub(lambda _: f"<!-- interop -->\n\n{whole}\n\n<!-- /interop -->", text))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", nargs="*", help=f"which clients: {', '.join(CLIENTS)}; default: all")
    parser.add_argument("--no-install", action="store_true", help="use what is in build/interop")
    given = parser.parse_args()
    names = given.clients or list(CLIENTS)
    if not given.no_install:
        install(names)
    outcomes = {}
    for name in names:
        began = time.monotonic()
        outcomes[name] = outcome = asyncio.run(try_client(name))
        mark = "fine" if outcome.is_fine else f"FAILED {outcome}"
        sys.stdout.write(f"{name}: {mark} ({time.monotonic() - began:.0f} s)\n")
        sys.stdout.flush()
    if all(outcome.is_fine for outcome in outcomes.values()):
        write_table(outcomes)
    return 0 if all(outcome.is_fine for outcome in outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
