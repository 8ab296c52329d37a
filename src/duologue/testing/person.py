"""A simulated user, who talks, coughs, interrupts and hangs up.

The user acts through scripted ears (STT and VAD) and a scripted line (the connection), in the time of the event loop.
Rule: the simulated user knows only what can be heard, and nothing about the state machine.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded


@dataclass(frozen=True, slots=True)
class SpeakingPace:
    """How fast the user speaks, and how much later the ears report the text."""

    word_ms: int = 250
    partial_lag_ms: int = 80
    final_lag_ms: int = 120
    confidence: float = 0.95


class Person:
    """A simulated user."""

    def __init__(self, ears: ScriptedEars, line: ScriptedLine, pace: SpeakingPace | None = None) -> None:
        self.ears = ears
        self.line = line
        self.pace = pace or SpeakingPace()
        self.utterance = 0

    async def say(self, text: str) -> None:
        """Say this text, word by word. Returns at the end of the last word, before the ears report the final text."""
        self.utterance += 1
        utterance, words, pace = self.utterance, text.split(), self.pace
        self.ears.tell(SpeechBegan(utterance))
        for count in range(1, len(words) + 1):
            await asyncio.sleep(pace.word_ms / 1000)
            if count < len(words):
                self._later(pace.partial_lag_ms, Partial(" ".join(words[:count]), pace.confidence, utterance))
        self.ears.tell(SpeechEnded(utterance))
        self._later(pace.final_lag_ms, Final(text, pace.confidence, utterance))

    async def cough(self, for_ms: int = 200, noticed: bool = True) -> None:
        """Make a sound without words. With `noticed`, the ears report an empty final text afterwards."""
        self.utterance += 1
        utterance = self.utterance
        self.ears.tell(SpeechBegan(utterance))
        await asyncio.sleep(for_ms / 1000)
        self.ears.tell(SpeechEnded(utterance))
        if noticed:
            self._later(self.pace.final_lag_ms, Final("", 0.0, utterance))

    async def hear_agent(self, for_ms: int) -> None:
        """Wait until the agent has spoken for `for_ms` and is still speaking."""
        while self.line.heard_ms < for_ms or not self.line.is_sounding:
            await asyncio.sleep(0.01)

    def hang_up(self) -> None:
        self.line.hang_up()

    async def lose_line(self, for_ms: int, wobbles: bool = True) -> None:
        """Lose the connection for `for_ms`. With `wobbles`, the connection stays open and recovers by itself. Otherwise
        it is closed, and can be opened again after `for_ms`."""
        if wobbles:
            self.line.wobble()
            await asyncio.sleep(for_ms / 1000)
            self.line.heal()
            return
        self.line.drop()
        self.line.block()
        await asyncio.sleep(for_ms / 1000)
        self.line.unblock()

    def _later(self, ms: int, heard: Partial | Final) -> None:
        asyncio.get_running_loop().call_later(ms / 1000, self.ears.tell, heard)
