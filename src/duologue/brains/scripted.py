"""A brain that follows a script: replies in order, or chosen by what the user said.

The brain streams word by word with delays, calls tools, fails and hangs as scripted. Rule: the same seed and
the same requests give the same reply, token by token.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from duologue.ports.brain import Part, Request
from duologue.ports.scripted_steps import Delay, Fail, Hang, take

BrainLine: TypeAlias = Part | Delay | Fail | Hang
ScriptedReply: TypeAlias = BrainLine | Iterable[BrainLine]
ScriptedReplies: TypeAlias = Iterable[ScriptedReply] | dict[str, ScriptedReply] | Callable[[Request], ScriptedReply]


@dataclass
class ScriptedBrain:
    """A brain that replies as its `script` says. The script has one of three forms. A list contains replies, which are
    used in order. A dict maps phrases to replies: the first phrase that occurs in the user's words chooses the reply. A
    function gets the request and returns the reply. If the list is used up, or if no phrase of the dict occurs, the
    reply is `otherwise`."""

    script: ScriptedReplies = ()
    first_ms: int = 0
    token_ms: int = 0
    jitter_ms: int = 0
    seed: int = 0
    otherwise: ScriptedReply = "I see."
    can_guess: bool = False  # True if the runtime may request a reply before the turn is certain to be over
    requests: list[Request] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)  # ids of replies that were closed before their end

    def __post_init__(self) -> None:
        self._dice = random.Random(self.seed)
        self._queue = list(self.script) if not isinstance(self.script, dict) and not callable(self.script) else []

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        self.requests.append(request)
        try:
            await self._wait(self.first_ms)
            for line in _lines(self._choose(request)):
                if isinstance(line, Delay | Fail | Hang):
                    await take(line, self._dice)
                elif isinstance(line, str):
                    async for token in self._tokens(line):
                        yield token
                else:
                    yield line
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled.append(request.reply)
            raise

    def _choose(self, request: Request) -> ScriptedReply:
        if callable(self.script):
            return self.script(request)
        if isinstance(self.script, dict):
            said = request.text.lower()
            matches = (reply for words, reply in self.script.items() if words.lower() in said and said)
            return next(matches, self.otherwise)
        return self._queue.pop(0) if self._queue else self.otherwise

    async def _tokens(self, text: str) -> AsyncIterator[str]:
        if not self.token_ms:
            yield text + " "
            return
        for token in text.split():
            await self._wait(self.token_ms)
            yield token + " "

    async def _wait(self, ms: int) -> None:
        if ms or self.jitter_ms:
            await asyncio.sleep((ms + self._dice.randint(0, self.jitter_ms)) / 1000)


def _lines(reply: ScriptedReply) -> list[BrainLine]:
    if isinstance(reply, list | tuple):
        return list(reply)
    return [reply]  # type: ignore[list-item]
