"""`duologue serve`: lets people talk to an agent in the browser.

Without a name, the command serves the demo, an agent that books flights. Rule: missing models are downloaded with a
progress bar. If anything else is missing, the error says what to install. The address is printed when the server is
ready.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.markup import escape

from duologue.core.errors import DuologueError
from duologue.models.catalogue import MODELS, megabytes
from duologue.runtime.agent import Agent

from .models import pull_with_progress
from .requirements import EARS_MODELS, Requirements, requirements_of_agent

if TYPE_CHECKING:
    from collections.abc import Callable

    from duologue.server.app import Server
    from duologue.server.leases import Leases

DEMO = "agent:agent"
DEMO_NAME = "Flight desk"
FLOWS = (".yaml", ".yml")
_ERR = Console(stderr=True, highlight=False)
_STOPPING = "[dim]Ctrl-C lets conversations end, then stops the server.[/]"


def serve_command(
    app: Annotated[
        str, typer.Argument(help="The agent as module:agent, or a flow file; without it, a demo that books flights.")
    ] = "",
    host: Annotated[
        str, typer.Option(help="The address to listen on; clients on other machines need the token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 chooses a free one.")] = 8765,
    token: Annotated[
        str, typer.Option(help="The secret that clients must present to connect.", envvar="DUOLOGUE_TOKEN")
    ] = "",
    origin: Annotated[list[str] | None, typer.Option(help="Also accept web pages of this origin; repeatable.")] = None,
    journals: Annotated[Path | None, typer.Option(help="Write a journal of every conversation to this folder.")] = None,
    conversations_max: Annotated[int, typer.Option(help="Refuse more concurrent conversations than this.")] = 500,
    drain_s: Annotated[float, typer.Option(help="Seconds that conversations get to end when the server stops.")] = 30.0,
    store: Annotated[
        str,
        typer.Option(
            help="Where conversations are stored: sqlite:, a path, postgresql://…, memory: or none.",
            envvar="DUOLOGUE_STORE",
        ),
    ] = "sqlite:",
    node: Annotated[str, typer.Option(help="This server's name among those that share a store.")] = "",
    keep_days: Annotated[
        int, typer.Option(min=1, help="Delete a conversation from the store this many days after it ended.")
    ] = 30,
    brain: Annotated[
        str,
        typer.Option(help="Use a speech-to-speech model as ears, brain and voice: realtime or realtime:MODEL."),
    ] = "",
    realtime_url: Annotated[
        str | None, typer.Option(help="The URL of the Realtime server: Azure's or any compatible one; default OpenAI.")
    ] = None,
    phone_url: Annotated[
        str,
        typer.Option(
            help="The public URL at which phone carriers reach this server; needs TWILIO_AUTH_TOKEN or "
            "TELNYX_PUBLIC_KEY, except at http://127.0.0.1 for simulated calls."
        ),
    ] = "",
    watch: Annotated[
        bool,
        typer.Option("--watch/--no-watch", help="Let operators watch all calls, from this machine or with the token."),
    ] = True,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve an agent: a web page to talk to it, and the WebSocket behind the page."""
    missing = _missing(app, brain)
    from duologue.server.app import Server
    from duologue.server.run import bind_socket, run, serve, server_url
    from duologue.server.settings import Limits, ServerSettings

    limits = Limits(conversations_max=conversations_max, drain_s_max=drain_s)
    settings = ServerSettings(host, port, token, tuple(origin or ()), journals, limits, watch)
    listening = bind_socket(host, port)
    if missing.models:
        _load_behind_page(listening, app, missing.models, browser)
    agent = _agent(app)
    make = _maker(agent, brain, realtime_url)
    server = Server(make, settings, leases=_leases(store, node, server_url(listening)))
    lines = _ready_lines(agent, server_url(listening), server.settings.token, not token)
    lines += [*_phones(server, make, phone_url, journals), _STOPPING]

    def ready() -> None:
        _ERR.print("\n  ".join(["", *lines, ""]))
        if browser and not missing.models:  # otherwise the page is already open
            webbrowser.open(server_url(listening, server.settings.token))

    run(serve(server, listening, ready, keep_days))


def _ready_lines(agent: Agent, url: str, token: str, is_own_token: bool) -> list[str]:
    """The lines that say where the agent is. A token is shown if the server made it, but not if the operator chose
    it."""
    shown = f"{url}?token={token}" if token and is_own_token else url
    lines = [f"[bold]{escape(agent.name) or 'Your agent'}[/] is at [bold cyan]{shown}[/]"]
    return lines if is_own_token else [*lines, "The page asks for your token: add ?token=… to the address."]


# -- What is missing


