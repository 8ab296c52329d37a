"""`duologue dev` as a developer sees it: saving a file changes the next answer, in the same conversation."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="pip install 'duologue[server]'")
from websockets.sync.client import connect

from tests.cli.server_process import AGENT, hear, hear_out, say, served

pytestmark = pytest.mark.alone

LOUD = AGENT.replace("You said", "You have just said")
BROKEN = AGENT.replace('f"You said {request.text}."', "{}[request.text]")


def test_a_saved_file_is_reloaded_and_the_conversation_goes_on(tmp_path: Path) -> None:
    with served(tmp_path, "dev", "my_agent:agent", "--port", "0") as server:
        port, _ = server.address()
        with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as client:
            say(client, "hello", version=1, seat="alice")
            say(client, "start")
            key = hear(client, "conversation")
            hear_out(client, "Good day.")
            say(client, "type", text="one", id="1")
            assert hear_out(client, "one.") == "You said one."
            (tmp_path / "my_agent.py").write_text(LOUD)
            server.until("my_agent.py changed")
            server.until("reloaded")
        with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as client:
            say(client, "hello", version=1, seat="alice", conversation=key["conversation"], key=key["key"])
            assert hear(client, "conversation")["conversation"] == key["conversation"]
            assert "one" in str(hear(client, "history")["items"])
            hear(client, "state", state="listening")
            say(client, "type", text="two", id="2")
            assert hear_out(client, "two.") == "You have just said two."
        server.process.send_signal(signal.SIGINT)
        assert server.ends() == 0, server.said


def test_a_version_that_cant_be_imported_is_shown_in_full_and_replaces_nothing(tmp_path: Path) -> None:
    with served(tmp_path, "dev", "my_agent:agent", "--port", "0") as server:
        port, _ = server.address()
        (tmp_path / "my_agent.py").write_text("def setup():\n    return {}['missing']\n\nagent = setup()\n")
        server.until("the last version that worked goes on")
        assert "KeyError: 'missing'" in server.said
        assert "return {}['missing']" in server.said
        assert "importlib" not in server.said
        with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as client:
            say(client, "hello", version=1, seat="alice")
            say(client, "start")
            hear_out(client, "Good day.")


def test_what_a_brain_raises_is_shown_in_the_terminal_and_in_the_debug_view(tmp_path: Path) -> None:
    with served(tmp_path, "dev", "my_agent:agent", "--port", "0") as server:
        server.address()
        (tmp_path / "my_agent.py").write_text(BROKEN)
        server.until("reloaded")
        port, _ = server.address()
        with connect(f"ws://127.0.0.1:{port}/ws", compression=None, max_queue=None) as client:
            say(client, "hello", version=1, seat="bob")
            say(client, "start")
            hear_out(client, "Good day.")
            say(client, "type", text="Anna", id="1")
            shown = hear(client, "traceback")
        assert shown["where"] == "brain"
        assert str(shown["text"]).endswith("KeyError: 'Anna'")
        server.until("KeyError: 'Anna'")
        server.until("brain failed")


def test_what_is_typed_in_the_terminal_is_answered_there_also_after_a_reload(tmp_path: Path) -> None:
    with served(tmp_path, "dev", "my_agent:agent", "--port", "0", types=True) as server:
        server.address()
        server.type("one")
        server.until(r"agent +Good day\.")
        server.until(r"agent +You said one\.")
        (tmp_path / "my_agent.py").write_text(LOUD)
        server.until("reloaded")
        server.type("two")
        server.until(r"agent +You have just said two\.")


def test_an_agent_that_cant_be_imported_at_first_is_served_as_soon_as_it_can(tmp_path: Path) -> None:
    with served(tmp_path, "dev", "other:agent", "--port", "0") as server:
        server.until("nothing is served yet")
        (tmp_path / "other.py").write_text(AGENT)
        server.address()
