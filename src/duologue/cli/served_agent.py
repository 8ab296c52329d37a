"""The server that `duologue serve` runs: its agent, store and phone lines are made from the command's options.

Rule: each process of a server makes all of this for itself; values that all processes must share come from their
parent.
"""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rich.markup import escape

from duologue.core.errors import DuologueError
from duologue.ports.context import Context
from duologue.runtime.agent import Agent
from duologue.runtime.agent_source import AgentOrMaker, changed

from .requirements import not_installed
from .serve_observers import observers_of, with_consent

if TYPE_CHECKING:
    from duologue.server.app import Server
    from duologue.server.leases import Leases
    from duologue.server.processes.link import ParentLink
    from duologue.server.settings import ServerSettings

DEMO = "agent:agent"
FLOWS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The options of `duologue serve` that a server is made from."""

    app: str
    store: str
    node: str
    brain: str
    realtime_url: str | None
    phone_url: str
    log: Path | None = None
    otel: bool = False
    recordings: Path | None = None
    consent: str = ""
    record_format: str = "wav"
    realtime: bool = False
    rtvi: bool = False


def make_server(
    options: ServeOptions, settings: ServerSettings, url: str, link: ParentLink | None = None
) -> tuple[Server, list[str]]:
    """The server, and the lines to print about its agent and addresses. `link` is the connection to the parent, if
    there are several processes."""
    from duologue.server.app import Server
    from duologue.server.siblings import ALONE

    agent = _agent(options.app)
    consent = options.consent if options.consent != "none" else ""
    make = _maker(changed(agent, partial(with_consent, consent=consent)), options.brain, options.realtime_url)
    leases = _leases(options.store, node_name(options.node, link is not None), url)
    server = Server(make, settings, leases=leases, siblings=ALONE if link is None else link)
    server.conversations.observers += observers_of(
        options.log, options.otel, options.recordings, options.record_format, consent
    )
    return server, [
        _title(server.conversations.source.first),
        *_phones(server, options.phone_url, settings.journals, link),
        *(_realtime(server, url) if options.realtime else ()),
        *(_rtvi(server, url) if options.rtvi else ()),
    ]


def _realtime(server: Server, url: str) -> list[str]:
    """Add the routes of the Realtime protocol. Returns a line that says where they are."""
    from duologue.server.realtime.routes import realtime_routes

    server.add_routes(realtime_routes(server))
    return [f"Realtime clients: base URL {url.rstrip('/')}/v1"]


def _rtvi(server: Server, url: str) -> list[str]:
    """Add the routes of the RTVI protocol. Returns a line that says where they are."""
    from duologue.server.rtvi.routes import CONNECT, rtvi_routes

    server.add_routes(rtvi_routes(server))
    return [f"RTVI clients: {url.rstrip('/')}{CONNECT}"]


def _title(agent: Agent) -> str:
    return escape(agent.name) or "Your agent"


def _maker(agent: AgentOrMaker, brain: str, url: str | None) -> AgentOrMaker:
    """The agent itself if `brain` is empty. Otherwise a function that makes an agent with a Realtime model for each
    conversation, because such a model serves only one conversation."""
    kind, _, model = brain.partition(":")
    if kind not in ("", "realtime"):
        raise DuologueError(f"unknown brain {kind!r}: use realtime or realtime:MODEL")
    if not kind:
        return agent
    try:
        from duologue.brains.realtime import RealtimeModel
    except ModuleNotFoundError:
        raise not_installed("a Realtime model", "realtime") from None

    def with_model(one: Agent) -> Agent:
        own = RealtimeModel(model or "gpt-realtime", url=url)
        return replace(one, brain=own, ears=None, voice=None, session=None)

    return (lambda: with_model(agent)) if isinstance(agent, Agent) else changed(agent, with_model)


def _phones(server: Server, url: str, journals: Path | None, link: ParentLink | None) -> list[str]:
    """Add the phone routes to the server. Returns lines with the addresses to configure at each carrier whose secret is
    set."""
    if not url:
        return []
    try:
        from duologue.server.caller_address import caller_address, read_networks
        from duologue.server.phone.routes import PhoneExchange, PhoneSettings, phone_routes
        from duologue.server.phone.settings import on_the_phone
        from duologue.server.settings import is_loopback
    except ModuleNotFoundError:
        raise not_installed("the telephone", "phone") from None
    settings = PhoneSettings(
        public_url=url,
        twilio_auth_token=os.environ.get("TWILIO_AUTH_TOKEN", ""),
        telnyx_public_key=os.environ.get("TELNYX_PUBLIC_KEY", ""),
        **phone_account(),
        allow_unsigned=is_loopback(urlsplit(url).hostname or ""),  # for `duologue phone --to` on this machine
        journals=journals,
    )
    if link is not None:  # the webhook may reach one process and the stream another one
        settings = replace(
            settings,
            token_key=bytes.fromhex(link.welcome.token_key),
            used_tokens=Path(link.welcome.folder) / "used-tokens",
            calls_max=share_of(settings.calls_max, link.welcome.count),
        )
    conversations = server.conversations

    async def make_for_phone(context: Context[Any]) -> Agent:
        agent = await conversations.source.make(context)
        return replace(agent, profile=on_the_phone(agent.profile))

    exchange = PhoneExchange(settings)
    conversations.stoppers.append(exchange.drain)
    proxies = read_networks(server.settings.trusted_proxies)
    routes = phone_routes(
        make_for_phone,
        settings,
        conversations.watch,
        lambda: not conversations.is_draining,
        lambda scope: caller_address(scope, proxies),
        exchange,
        limits=server.settings.limits,
        note_refused=conversations.note_refused,
    )
    server.add_routes(routes)
    shown = url.rstrip("/")
    streams = shown.replace("http", "ws", 1)
    return [
        f"{'webhook' if 'stream' not in path else 'stream '}  {(streams if 'stream' in path else shown)}{path}"
        for path in (getattr(route, "path", "") for route in routes)
        if path.endswith(("voice", "texml", "stream"))  # the others are sent to the carrier with each call
    ]


def phone_account() -> dict[str, Any]:
    """Settings for placing and transferring calls, read from the environment."""
    names = ("twilio_account_sid", "telnyx_api_key", "telnyx_account", "telnyx_application")
    own = {"number": os.environ.get("PHONE_NUMBER", ""), "drain_to": os.environ.get("PHONE_DRAIN_TO", "")}
    return {**own, **{name: os.environ.get(name.upper(), "") for name in names}}


def _leases(url: str, node: str, where: str) -> Leases | None:
    if url in ("", "none"):
        return None
    from duologue.server.leases import Leases
    from duologue.store.store_url import open_store

    return Leases(open_store(url), node, where)


def node_name(given: str, is_one_of_several: bool) -> str:
    """The name of this process in the store. It contains the process id if the server has several processes, or if the
    user has given no name, because other processes may use the same store."""
    return given if given and not is_one_of_several else f"{given or socket.gethostname()}-{os.getpid()}"


def share_of(limit: int, count: int) -> int:
    """The part of a server's limit that each of the server's `count` processes may use."""
    return -(-limit // count)


def _agent(app: str) -> AgentOrMaker:
    from duologue.runtime.find_agent import find_agent, find_agent_or_maker

    if not app:
        from duologue.starter.write_project import PROJECT

        sys.path.insert(0, str(PROJECT))
        return find_agent(DEMO)
    return _agent_of_flows(Path(app)) if app.endswith(FLOWS) else find_agent_or_maker(app)


def _agent_of_flows(file: Path) -> Agent:
    """An agent that speaks the flows of a file, with local ears and a local voice."""
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
