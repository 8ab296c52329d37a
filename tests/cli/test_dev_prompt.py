"""The prompt of `duologue dev` is a client like the page."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

pytest.importorskip("websockets", reason="pip install 'duologue[server]'")

from duologue import Agent, Context, Phrases, Request, ToolCall
from duologue.cli.dev_prompt import DevPrompt
from duologue.testing import ScriptedBrain, ScriptedVoice
from tests.server.running_server import RunningServer, serve

pytestmark = pytest.mark.alone


def speaking() -> Agent:
    brain = ScriptedBrain(lambda request: f"You said {request.text}.")
    return Agent(brain, voice=ScriptedVoice(), phrases=Phrases(greeting="Good day."))


def test_what_is_typed_is_answered_and_a_lost_socket_is_replaced() -> None:
    shown: list[str] = []

    async def script(running: RunningServer) -> None:
        prompt = DevPrompt(f"http://127.0.0.1:{running.port}/", shown.append)
        await asyncio.to_thread(prompt.type, "one")
        prompt.close()
        await asyncio.to_thread(prompt.type, "two")
        assert len(running.server.conversations.served) == 1
        prompt.close()

    serve(script, speaking)
    assert shown == ["Good day.", "You said one.", "You said two."]


def test_the_question_of_a_tool_can_be_answered() -> None:
    async def order(context: Context[Any]) -> str:
        """Ask for a name."""
        return await context.ask("What is your name?")

    def brain(request: Request) -> object:
        return f"Thank you, {request.outputs[-1].output}." if request.outputs else ToolCall("order", {})

    shown: list[str] = []

    async def script(running: RunningServer) -> None:
        prompt = DevPrompt(f"http://127.0.0.1:{running.port}/", shown.append)
        await asyncio.to_thread(prompt.type, "order")
        await asyncio.sleep(1)  # of the server's clock: a question must have been shown for a moment
        await asyncio.to_thread(prompt.type, "Ada")
        prompt.close()

    serve(script, lambda: Agent(brain, tools=[order]))
    assert shown == ["What is your name?", "Thank you, Ada."]


def test_a_server_that_is_away_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    shown: list[str] = []
    DevPrompt(f"http://127.0.0.1:{port}/", shown.append).type("hello")
    assert shown == ["the server can't be reached; try again"]
