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
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

import typer
from rich.console import Console

from duologue.core.errors import DuologueError
from duologue.models.catalogue import MODELS, megabytes
from duologue.observe.prices import read_prices
from duologue.server.listening import bind_socket, server_url
from duologue.server.processes.capacity import choose_count, read_capacity, this_system
from duologue.server.processes.channel import is_one_of_several
from duologue.server.settings import Limits, ServerSettings, WebhookSettings, is_loopback

from .models import pull_with_progress
from .requirements import EARS_MODELS, Requirements, requirements_of_agent
from .serve_observers import (
    ConsentOption,
    LogOption,
    OtelOption,
    PricesOption,
    RecordFormatOption,
    RecordOption,
    check_recording,
)
from .serve_processes import run_processes, serve_process
from .serve_webrtc import IceServerUrl, SocketOpus, WebRtc, WebRtcAddress, webrtc_settings
from .served_agent import (
    FLOWS,
    ServeOptions,
    make_server,
)

DEMO_NAME = "Flight desk"
_ERR = Console(stderr=True, highlight=False)
_NO_NAME = "No agent was named, so this is the demo, which books flights. Yours: duologue serve module:agent"
_STOPPING = "Ctrl-C lets conversations end, then stops the server."

CallersToken: TypeAlias = Annotated[
    str, typer.Option(help="The secret that callers must present, 16 characters or more.", envvar="DUOLOGUE_TOKEN")
]
OperatorsToken: TypeAlias = Annotated[
    str,
    typer.Option(
        help="The secret with which operators watch calls and read metrics, journals and debug pages.",
        envvar="DUOLOGUE_OPERATOR_TOKEN",
    ),
]
TicketKey: TypeAlias = Annotated[
    str,
    typer.Option(help="The key that signs callers' tickets (duologue ticket).", envvar="DUOLOGUE_TICKET_KEY"),
]
StoreUrl: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Where conversations are stored: sqlite:, a path, postgresql://…, memory: or none.",
        envvar="DUOLOGUE_STORE",
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="How many processes serve on this port; each loads its own models. Default: one for each core, one "
        "for the demo.",
        envvar="DUOLOGUE_WORKERS",
    ),
]
PhoneUrl: TypeAlias = Annotated[
    str,
    typer.Option(
        help="The public URL at which phone carriers reach this server; needs TWILIO_AUTH_TOKEN or "
        "TELNYX_PUBLIC_KEY, except at http://127.0.0.1 for simulated calls."
    ),
]

RealtimeClients: TypeAlias = Annotated[
    bool,
    typer.Option("--realtime", help="Also serve clients of the OpenAI Realtime protocol, at /v1/realtime."),
]
RtviClients: TypeAlias = Annotated[
    bool,
    typer.Option("--rtvi", help="Also serve RTVI clients, such as @pipecat-ai/client-js, at /rtvi."),
]
TellWatched: TypeAlias = Annotated[
    bool, typer.Option("--tell-watched", help="Tell callers in the browser while an operator watches them.")
]
ContextQuery: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Let the agent see this parameter of a client's URL; repeatable.")
]
ContextHeader: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Let the agent see this header of a client's request; repeatable.")
]
Webhook: TypeAlias = Annotated[
    str,
    typer.Option(
        help="Send the events of calls to this URL, signed with DUOLOGUE_WEBHOOK_SECRET.",
        envvar="DUOLOGUE_WEBHOOK",
    ),
]
TrustedProxy: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="A balancer or proxy in front of this server, as an address or a network: its X-Forwarded-For says "
        "who the caller is; repeatable."
    ),
]
KeepDays: TypeAlias = Annotated[
    int, typer.Option(min=1, help="Delete conversations and journals this many days after they were last written.")
]
BrainName: TypeAlias = Annotated[
    str, typer.Option(help="Use a speech-to-speech model as ears, brain and voice: realtime or realtime:MODEL.")
]
RealtimeUrl: TypeAlias = Annotated[
    str | None, typer.Option(help="The URL of the Realtime server: Azure's or any compatible one; default OpenAI.")
]

