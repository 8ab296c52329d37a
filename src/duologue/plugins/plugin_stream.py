"""A stream of an STT plugin, in the form that Duologue's ears use.

Rule: the plugin's exceptions are classified here, and its usage is counted here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from duologue.ears.service_stream import SpeechStream
from duologue.ears.service_utterances import Given
from duologue.ports.ears import Frame
from duologue.ports.usage import UsageCount

from .failures import plugin_failures
from .plugin_loop import close_soon
from .pushed_audio import PushedFrames
from .speech_events import read_event, usage_of


class PluginStream(SpeechStream):
    """One stream of an STT plugin. `name` is the plugin's name in error messages."""

    def __init__(self, stream: Any, name: str, usage: UsageCount) -> None:
        self._stream, self._name, self._usage = stream, name, usage
        self._pushed = PushedFrames(stream)

    @property
    def at_ms(self) -> int:
        return self._pushed.at_ms

    def push(self, frame: Frame) -> None:
        with plugin_failures(self._name):
            self._pushed.push(frame)

    def flush(self) -> None:
        with plugin_failures(self._name):
            self._stream.flush()

    def end(self) -> None:
        with plugin_failures(self._name):
            self._stream.end_input()

    async def __aiter__(self) -> AsyncIterator[Given]:
        with plugin_failures(self._name):
            async for event in self._stream:
                self._usage.add(usage_of(event))
                if (given := read_event(event)) is not None:
                    yield given

    async def close(self) -> None:
        await close_soon(self._stream.aclose)
