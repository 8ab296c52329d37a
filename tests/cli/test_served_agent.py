"""What `duologue serve` makes of its options. tests/cli/test_serve.py starts the server."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from duologue import LocalEars, LocalVoice
from duologue.cli.requirements import EARS_MODELS
from duologue.cli.serve import DEMO_NAME
from duologue.cli.served_agent import ServeOptions, make_server, node_name, share_of
from duologue.core.effects import StartReply
from duologue.core.errors import DuologueError
from duologue.core.events import PlaybackFinished
from duologue.core.leaves import Ask
from duologue.core.step_record import StepRecord
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lines.phone.carriers import CARRIERS
from duologue.server.listening import bind_socket
from duologue.server.run import serving
from duologue.server.settings import ServerSettings
from duologue.voice.pico import PicoVoice
from tests.limits import WAIT_S
from tests.needs import needs_model
from tests.server.phone.phone_calls import Phones
from tests.server.running_server import Client, talk

AGENT = "from duologue import Agent\nagent = Agent(lambda request: 'Yes.', name='[bold]Desk[/]')\n"


def test_one_process_has_the_name_that_it_was_given_and_several_have_their_own() -> None:
    own = f"-{os.getpid()}"
    assert node_name("a1", False) == "a1"
    assert node_name("a1", True) == f"a1{own}"
    assert node_name("", False) == node_name("", True) == f"{socket.gethostname()}{own}"


@pytest.mark.parametrize(("limit", "count", "share"), [(500, 1, 500), (500, 2, 250), (500, 3, 167), (1, 4, 1)])
def test_a_limit_of_the_server_is_divided_among_its_processes(limit: int, count: int, share: int) -> None:
    assert share_of(limit, count) == share


def options(folder: Path, **more: str) -> ServeOptions:
    (folder / "served_desk.py").write_text(AGENT)
    given = {"app": "served_desk:agent", "store": "none", "node": "", "brain": "", "phone_url": "", **more}
    return ServeOptions(realtime_url=None, **given)


def test_the_demo_speaks_with_the_local_voice_and_hears_with_local_ears() -> None:
    for model in (*EARS_MODELS, "minilm", "svox-pico"):
        needs_model(model)
    server, lines = make_server(ServeOptions("", "none", "", "", None, ""), ServerSettings(), "http://x/")
    agent = server.conversations.source.first
    assert lines == [DEMO_NAME]
    assert isinstance(agent.voice, LocalVoice)
    assert isinstance(agent.voice.engine, PicoVoice)
    assert isinstance(agent.ears, LocalEars)


def test_a_server_has_its_agents_name_and_the_addresses_of_its_carriers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    url = "http://127.0.0.1:8765/"
    server, lines = make_server(options(tmp_path), ServerSettings(), url)
    assert server.conversations.leases is None
    assert lines == [r"\[bold]Desk\[/]"], "markup in a name is shown, not obeyed"
    _, lines = make_server(options(tmp_path, phone_url=url), ServerSettings(), url)
    assert lines[1] == "webhook  http://127.0.0.1:8765/phone/twilio/voice"
    assert "stream   ws://127.0.0.1:8765/phone/telnyx/stream" in lines
    with pytest.raises(DuologueError, match="unknown brain 'magic'"):
        make_server(options(tmp_path, brain="magic"), ServerSettings(), url)


OWN_IDLE = """
from duologue import Agent, profile
from duologue.ears.scripted import ScriptedEars
from duologue.runtime.agent import Phrases
from duologue.voice.scripted import ScriptedVoice

