"""Duologue under the scenarios: scripted brain and voice, and ears that report what a scenario tells them.

With the VAD on, local ears hear the audio: Silero finds the speech, and an STT that takes no time writes the text.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scenarios import ANSWER, PIECE_MS, Setup, Wire, run

from duologue.ears.scripted import ScriptedEars
from duologue.lines.scripted import ScriptedLine
from duologue.ports.brain import Request
from duologue.ports.ears import Final, Frame, SpeechBegan, SpeechEnded, TurnOver
from duologue.ports.line import Finished, LineEvent
from duologue.ports.sound import Sound
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats

RATE_HZ = 24_000


class Brain:
    """Answers at once."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def reply(self, request: Request) -> AsyncIterator[str]:  # noqa: ARG002
        self._wire.ask()
        yield ANSWER


class Voice:
    """Speaks at once, in chunks of 20 ms."""

    def __init__(self, ms: int) -> None:
        self._count = ms // PIECE_MS
        self._sound = Sound(PIECE_MS, bytes(RATE_HZ * PIECE_MS // 1000 * 2), RATE_HZ)

    async def speak(self, text: str) -> AsyncIterator[Sound]:  # noqa: ARG002
        for _ in range(self._count):
            yield self._sound


class Line(ScriptedLine):
    """Plays on the clock of the loop, and reports to the wire."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        self._wire.send(sound.ms)
        super().play(voice, chunk, sound)

    def hold(self, voice: int) -> None:
        super().hold(voice)
        self._wire.stop()

    def clear(self, voice: int) -> None:
        super().clear(voice)
        self._wire.stop()

    def tell(self, event: LineEvent) -> None:
        if isinstance(event, Finished):
            self._wire.finish()
        super().tell(event)


class DuologueSession:
    def __init__(self, conversation: Conversation, line: Line, ears: ScriptedEars | None) -> None:
        self._conversation = conversation
        self._line = line
        self._ears = ears

    async def hear(self, pcm: bytes) -> None:
        self._line.tell(Frame(pcm))

    async def begin_speech(self) -> None:
        self._tell(SpeechBegan())

    async def end_speech(self) -> None:
        self._tell(SpeechEnded())

    async def write(self, text: str) -> None:
        self._tell(Final(text))
        self._tell(TurnOver())

    def _tell(self, heard: Any) -> None:
        if self._ears is not None:  # local ears write their own text
            self._ears.tell(heard)

    async def close(self) -> None:
        await self._conversation.end()


class Duologue:
    """Sessions with Duologue, with the settings that it has by default."""

    async def open(self, wire: Wire, setup: Setup) -> DuologueSession:
        line = Line(wire)
        scripted = None if setup.vad else ScriptedEars()
        agent = Agent(Brain(wire), ears=scripted or _local_ears(), voice=Voice(setup.reply_ms))
        conversation = Conversation(agent, line, seats=Seats())
        await conversation.start()
        return DuologueSession(conversation, line, scripted)


_EARS: list[Any] = []


def _local_ears() -> Any:
    """Ears that all sessions share, as they do in a server."""
    if not _EARS:
        from duologue.ears.local import LocalEars
        from duologue.lab.bench.instant_text import InstantText

        ears = LocalEars(InstantText(), judges_turns=False, cancels_echo=False)
        ears.load()
        _EARS.append(ears)
    return _EARS[0]


if __name__ == "__main__":
    run(Duologue())
