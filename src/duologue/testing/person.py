"""A person on the other end of the line: talks, coughs, interrupts, hangs up.

Acts through the ears and the line like anybody, in the loop's time. Rule: a person knows what can be
heard and nothing of the machine.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.ports.ears import Final, Partial, SpeechBegan, SpeechEnded


@dataclass(frozen=True, slots=True)
class SpeakingPace:
    """How fast somebody speaks, and how fast the ears follow."""

    word_ms: int = 250
    partial_lag_ms: int = 80
    final_lag_ms: int = 120
    confidence: float = 0.95


class Person:
    """One person."""

    def __init__(self, ears: ScriptedEars, line: ScriptedLine, pace: SpeakingPace | None = None) -> None:
        self.ears = ears
        self.line = line
        self.pace = pace or SpeakingPace()
        self.utterance = 0

    async def say(self, text: str) -> None:
        """Say this, word by word, and fall silent. Returns with the last sound, before the final text
        is known."""
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
        """Make a sound without words. `noticed`: the ears find out that there were none."""
        self.utterance += 1
        utterance = self.utterance
        self.ears.tell(SpeechBegan(utterance))
        await asyncio.sleep(for_ms / 1000)
        self.ears.tell(SpeechEnded(utterance))
        if noticed:
            self._later(self.pace.final_lag_ms, Final("", 0.0, utterance))

    async def hear_agent(self, for_ms: int) -> None:
        """Listen until the agent has spoken for so long."""
        while self.line.heard_ms < for_ms or not self.line.is_sounding:
            await asyncio.sleep(0.01)

    def hang_up(self) -> None:
        self.line.hang_up()

    async def lose_line(self, for_ms: int, wobbles: bool = True) -> None:
        """The line is gone for so long; a short wobble heals by itself."""
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
