"""A scripted speech-to-speech model: ears (STT and VAD), brain and voice (TTS) in one, with its own session.

The model implements the ports of all three services. Rule: like a real model, it learns from the history of the next
request how much of a reply the user heard.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from duologue.brains.scripted import ScriptedBrain, ScriptedReplies
from duologue.ears.scripted import ScriptedEars
from duologue.ports.brain import Part, Request
from duologue.ports.ears import Heard, Incoming
from duologue.ports.history import AgentSaid
from duologue.ports.line import Closed, Healed, Wobbled
from duologue.ports.session import SessionContext
from duologue.ports.sound import Sound
from duologue.ports.streams import reading
from duologue.voice.scripted import ScriptedVoice


class ScriptedModel:
    """A speech-to-speech model that follows a script."""

    def __init__(self, script: ScriptedReplies = (), **delays: Any) -> None:
        self.ears = ScriptedEars()
        self.brain = ScriptedBrain(script, **delays)
        self._voice = ScriptedVoice()
        self.contexts: list[SessionContext | None] = []
        self.truncated: dict[int, int] = {}  # reply -> the ms that were heard of it

    # -- Ears

    def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        return self.ears.listen(audio)

    # -- Brain and voice

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        cut = [item for item in request.history if isinstance(item, AgentSaid) and item.interrupted]
        self.truncated |= {item.reply: item.heard_ms for item in cut}
        async with reading(self.brain.reply(request)) as parts:
            async for part in parts:
                if not isinstance(part, str):
                    yield part
                    continue
                async for sound in self._voice.speak(part):
                    text = "".join(f"{word.text} " for word in sound.words)
                    yield Sound(sound.ms, sound.pcm, sound.rate_hz, sound.words, text)

    # -- Session

    async def open(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        self.contexts.append(context)
        self.tell = notify

    async def renew(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        self.contexts.append(context)
        self.tell = notify

    async def close(self) -> None:
        pass
