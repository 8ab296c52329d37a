"""`duologue serve` as an operator sees it: a process that starts, prints its address, and stops on a signal."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="pip install 'duologue[server]'")
import typer
from typer.testing import CliRunner
from websockets.sync.client import connect

from duologue.cli import requirements, serve
from duologue.cli.app import app
from duologue.cli.serve import ready_lines
from duologue.core.errors import DuologueError
from tests.cli.server_process import begin, hear, say, served, status
from tests.limits import WAIT_S
from tests.needs import needs_model

# -- Stopping


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_without_conversations_the_server_stops_at_once_and_prints_nothing_more(tmp_path: Path, number: int) -> None:
    with served(tmp_path, "my_agent:agent", "--port", "0") as server:
        port, token = server.address()
        assert token == ""
        assert "Tester" in server.said
        assert status(port, "/healthz") == 200
        server.process.send_signal(number)
        assert server.ends() == 0, server.said
        assert "Traceback" not in server.said


def test_a_stopping_server_lets_a_conversation_end(tmp_path: Path) -> None:
    with served(tmp_path, "my_agent:agent", "--port", "0", "--drain-s", "60") as server:
        port, _ = server.address()
        with begin(port) as client:
            server.process.send_signal(signal.SIGTERM)
            hear(client, "notification", code="stopping")
            assert status(port, "/readyz") == 503
            say(client, "end")
            hear(client, "ended")
            assert server.ends() == 0, server.said
        assert "Traceback" not in server.said


def test_a_stopping_server_ends_a_conversation_that_takes_too_long(tmp_path: Path) -> None:
    with served(tmp_path, "my_agent:agent", "--port", "0", "--drain-s", "0.3") as server:
        port, _ = server.address()
        with begin(port) as client:
            server.process.send_signal(signal.SIGTERM)
            assert hear(client, "ended")["reason"] == "the server is stopping"
            assert server.ends() == 0, server.said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_stops_the_server_at_once(tmp_path: Path, number: int) -> None:
    with served(tmp_path, "my_agent:agent", "--port", "0", "--drain-s", "600") as server:
        port, _ = server.address()
        with begin(port) as client:
            server.process.send_signal(number)
            hear(client, "notification", code="stopping")
            server.process.send_signal(number)
            assert server.ends() != 0
        assert "Traceback" not in server.said


# -- A process that takes over


@pytest.mark.req("D-14")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "drained"])
def test_a_conversation_that_two_processes_have_recorded_replays_as_one(tmp_path: Path, number: int) -> None:
    options = ("my_agent:agent", "--port", "0", "--journals", "calls", "--store", "store.sqlite3", "--drain-s", "1")
    with served(tmp_path, *options) as server:
        port, _ = server.address()
        with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as client:
            say(client, "hello", version=1, seat="alice")
            say(client, "start")
            known = hear(client, "conversation")
            hear(client, "state", state="listening")
            say(client, "type", text="the first question", id="1")
            hear(client, "typed", id="1")
            server.process.send_signal(number)
            server.ends()
    with served(tmp_path, *options) as server:
        port, _ = server.address()
        with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as client:
            back = {"conversation": known["conversation"], "key": known["key"]}
            say(client, "hello", version=1, seat="alice", **back, played={"voice": 7, "ms": 100, "chunk": 1})
            assert hear(client, "conversation")["resumed"] is True
            hear(client, "state", state="listening")
            say(client, "type", text="the second question", id="2")
            hear(client, "typed", id="2")
            say(client, "end")
            hear(client, "ended")
        server.process.send_signal(signal.SIGTERM)
        assert server.ends() == 0, server.said
    (second,) = (tmp_path / "calls").glob("*-2.jsonl")
    first = second.with_name(second.name.replace("-2", ""))
    told = [json.loads(replayed(str(path), "--json")) for path in (first, second)]
    assert [(one["agrees"], one["complete"]) for one in told] == [(True, number == signal.SIGTERM), (True, True)]
    assert all(one["ears"] for one in told)
    assert told[1]["continues"]["file"] == str(first)
    assert f"It continues {first.name} after event" in replayed(str(second))


def replayed(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["replay", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


# -- Starting


def test_a_port_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with served(tmp_path, "my_agent:agent", "--port", port) as server:
            assert server.ends() == 1
            assert re.search(
                rf"error: port {port} of 127.0.0.1 is already in use; choose another: --port {int(port) + 1} "
                rf"\(make demo PORT={int(port) + 1}\)",
                server.said,
            )
            assert "Traceback" not in server.said


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["my_agent:agent", "--host", "256.1.1.1"], "can't listen on 256.1.1.1"),
        (["my_agent:agent", "--host", "x" * 80], "can't listen on xxx"),
        (["my_agent:agent", "--port", "99999"], "port must be from 0 to 65535"),
        (["my_agent:agent", "--conversations-max", "0"], "limit conversations_max must be above 0"),
        (["my_agent:agent", "--trusted-proxy", "balancer"], "a trusted proxy must be an address or a network"),
        (["my_agent:nobody"], "did you mean|it has agent"),
        (["nothing:agent"], "nothing can't be imported"),
        (["breaks:agent"], "breaks can't be imported: RuntimeError: on the way in"),
        (["my_agent"], "module:attribute"),
        (["nothing.yaml"], "nothing.yaml"),
    ],
)
def test_what_cannot_be_served_is_one_line(tmp_path: Path, arguments: list[str], printed: str) -> None:
    (tmp_path / "breaks.py").write_text("raise RuntimeError('on the way in')")
    with served(tmp_path, *arguments, DUOLOGUE_OFFLINE="1") as server:
        assert server.ends() in (1, 2), server.said
        assert re.search(printed, server.said), server.said
        assert "Traceback" not in server.said


class _Terminal:
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("says_yes", [True, False])
def test_models_that_an_agent_lacks_are_offered_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says_yes: bool
) -> None:
    (tmp_path / "my_agent.py").write_text(
        "from duologue import Agent, LocalEars\nagent = Agent(str, ears=LocalEars())\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DUOLOGUE_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(sys, "stdin", _Terminal())
    asked: list[str] = []
    pulled: list[str] = []
    monkeypatch.setattr(typer, "confirm", lambda text, default: asked.append(text) or says_yes)
    monkeypatch.setattr(serve, "pull_with_progress", lambda models, *_: pulled.extend(models))
    if says_yes:
        serve.get_missing("my_agent:agent")
    else:
        with pytest.raises(DuologueError, match=r"the models are missing; run `duologue models pull .*silero-vad"):
            serve.get_missing("my_agent:agent")
    assert re.fullmatch(r"my_agent:agent needs .*silero-vad.* \(.* MB on disk\)\. Download now\?", asked[0])
    assert ("silero-vad" in pulled) is says_yes


def test_without_a_terminal_the_command_for_missing_models_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "my_agent.py").write_text(
        "from duologue import Agent, LocalEars\nagent = Agent(str, ears=LocalEars())\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DUOLOGUE_CACHE", str(tmp_path / "empty"))
    with pytest.raises(DuologueError, match=r"needs models that aren't downloaded .*; run `duologue models pull "):
        serve.get_missing("my_agent:agent")


@pytest.mark.parametrize("lacks_models", [True, False])
def test_an_agent_that_lacks_an_extra_and_models_gets_one_message_with_both_commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lacks_models: bool
) -> None:
    (tmp_path / "my_agent.py").write_text("from duologue import Agent, ChatBrain, LocalEars\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(requirements, "is_installed", lambda extra: extra != "llm")
    monkeypatch.setattr(requirements, "is_present", lambda _: not lacks_models)
    with pytest.raises(DuologueError) as missing:
        serve.get_missing("my_agent:agent")
    what = "packages and models" if lacks_models else "packages"
    assert str(missing.value).splitlines() == [
        f"my_agent:agent needs {what} that aren't installed; run",
        "  pip install 'duologue[llm]'",
        *(["  duologue models pull silero-vad smart-turn moonshine-tiny"] if lacks_models else []),
    ]


def test_the_page_opens_before_the_models_of_the_demo_are_downloaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    happened: list[str] = []

    def open_page(url: str) -> None:
        happened.append("opened")
        addresses.append(url)

    def pull(models: Sequence[str], *_: object) -> None:
        with urllib.request.urlopen(addresses[0], timeout=WAIT_S) as page:
            assert b"Downloading speech models, once." in page.read()
        happened.append("pulled")

    def load_agent(*_: object) -> None:
        happened.append("loaded")
        raise DuologueError("as far as this test goes")

    addresses: list[str] = []
    monkeypatch.setenv("DUOLOGUE_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(webbrowser, "open", open_page)
    monkeypatch.setattr(serve, "pull_with_progress", pull)
    monkeypatch.setattr(serve, "make_server", load_agent)
    done = CliRunner().invoke(app, ["serve", "--open", "--port", "0", "--store", "none"])
    assert "as far as this test goes" in str(done.exception)
    assert happened == ["opened", "pulled", "loaded"]


def test_without_a_name_the_server_says_which_agent_it_runs() -> None:
    lines = ready_lines(["Flight desk"], "http://127.0.0.1:1/", "", is_own_token=True, is_demo=True)
    assert lines[1].startswith("No agent was named, so this is the demo, which books flights.")
    lines = ready_lines(["Mine"], "http://127.0.0.1:1/", "", is_own_token=True, is_demo=False)
    assert lines == ["[bold]Mine[/] is at [bold cyan]http://127.0.0.1:1/[/]"]


def test_the_command_without_a_name_serves_the_demo_and_says_so(tmp_path: Path) -> None:
    for model in ("silero-vad", "smart-turn", "moonshine-tiny", "svox-pico", "minilm"):
        needs_model(model)
    with served(tmp_path, "--port", "0") as server:
        port, _ = server.address()
        assert "No agent was named, so this is the demo, which books flights. Yours: duologue serve mo" in server.said
        with begin(port) as client:
            say(client, "type", text="I want to book a flight", id="1")
            hear(client, "dialogue", flow="book_flight")


@pytest.mark.req("C-SEC-003")
def test_an_address_that_other_machines_reach_requires_a_generated_token(tmp_path: Path) -> None:
    with served(tmp_path, "my_agent:agent", "--host", "0.0.0.0", "--port", "0") as server:
        port, token = server.address()
        assert len(token) >= 32
        assert status(port, "/metrics") == 401
        assert status(port, "/metrics", Authorization=f"Bearer {token}") == 403, "that is for operators"
        assert "set --operator-token" in server.said
        with begin(port, token) as client:
            say(client, "end")
            hear(client, "ended")
        with connect(f"ws://127.0.0.1:{port}/ws") as stranger:
            say(stranger, "hello", version=1, seat="mallory")
            assert "token" in str(hear(stranger, "error", code="token")["message"])
        assert server.said.count(token) == 1, "once in the address, and in no line of the log"


@pytest.mark.req("C-SEC-003")
def test_secrets_of_ones_own_are_used_and_not_shown(tmp_path: Path) -> None:
    secrets = {"DUOLOGUE_TOKEN": "a-token-of-my-own", "DUOLOGUE_OPERATOR_TOKEN": "one-for-operators"}
    with served(tmp_path, "my_agent:agent", "--port", "0", **secrets) as server:
        port, token = server.address()
        assert token == ""
        assert status(port, "/metrics") == 401
        assert status(port, "/metrics", Authorization="Bearer one-for-operators") == 200
        assert "add ?token=… to the address" in server.said
        assert "a-token-of-my-own" not in server.said
        assert "one-for-operators" not in server.said


# -- The telephone


CALL = "steps: [listen, {dtmf: '4711#'}, listen, hang_up]\nwait_s: 30\n"


@pytest.mark.req("V-09")
def test_a_simulated_call_to_a_running_server_can_be_watched(tmp_path: Path) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    url = f"http://127.0.0.1:{port}"
    (tmp_path / "call.yaml").write_text(CALL)
    (tmp_path / "bad.yaml").write_text("steps: [listen, {expect: {heard: hello}}]\n")
    with served(tmp_path, "my_agent:agent", "--port", port, "--phone-url", url) as server:
        server.until(f"{url}/phone/twilio/voice")
        server.address()
        with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as watcher:
            say(watcher, "hello", version=1, seat="operator")
            say(watcher, "calls")
            assert hear(watcher, "calls") == {"calls": []}
            command = [sys.executable, "-c", "from duologue.cli.entry import main; main()", "phone", "--to", url]
            dialled = subprocess.Popen(
                [*command, "--simulate", "call.yaml", "--json"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
            )
            calls: Any = hear(watcher, "calls")["calls"]
            say(watcher, "watch", id=calls[0]["id"])
            assert hear(watcher, "conversation")["line"] == "phone"
            hear(watcher, "caption", role="user", final=True, text="4711")
            hear(watcher, "caption", role="assistant", final=True, text="You said 4711.")
            assert hear(watcher, "ended")["reason"] == "hung up"
            result = json.loads(dialled.communicate(timeout=WAIT_S)[0])
            assert result["result"] == "passed"
            assert result["agent_heard_ms"] > 0
        refused = subprocess.run([*command, "--simulate", "bad.yaml"], cwd=tmp_path, capture_output=True, text=True)
        assert refused.returncode == 1
        assert "need the agent in this process" in refused.stderr


def test_a_server_may_be_closed_to_operators_and_use_pcm_only(tmp_path: Path) -> None:
    with served(tmp_path, "my_agent:agent", "--port", "0", "--no-watch", "--no-opus") as server:
        port, _ = server.address()
        with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as client:
            say(client, "hello", version=1, seat="operator", audio={"input": ["opus"], "output": ["opus"]})
            ready = hear(client, "ready")
            assert ready["watchable"] is False
            assert (ready["audio"]["input"], ready["audio"]["output"]) == ("pcm", "pcm")
            say(client, "calls")
            assert hear(client, "error")["code"] == "refused"
