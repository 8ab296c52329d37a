"""A caller who follows a script on a scripted carrier's line, and notes whether what was expected came about.

Rule: nothing is waited for without an end; the first thing that does not come about ends the call, and is named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from duologue.core.errors import DuologueError
from duologue.ports.history import AgentSaid, UserSaid
from duologue.runtime.conversation import Conversation
from duologue.turns.words import words_of

from .call_script import CallScript, Expect, HangUp, Hear, Listen, PlayWav, Press, Say, Step, Wait
from .scripted_carrier import ScriptedCarrier

KEY_MS = 150  # between two keys
SILENT_MS = 400  # so long the agent says nothing: it has finished

Sounds = Callable[[Say | PlayWav], Awaitable[bytes]]


class NotAsExpected(DuologueError):
    """The call took another course. The message says at which step."""


@dataclass
class ScriptedCaller:
    """One call. `sounds` makes the caller's sound as it goes over the wire; `conversation` is that of the agent."""

    carrier: ScriptedCarrier
    conversation: Callable[[], Conversation | None]
    sounds: Sounds
    wait_s: float = 20.0
    done: list[str] = field(default_factory=list)
    _clears: int = 0
    _said: int = 0  # items of the history before what the caller did last

    async def play(self, script: CallScript) -> None:
        """Every step in its order. Raises NotAsExpected."""
        for number, step in enumerate(script.steps, start=1):
            name = type(step).__name__
            try:
                async with asyncio.timeout(self.wait_s if not isinstance(step, Wait) else None):
                    await self._take(step)
            except TimeoutError:
                raise NotAsExpected(f"step {number} ({_told(step)}) did not come about in {self.wait_s:g} s") from None
            self.done.append(name)

    async def _take(self, step: Step) -> None:
        match step:
            case Say() | PlayWav():
                sound = await self.sounds(step)
                self._note()
                self.carrier.speak(sound)
                await self._until(lambda: not self.carrier.is_speaking)
            case Wait():
                await asyncio.sleep(step.ms / 1000)
            case Press():
                self._note()
                for key in step.keys:
                    self.carrier.press(key)
                    await asyncio.sleep(KEY_MS / 1000)
            case Hear():
                await self._until(lambda: self.carrier.sounding_ms >= step.ms)
            case Listen():
                await self._listen()
            case Expect():
                await self._until(lambda: self._is_as_expected(step))
            case HangUp():
                self.carrier.hang_up()

    def _note(self) -> None:
        self._clears = self.carrier.clears
        found = self.conversation()
        self._said = len(found.history) if found is not None else 0

    async def _listen(self) -> None:
        await self._until(lambda: self.carrier.sounding_ms > 0)
        loop = asyncio.get_running_loop()
        quiet_since = loop.time()
        while loop.time() - quiet_since < SILENT_MS / 1000:
            await asyncio.sleep(0.02)
            if self.carrier.is_sounding or self.carrier.sounding_ms:
                quiet_since = loop.time()

    def _is_as_expected(self, step: Expect) -> bool:
        found = self.conversation()
        if found is None and (step.heard or step.said):
            return False
        items = found.history if found is not None else ()
        heard = not step.heard or any(
            isinstance(item, UserSaid) and _holds(item.text, step.heard) for item in items[self._said :]
        )
        said = not step.said or any(isinstance(item, AgentSaid) and _holds(item.text, step.said) for item in items)
        cut = step.interrupted is None or (self.carrier.clears > self._clears) is step.interrupted
        return heard and said and cut and (not step.over or self.carrier.is_over)

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            await asyncio.sleep(0.01)


def _holds(text: str, wanted: str) -> bool:
    """Are the wanted words in the text, next to each other?"""
    there, words = words_of(text), words_of(wanted)
    return any(there[at : at + len(words)] == words for at in range(len(there) - len(words) + 1))


def _told(step: Step) -> str:
    name = type(step).__name__.lower()
    parts = [f"{key} {value!r}" for key in step.__slots__ if (value := getattr(step, key)) not in ("", None, False)]
    return " ".join((name, *parts))
