"""Asks a model for one text: the caller's next words, or a judge's verdict.

Any brain can be the model. Rule: if the model fails or its answer is empty, EvalModelFailed is raised. No text is made
up instead.
"""

from __future__ import annotations

import asyncio

from duologue.core.errors import DuologueError
from duologue.ports.brain import Brain, Request
from duologue.ports.failure import classify
from duologue.ports.history import Item
from duologue.ports.streams import reading

ANSWER_S_MAX = 120.0
CHARS_MAX = 20_000


class EvalModelFailed(DuologueError):
    """A model failed, or its answer was empty. The message says what happened."""


async def ask_model(brain: Brain, instructions: str, text: str, history: tuple[Item, ...] = (), number: int = 1) -> str:
    """Ask the model, and return the text of its answer. Raises EvalModelFailed if the model fails or its answer is
    empty."""
    request = Request(number, text, history=history, instructions=instructions)
    said = ""
    try:
        async with asyncio.timeout(ANSWER_S_MAX), reading(brain.reply(request)) as parts:
            async for part in parts:
                said += part if isinstance(part, str) else ""
                if len(said) > CHARS_MAX:
                    break
    except Exception as failure:
        raise EvalModelFailed(f"{type(failure).__name__}: {classify(failure).value}") from failure
    if not said.strip():
        raise EvalModelFailed("its answer was empty")
    return said.strip()
