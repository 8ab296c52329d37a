"""An agent whose ears hear tones: a loud frame is speech, and what it says comes from a list.

Rule: everything is scripted, so that a test knows each word. The voice has 120 ms of real sound a word.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

from duologue import Agent, profile
from duologue.core.settings import Settings
from duologue.ports.brain import Part, Request
from duologue.ports.ears import Commit, Final, Frame, Heard, Incoming, Partial, SpeechBegan, SpeechEnded
from duologue.ports.sound import Sound, Word
from duologue.ports.tool_call import ToolCall
from duologue.testing import ScriptedBrain

LOUD = 2_000
QUIET_MS = 160
PARTIAL_MS = 60
WORD_MS = 120
LONG = " ".join(f"word{number}" for number in range(1, 41))  # 4.8 s


def tone(ms: int, rate_hz: int = 24_000) -> bytes:
    """A loud tone."""
    samples = (round(8_000 * math.sin(2 * math.pi * 220 * at / rate_hz)) for at in range(rate_hz * ms // 1000))
    return array("h", samples).tobytes()


def silence(ms: int, rate_hz: int = 24_000) -> bytes:
    return bytes(rate_hz * ms // 1000 * 2)


class ToneEars:
    """Hears each burst of loud frames as the next text of `hears`, or of `otherwise`."""

    def __init__(self, hears: list[str] | None = None, otherwise: str = "hello there") -> None:
        self.hears = hears if hears is not None else []
        self.otherwise = otherwise
        self.heard_ms = 0
        self.rates: set[int] = set()

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        utterance, loud_ms, quiet_ms, text = 0, 0, 0, ""
        is_open, is_partial = False, False
        async for item in audio:
            if isinstance(item, Commit) and is_open:
                is_open = False
                yield Final(text, 0.9, utterance)
            if not isinstance(item, Frame):
                continue
            ms = len(item.pcm) // 2 * 1000 // item.rate_hz
            self.heard_ms += ms
            self.rates.add(item.rate_hz)
            is_loud = max(map(abs, array("h", item.pcm)), default=0) > LOUD
            loud_ms, quiet_ms = (loud_ms + ms, 0) if is_loud else (loud_ms, quiet_ms + ms)
            if is_loud and not is_open:
                utterance, is_open, is_partial, loud_ms = utterance + 1, True, False, ms
                text = self.hears.pop(0) if self.hears else self.otherwise
                yield SpeechBegan(utterance)
            if is_open and loud_ms >= PARTIAL_MS and not is_partial and text:
                is_partial = True
                yield Partial(text, 0.9, utterance)
            if is_open and quiet_ms >= QUIET_MS:
                is_open = False
                yield SpeechEnded(utterance, quiet_ms)
                yield Final(text, 0.9, utterance)


@dataclass(frozen=True)
class ToneVoice:
    """Says each word with a tone of 120 ms, at 24 kHz."""

    word_ms: int = WORD_MS

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        for word in text.split():
            yield Sound(self.word_ms, tone(self.word_ms), 24_000, (Word(word, 0, self.word_ms),))


SETTINGS = replace(profile("confirm"), session_ms_max=0, session_warning_ms=0, dead_air_ms=0)


def tone_agent(
    script: dict[str, object] | Callable[[Request], object] | None = None,
    *,
    hears: list[str] | None = None,
    settings: Settings = SETTINGS,
    **more: object,
) -> Agent:
    """An agent with scripted replies."""
    brain = ScriptedBrain(script if script is not None else default_script)  # type: ignore[arg-type]
    return Agent(brain, name="Ada", voice=ToneVoice(), ears=ToneEars(hears), profile=settings, **more)  # type: ignore[arg-type]


def default_script(request: Request) -> Part | list[Part]:
    """Answers with a tool call, with its output, with a long story, or with what was said."""
    if request.outputs:
        return f"The tool says {request.outputs[-1].output}."
    said = request.text.lower()
    if "weather" in said and any(tool.name == "get_weather" for tool in request.tools):
        return [ToolCall("get_weather", {"city": "Berlin"}, "call-1")]
    if "story" in said:
        return f"{LONG}."
    return f"You said {said}." if said else "Hello, I am Ada."
