"""What `duologue serve` makes of its options. tests/cli/test_serve.py starts the server."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from duologue.cli.served_agent import ServeOptions, make_server, node_name, share_of
from duologue.core.errors import DuologueError
from duologue.server.settings import ServerSettings

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
