"""A caller who follows a call script on a scripted carrier, and checks what the script expects.

Rule: every step has a timeout. If a step times out, the call ends with an error that names this step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from duologue.core.errors import DuologueError
from duologue.ports.history import AgentSaid, UserSaid
from duologue.runtime.conversation import Conversation
from duologue.turns.words import words_of

from .call_script import Beep, CallScript, Expect, HangUp, Hear, Listen, PlayWav, Press, Say, Step, Wait
from .phone_speech import beep_sound
from .scripted_carrier import ScriptedCarrier

KEY_MS = 150  # from one key to the next
SILENT_MS = 400  # an agent that is silent for this long has finished

Sounds = Callable[[Say | PlayWav], Awaitable[bytes]]


class NotAsExpected(DuologueError):
    """A step did not happen in time. The message names the step."""


@dataclass
class ScriptedCaller:
    """One call. `conversation` returns the agent's conversation, and `sounds` makes the caller's audio. `done` lists
    the steps that were played."""

    carrier: ScriptedCarrier
    conversation: Callable[[], Conversation | None]
    sounds: Sounds
    wait_s: float = 20.0
    done: list[str] = field(default_factory=list)
    note: Callable[[str], None] = lambda what: None  # noqa: ARG005 - gets what the caller does
    _clears: int = 0
    _said: int = 0  # length of the history when the caller last did something

    async def play(self, script: CallScript) -> None:
        """Play every step in order. Raises NotAsExpected if a step doesn't happen in time."""
        await self.follow(script.steps)

    async def follow(self, steps: Sequence[Step]) -> None:
        """Play these steps in order. Raises NotAsExpected if a step doesn't happen in time."""
        for number, step in enumerate(steps, start=1):
            name = type(step).__name__
            try:
                async with asyncio.timeout(self.wait_s if not isinstance(step, Wait) else None):
                    await self._take(step)
            except TimeoutError:
                late = f"step {number} ({_describe(step)}) did not happen within {self.wait_s:g} s"
                raise NotAsExpected(f"{late}; {self._what_happened()}") from None
            self.done.append(name)

    def _tell(self, step: Step) -> None:
        match step:
            case Say():
                self.note(f'says "{step.text}"')
            case Press():
                self.note(f"presses {step.keys}")
            case Beep():
                self.note(f"beeps at {step.hz} Hz for {step.ms} ms")
            case HangUp():
                self.note("puts the receiver down")

    async def _take(self, step: Step) -> None:
        self._tell(step)
        match step:
            case Say() | PlayWav():
                sound = await self.sounds(step)
                self._remember_state()
                self.carrier.speak(sound)
                await self._wait_until(lambda: not self.carrier.is_speaking)
            case Beep():
                self.carrier.speak(beep_sound(step))
                await self._wait_until(lambda: not self.carrier.is_speaking)
            case Wait():
                await asyncio.sleep(step.ms / 1000)
            case Press():
                self._remember_state()
                for key in step.keys:
                    self.carrier.press(key)
                    await asyncio.sleep(KEY_MS / 1000)
            case Hear():
                await self._wait_until(lambda: self.carrier.sounding_ms >= step.ms)
            case Listen():
                await self._listen()
            case Expect():
                await self._wait_until(lambda: self._is_as_expected(step))
            case HangUp():
                self.carrier.hang_up()

    def _what_happened(self) -> str:
        """What the conversation has recorded since the caller last did something, for an error message."""
        found = self.conversation()
        items = found.history[self._said :] if found is not None else ()
        told = [f"{type(item).__name__} {getattr(item, 'text', '')!r}" for item in items]
        return f"since the caller's last action: {', '.join(told) or 'nothing'}"

    def _remember_state(self) -> None:
        self._clears = self.carrier.clears
        found = self.conversation()
        self._said = len(found.history) if found is not None else 0

    async def _listen(self) -> None:
        await self._wait_until(lambda: self.carrier.sounding_ms > 0)
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
            isinstance(item, UserSaid) and _contains(item.text, step.heard) for item in items[self._said :]
        )
        said = not step.said or any(isinstance(item, AgentSaid) and _contains(item.text, step.said) for item in items)
        cut = step.interrupted is None or (self.carrier.clears > self._clears) is step.interrupted
        return heard and said and cut and (not step.over or self.carrier.is_over)

    async def _wait_until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await asyncio.sleep(0.01)


def _contains(text: str, wanted: str) -> bool:
    """Does the text contain the wanted words, next to each other?"""
    there, words = words_of(text), words_of(wanted)
    return any(there[at : at + len(words)] == words for at in range(len(there) - len(words) + 1))


def _describe(step: Step) -> str:
    name = type(step).__name__.lower()
    parts = [f"{key} {value!r}" for key in step.__slots__ if (value := getattr(step, key)) not in ("", None, False)]
    return " ".join((name, *parts))