def _missing(app: str, brain: str) -> Requirements:
    """Find out what is missing to run the demo, a flow file or an agent's module. If extras are missing, raise an error
    with the commands to run. If models are missing, return them. For the user's own agent, first ask whether to
    download them."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
    if not app or app.endswith(FLOWS):
        missing = Requirements(("server", "speech", "flows", "nlu"), () if brain else _demo_models()).missing()
    else:
        missing = requirements_of_agent(app, ("server",)).missing()
    if missing.extras:
        raise DuologueError(
            "\n  ".join([f"{app or 'the demo'} needs more than is installed; run", *missing.commands()])
        )
    if missing.models and app and not app.endswith(FLOWS):
        _offer_to_pull(app, missing)
    return missing


def _demo_models() -> tuple[str, ...]:
    """The models of the demo and of flow files."""
    from duologue.voice.local import voice_model

    return (*EARS_MODELS, voice_model("en"), "minilm")


def _offer_to_pull(app: str, missing: Requirements) -> None:
    """Ask whether to download the models of the user's own agent. If the answer is no, or if there is no terminal,
    raise an error with the command to run."""
    command = missing.commands()[-1]
    size = megabytes(sum(MODELS[name].size_bytes for name in missing.models))
    if not sys.stdin.isatty():
        raise DuologueError(f"{app} needs models that are not here ({size} on disk); run `{command}`")
    if not typer.confirm(f"{app} needs {', '.join(missing.models)} ({size} on disk). Download now?", default=True):
        raise DuologueError(f"the models are missing; run `{command}`")


def _load_behind_page(listening: socket.socket, app: str, models: tuple[str, ...], browser: bool) -> None:
    """Download models while a page at the server's address shows the progress."""
    from duologue.models.pull import PullStage
    from duologue.server.loading import LoadingProgress, show_loading
    from duologue.server.run import run, server_url

    packages = {package for name in models for package in MODELS[name].packages}
    progress = LoadingProgress(app.partition(":")[0] or DEMO_NAME, sum(package.download_bytes for package in packages))

    def note(name: str, stage: PullStage, done_bytes: int, _total_bytes: int) -> None:
        progress.step = f"{name}: {stage}"
        if stage is PullStage.FETCHING:
            progress.done_bytes[name] = done_bytes

    def opened() -> None:
        _ERR.print(f"\n  The page is at [bold cyan]{server_url(listening)}[/] and shows the download.\n")
        if browser:
            webbrowser.open(server_url(listening))

    run(show_loading(listening, progress, lambda: pull_with_progress(models, _ERR, note), opened))


def _maker(agent: Agent, brain: str, url: str | None) -> Callable[[], Agent]:
    """A function that returns the agent of a conversation. A Realtime model serves only one conversation, so each
    conversation gets its own model."""
    kind, _, model = brain.partition(":")
    if kind not in ("", "realtime"):
        raise DuologueError(f"unknown brain {kind!r}: use realtime or realtime:MODEL")
    if not kind:
        return lambda: agent
    try:
        from duologue.brains.realtime import RealtimeModel
    except ModuleNotFoundError as missing:
        raise DuologueError(f"{missing}: pip install 'duologue[realtime]'") from None
    return lambda: replace(
        agent, brain=RealtimeModel(model or "gpt-realtime", url=url), ears=None, voice=None, session=None
    )


def _phones(server: Server, make: Callable[[], Agent], url: str, journals: Path | None) -> list[str]:
    """Add the phone routes to the server. Returns lines with the addresses to configure at each carrier whose secret is
    set."""
    if not url:
        return []
    try:
        from duologue.server.phone.routes import PhoneSettings, phone_routes
        from duologue.server.phone.settings import on_the_phone
        from duologue.server.settings import is_loopback
    except ModuleNotFoundError as missing:
        raise DuologueError(f"{missing}: pip install 'duologue[phone]'") from None
    settings = PhoneSettings(
        public_url=url,
        twilio_auth_token=os.environ.get("TWILIO_AUTH_TOKEN", ""),
        telnyx_public_key=os.environ.get("TELNYX_PUBLIC_KEY", ""),
        allow_unsigned=is_loopback(urlsplit(url).hostname or ""),  # for `duologue phone --to` on this machine
        journals=journals,
    )
    conversations = server.conversations

    def make_for_phone() -> Agent:
        agent = make()
        return replace(agent, profile=on_the_phone(agent.profile))

    routes = phone_routes(make_for_phone, settings, conversations.watch, lambda: not conversations.is_draining)
    server.add_routes(routes)
    shown = url.rstrip("/")
    streams = shown.replace("http", "ws", 1)
    return [
        f"{'webhook' if 'stream' not in path else 'stream '}  {(streams if 'stream' in path else shown)}{path}"
        for path in (getattr(route, "path", "") for route in routes)
    ]


def _leases(url: str, node: str, where: str) -> Leases | None:
    if url in ("", "none"):
        return None
    from duologue.server.leases import Leases
    from duologue.store.store_url import open_store

    return Leases(open_store(url), node or f"{socket.gethostname()}-{os.getpid()}", where)


def _agent(app: str) -> Agent:
    from duologue.runtime.find_agent import find_agent

    if not app:
        from duologue.starter.write_project import PROJECT

        sys.path.insert(0, str(PROJECT))
        return find_agent(DEMO)
    return _agent_of_flows(Path(app)) if app.endswith(FLOWS) else find_agent(app)


def _agent_of_flows(file: Path) -> Agent:
    """The agent of a flow file, with local ears and voice."""
    from duologue.flows import load_flows
    from duologue.flows.brain import FlowBrain
    from duologue.flows.find_functions import find_functions
    from duologue.runtime.agent import Phrases

    from .chat import find_nlu
    from .talk import with_speech

    domain = load_flows(file)
    brain = FlowBrain(domain, find_functions(file, None), find_nlu("local", None))
    opening = domain.patterns.help.format(
        flows=", ".join(f.description for f in domain.flows.values() if not f.is_hidden)
    )
    return replace(with_speech(Agent(brain, phrases=Phrases(greeting=f"Hello! {opening}"))), name=file.stem)