agent = Agent(
    lambda request: "Yes.",
    ears=ScriptedEars(),
    voice=ScriptedVoice(char_ms=10),
    profile=profile({profile}),
    phrases=Phrases(greeting="Hello.", check_ins=("Anyone?",), goodbye="Bye."),
)
"""


@pytest.mark.req("H-09.phone")
@pytest.mark.parametrize(
    ("given", "asks", "silence_ms"),
    [
        ("'confirm', dead_air_ms=3_000, check_ins_max=3", [Ask.CHECK_IN] * 3 + [Ask.GOODBYE], 3_000),
        ("'confirm', check_ins_max=1, hangs_up=True", [Ask.CHECK_IN, Ask.GOODBYE], 10_000),
        ("'confirm'", [Ask.CHECK_IN] * 2 + [Ask.GOODBYE], 10_000),
    ],
    ids=["the agent's own settings", "own settings with a browser's value", "the settings of the phone"],
)
def test_on_the_phone_a_silent_caller_is_asked_as_the_agents_own_settings_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, asks: list[Ask], silence_ms: int
) -> None:
    """From the option --phone-url and the carrier's webhook to the end of the call."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "idle_desk", raising=False)
    (tmp_path / "idle_desk.py").write_text(OWN_IDLE.replace("{profile}", given))
    records: list[StepRecord] = []

    async def call() -> None:
        listening = bind_socket("127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        chosen = replace(options(tmp_path, phone_url=url), app="idle_desk:agent")
        server, _ = make_server(chosen, ServerSettings(port=0), url)
        server.conversations.observers.append(lambda one: one.engine.watchers.append(records.append))
        async with serving(server, listening), Phones(url).call(CARRIERS["twilio"]) as (carrier, _):
            async with asyncio.timeout(WAIT_S):
                while not carrier.is_over:
                    await asyncio.sleep(0.1)
            assert not carrier.caller_hung_up

    run_jumping(call())
    starts = [(one.event.at, effect) for one in records for effect in one.effects if isinstance(effect, StartReply)]
    assert [effect.ask for _, effect in starts] == [Ask.ANSWER, *asks], "a greeting, check-ins and a goodbye"
    ended = [one.event.at for one in records if isinstance(one.event, PlaybackFinished) and one.after is not one.before]
    waited = [at - end for (at, _), end in zip(starts[1:], ended, strict=False)]
    assert waited == [silence_ms] * len(asks)


def test_a_server_with_realtime_clients_says_their_base_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    url = "http://127.0.0.1:8765/"
    _, lines = make_server(replace(options(tmp_path), realtime=True), ServerSettings(), url)
    assert lines[1:] == ["Realtime clients: base URL http://127.0.0.1:8765/v1"]


def test_a_server_with_rtvi_clients_says_where_they_connect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    url = "http://127.0.0.1:8765/"
    _, lines = make_server(replace(options(tmp_path), rtvi=True), ServerSettings(), url)
    assert lines[1:] == ["RTVI clients: http://127.0.0.1:8765/rtvi/connect"]


MAKER = """
from dataclasses import dataclass

from duologue import Agent
from duologue.voice.scripted import ScriptedVoice


@dataclass
class Caller:
    said: int = 0


def make(context):
    def brain(request, context):
        context.data.said += 1
        return f"{context.line} {context.info.query.get('shop', '')}: {context.data.said}."

    name = f"Shop {context.info.query['shop']}" if context.line else "All shops"
    return Agent(brain, voice=ScriptedVoice(), data=Caller, name=name)
"""


def test_a_function_that_makes_agents_is_served_and_called_for_each_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "made_desk.py").write_text(MAKER)

    async def calls() -> None:
        listening = bind_socket("127.0.0.1", 0)
        port = listening.getsockname()[1]
        made_of = replace(options(tmp_path), app="made_desk:make")
        settings = ServerSettings(port=0, context_query=("shop",))
        server, lines = make_server(made_of, settings, f"http://127.0.0.1:{port}/")
        assert lines == ["All shops"]
        async with serving(server, listening):
            clients = []
            for shop in ("7", "8"):
                socket = await connect(f"ws://127.0.0.1:{port}/ws?shop={shop}", compression=None, ping_interval=None)
                clients.append(Client(socket, plays=True))
                await clients[-1].begin(f"seat-{shop}")
            first, second = clients
            assert await talk(first, "hello") == "browser 7: 1."
            assert await talk(second, "hello") == "browser 8: 1."
            assert await talk(first, "again", after=1) == "browser 7: 2."
            agents = {one.conversation.agent.name for one in server.conversations.served.values()}
            assert agents == {"Shop 7", "Shop 8"}
            for client in clients:
                await client.close()
            await server.conversations.drain()

    run_jumping(calls())
