"""Leaves a message on an answering machine. An agent says the message in a conversation that ends afterwards.

Rule: a message counts as left only if the carrier has played it to its end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from duologue.core.settings import profile
from duologue.ports.brain import Part, Request
from duologue.ports.history import AgentSaid
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation


async def _silent(request: Request) -> AsyncIterator[Part]:  # noqa: ARG001
    """A brain that never answers, because nothing that an answering machine says needs an answer."""
    return
    yield ""


class KeptLine:
    """A line that stays open when its conversation ends. That gives the call time to note whether the message was
    heard, before it hangs up."""

    def __init__(self, line: Any) -> None:
        self._line = line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._line, name)

    async def close(self) -> None:
        """Do nothing, because the call itself hangs up later."""


def message_agent(agent: Agent, message: str) -> Agent:
    """An agent that says the message, with the voice of `agent`. It doesn't listen, so nothing can interrupt it."""
    return Agent(
        _silent,
        name=f"{agent.name} message".strip(),
        voice=agent.voice,
        language=agent.language,
        profile=profile("words", dead_air_ms=0),
        phrases=replace(agent.phrases, greeting=message),
        pronunciations=agent.pronunciations,
        spoken_forms=agent.spoken_forms,
        private=agent.private,
    )


async def leave_message(conversation: Conversation) -> bool:
    """Run the conversation of a `message_agent` until the message was said. Returns whether the whole message was
    heard."""
    await conversation.start()
    await conversation.end("message left", after_speaking=True)
    said = [item for item in conversation.history if isinstance(item, AgentSaid)]
    return bool(said) and not any(item.interrupted for item in said)