ServedApp: TypeAlias = Annotated[
    str, typer.Argument(help="The agent as module:agent, or a flow file; without it, a demo that books flights.")
]
Host: TypeAlias = Annotated[
    str, typer.Option(help="The address to listen on; clients on other machines need the token.")
]


def serve_command(
    app: ServedApp = "",
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 chooses a free one.")] = 8765,
    token: CallersToken = "",
    operator_token: OperatorsToken = "",
    ticket_key: TicketKey = "",
    origin: Annotated[
        list[str] | None, typer.Option(help="Also accept connections from web pages of this origin; repeatable.")
    ] = None,
    journals: Annotated[Path | None, typer.Option(help="Write a journal of every conversation to this folder.")] = None,
    log: LogOption = None,
    otel: OtelOption = False,
    prices: PricesOption = None,
    record: RecordOption = None,
    record_consent: ConsentOption = "",
    record_format: RecordFormatOption = "wav",
    conversations_max: Annotated[
        int, typer.Option(help="How many conversations may run at once; more are refused.")
    ] = 500,
    drain_s: Annotated[float, typer.Option(help="Seconds that conversations get to end when the server stops.")] = 30.0,
    store: StoreUrl = "sqlite:",
    node: Annotated[str, typer.Option(help="This server's name among those that share a store.")] = "",
    workers: Workers = None,
    keep_days: KeepDays = 30,
    brain: BrainName = "",
    realtime_url: RealtimeUrl = None,
    phone_url: PhoneUrl = "",
    realtime: RealtimeClients = False,
    rtvi: RtviClients = False,
    webrtc: WebRtc = True,
    ice_server: IceServerUrl = None,
    webrtc_address: WebRtcAddress = "",
    opus: SocketOpus = None,
    watch: Annotated[bool, typer.Option("--watch/--no-watch", help="Let operators watch all calls.")] = True,
    context_query: ContextQuery = None,
    context_header: ContextHeader = None,
    webhook: Webhook = "",
    trusted_proxy: TrustedProxy = None,
    tell_watched: TellWatched = False,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve an agent: a web page to talk to it, and the WebSocket behind the page."""
    settings = ServerSettings(
        host,
        port,
        token,
        tuple(origin or ()),
        journals,
        Limits(conversations_max=conversations_max, drain_s_max=drain_s),
        context_query=tuple(context_query or ()),
        context_headers=tuple(context_header or ()),
        webhook=WebhookSettings(webhook, os.environ.get("DUOLOGUE_WEBHOOK_SECRET", "")) if webhook else None,
        watchable=watch,
        trusted_proxies=tuple(trusted_proxy or ()),
        operator_token=operator_token,
        ticket_key=ticket_key,
        tells_watched=tell_watched,
        public=bool(phone_url) and not is_loopback(urlsplit(phone_url).hostname or ""),
        prices=read_prices(prices) if prices is not None else None,
        recordings=record,
        webrtc=webrtc_settings(webrtc, ice_server, webrtc_address, os.environ),
        opus=opus,
    ).guarded()
    recording = check_recording(record, record_consent, record_format, keep_days)
    options = ServeOptions(
        app, store, node, brain, realtime_url, phone_url, log, otel, *recording, realtime=realtime, rtvi=rtvi
    )
    _serve(options, settings, keep_days, workers, browser, is_own_token=not token)


def _serve(
    options: ServeOptions,
    settings: ServerSettings,
    keep_days: int,
    workers: int | None,
    browser: bool,
    is_own_token: bool,
) -> None:
    """Download what is missing and serve the agent, either in this process or in several server processes that this one
    starts. If this process is itself one of several server processes, it downloads nothing and only serves."""
    if is_one_of_several():
        serve_process(options, settings, keep_days)
        return
    missing = _missing(options.app, options.brain)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s", datefmt="%H:%M:%S")
    count, note = choose_count(workers, options.store, not options.app, read_capacity, this_system())
    listening = bind_socket(settings.host, settings.port)
    if missing.models:
        _load_behind_page(listening, options.app, missing.models, browser)

    def announce(served: Sequence[str]) -> None:
        ready = ready_lines(served, server_url(listening), settings.token, is_own_token, is_demo=not options.app)
        lines = [*ready, *_access_lines(settings)]
        shared = f"{count} workers share the port." if count > 1 else ""
        lines += [f"[dim]{line}[/]" for line in (shared, note, _STOPPING) if line]
        _ERR.print("\n  ".join(["", *lines, ""]))
        if browser and not missing.models:  # otherwise the page is already open
            webbrowser.open(server_url(listening, settings.token))

    if count > 1:
        raise typer.Exit(run_processes(listening, count, settings.token, announce))
    from duologue.server.run import run, serve

    server, served = make_server(options, settings, server_url(listening))
    run(serve(server, listening, lambda: announce(served), keep_days))


def ready_lines(served: Sequence[str], url: str, token: str, is_own_token: bool, is_demo: bool) -> list[str]:
    """The lines that show which agent is served and at which address. A token is shown if the server made it, but not
    if the operator chose it."""
    shown = f"{url}?token={token}" if token and is_own_token else url
    asks = [] if is_own_token or not token else ["The page asks for your token: add ?token=… to the address."]
    which = [_NO_NAME] if is_demo else []
    return [f"[bold]{served[0]}[/] is at [bold cyan]{shown}[/]", *which, *asks, *served[1:]]


def _access_lines(settings: ServerSettings) -> list[str]:
    """Lines about access: one if callers need a ticket, and one if calls can't be watched. Empty if neither is the
    case."""
    lines = []
    if settings.ticket_key:
        lines.append("Callers need a ticket: `duologue ticket` makes one, or your backend does (make_ticket).")
    if not settings.operator_token and (settings.needs_ticket or not settings.is_for_this_machine):
        lines.append("Calls can't be watched, and /metrics is closed: set --operator-token to open both.")
    return lines


# -- What is missing


def _missing(app: str, brain: str) -> Requirements:
    """What is missing to run the demo, a flow file or an agent's module. Raises an error with the commands to run if
    extras are missing. If the user's own agent lacks models, first asks whether to download them."""
    if not app or app.endswith(FLOWS):
        missing = Requirements(("server", "speech", "flows", "nlu"), () if brain else _demo_models()).missing()
    else:
        missing = requirements_of_agent(app, ("server",)).missing()
    if missing.extras:
        what = "packages and models" if missing.models else "packages"
        raise DuologueError(
            "\n  ".join([f"{app or 'the demo'} needs {what} that aren't installed; run", *missing.commands()])
        )
    if missing.models and app and not app.endswith(FLOWS):
        _offer_to_pull(app, missing)
    return missing


def get_missing(app: str) -> None:
    """Download the models that this agent lacks. Raises DuologueError if extras are missing."""
    missing = _missing(app, "")
    if missing.models:
        pull_with_progress(missing.models, _ERR)


def _demo_models() -> tuple[str, ...]:
    """The models that the demo and flow files need."""
    from duologue.voice.local import voice_model

    return (*EARS_MODELS, voice_model("en"), "minilm")


def _offer_to_pull(app: str, missing: Requirements) -> None:
    """Ask whether to download the models of the user's own agent. If the answer is no, or if there is no terminal to
    ask in, raise an error with the command to run."""
    command = missing.commands()[-1]
    size = megabytes(sum(MODELS[name].size_bytes for name in missing.models))
    if not sys.stdin.isatty():
        raise DuologueError(f"{app} needs models that aren't downloaded ({size} on disk); run `{command}`")
    if not typer.confirm(f"{app} needs {', '.join(missing.models)} ({size} on disk). Download now?", default=True):
        raise DuologueError(f"the models are missing; run `{command}`")


def _load_behind_page(listening: socket.socket, app: str, models: tuple[str, ...], browser: bool) -> None:
    """Download models while a page at the server's address shows the progress."""
    from duologue.models.pull import PullStage
    from duologue.server.loading import LoadingProgress, show_loading
    from duologue.server.run import run

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
