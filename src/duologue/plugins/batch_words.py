"""Transcribes with an STT plugin that can't stream. The ears on this machine detect when the person speaks.

The plugin gets the audio of an utterance after the utterance has ended. Rule: only a limited amount of audio is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duologue.ears.service_utterances import TextHeard
from duologue.ports.usage import Usage, UsageCount
from duologue.ports.words import WordStream, WrittenText

from .failures import plugin_failures
from .plugin_loop import PluginLoop, connect_options
from .pushed_audio import audio_frame
from .speech_events import read_event

RATE_HZ = 16_000
KEPT_MS_MAX = 60_000  # how much audio is kept for an utterance


class BatchWords(WordStream):
    """The words of an STT plugin that transcribes one whole utterance at a time."""

    def __init__(self, plugin: Any, loop: PluginLoop, usage: UsageCount) -> None:
        self._plugin, self._loop, self._usage = plugin, loop, usage
        self._kept = bytearray()
        self._start_ms = 0  # where the kept audio begins
        self._firsts: dict[int, int] = {}

    def follow(
        self,
        on_text: Callable[[int, WrittenText], None],
        on_late: Callable[[int, WrittenText], None],
        on_turn_over: Callable[[], None],
    ) -> None:
        """Does nothing, because a plugin without streaming gives only the final text, and `finish` returns it."""

    def hear(self, pcm: bytes) -> None:
        self._kept += pcm
        surplus_ms = len(self._kept) * 1000 // (2 * RATE_HZ) - KEPT_MS_MAX
        if surplus_ms >= 1000:
            del self._kept[: surplus_ms * RATE_HZ * 2 // 1000]
            self._start_ms += surplus_ms

    def begin(self, utterance: int, first_ms: int) -> None:
        self._firsts[utterance] = first_ms

    async def finish(self, utterance: int, end_ms: int, voiced_ms: int) -> WrittenText:  # noqa: ARG002
        first_ms = self._firsts.pop(utterance, end_ms)
        pcm = bytes(self._kept[self._place(first_ms) : self._place(end_ms)])
        frame = audio_frame(pcm, RATE_HZ)
        if frame is None:
            return WrittenText(stability=1.0)
        with plugin_failures(self._loop.name):
            event = await self._loop.start(lambda: self._plugin.recognize([frame], conn_options=connect_options()))
        self._usage.add(Usage(heard_ms=len(pcm) * 1000 // (2 * RATE_HZ)))
        heard = read_event(event)
        if not isinstance(heard, TextHeard):
            return WrittenText(stability=1.0)
        return WrittenText(heard.text.strip(), heard.confidence, 1.0, heard.last_confidence)

    def discard(self, utterance: int) -> None:
        self._firsts.pop(utterance, None)

    async def close(self) -> None:
        self._kept.clear()

    def _place(self, ms: int) -> int:
        return max(0, ms - self._start_ms) * RATE_HZ // 1000 * 2
