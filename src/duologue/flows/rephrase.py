"""Lets a brain, such as an LLM, rephrase a text of a flow, where the file allows this with `rephrase: true`.

The brain gets only the text. Rule: the original is said instead if the brain is slow, fails, calls a tool, leaves out a
value, adds a number, or turns a question into a statement. The dialogue itself always keeps the original, so a replay
doesn't depend on the brain.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

from duologue.core.leaves import Ask
from duologue.dialogue.effects import Respond
from duologue.ports.brain import Brain, Request
from duologue.ports.failure_report import report_failure
from duologue.ports.history import UserSaid

SECONDS_MAX = 2.0
_TIMES_LONGER_MAX = 2
_CHARS_MORE_MAX = 60  # a short text may grow by this much
_NUMBER = re.compile(r"\d+(?:[.:,]\d+)*")
_INSTRUCTIONS = (
    "Say the following text of a telephone agent in other words, naturally and about as long. Keep every name, number, "
    "date and time exactly as it is written. If it is a question, it stays one. Answer with the new text only."
)


async def rephrased(brain: Brain, said: Respond, request: Request) -> Respond:
    """The response, reworded by the brain if its words can be used; otherwise unchanged."""
    if said.kept is None:
        return said
    try:
        async with asyncio.timeout(SECONDS_MAX):
            words = await _words(brain, said.text, request)
    except Exception as failure:  # noqa: BLE001 - a brain may raise anything
        report_failure("rephrasing a text", failure)
        return said
    return replace(said, text=words) if may_replace(said, words) else said


async def _words(brain: Brain, text: str, request: Request) -> str:
    wish = Request(
        request.reply,
        text,
        (UserSaid(1, text),),
        instructions=_INSTRUCTIONS,
        ask=Ask.ANSWER,
        conversation=f"{request.conversation}:rephrase",
    )
    found: list[str] = []
    async for part in brain.reply(wish):
        if not isinstance(part, str):
            return ""
        found.append(part)
    return " ".join("".join(found).split())


def may_replace(said: Respond, words: str) -> bool:
    """May these words be said instead of the response? They must contain all its values, exactly the same numbers, and
    end with a question mark only if the response does. They must not be much longer."""
    if not words or len(words) > max(_TIMES_LONGER_MAX * len(said.text), len(said.text) + _CHARS_MORE_MAX):
        return False
    if any(value and value.casefold() not in words.casefold() for value in said.kept or ()):
        return False
    if sorted(_NUMBER.findall(words)) != sorted(_NUMBER.findall(said.text)):
        return False
    return said.text.rstrip().endswith("?") == words.endswith("?")
