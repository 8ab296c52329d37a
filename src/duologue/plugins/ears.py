"""An STT plugin as ears: the service detects speech and transcribes it.

The module `duologue.ears.service_stream` passes the audio to the plugin, and the plugin's events to the conversation.
Rule: a failure ends the stream. The conversation then decides whether the ears are started again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

from duologue.ears.service_stream import TEXT_MS_MAX, listen_with
from duologue.ears.service_words import StreamWords
from duologue.ports.ears import Heard, Incoming
from duologue.ports.streams import reading
from duologue.ports.usage import Usage, UsageCount
from duologue.ports.words import WordStream

from .batch_words import BatchWords
from .plugin_loop import PluginLoop, agents, connect_options
from .plugin_stream import PluginStream


class PluginEars:
    """Hears with an STT plugin, such as `PluginEars(deepgram.STT())`.

    `stt` is the plugin object, or a function that creates it. A plugin that can't stream needs a VAD object from
    LiveKit. By default, this is the VAD in livekit-agents; another one can be passed as `vad`. If `judges_turns` is
    true, the turn ends as soon as the service reports the end of speech. Set it for a service that decides when a turn
    is over, such as Deepgram Flux. `on_usage` is called with the amounts that the service reports as used. If voice
    detection should run on this machine, and only the words should come from the service, pass these ears to
    `LocalEars(words=...)`.
    """

    def __init__(
        self,
        stt: Any,
        *,
        vad: Any = None,
        judges_turns: bool = False,
        text_ms_max: int = TEXT_MS_MAX,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> None:
        self._loop = PluginLoop(stt, "PluginEars", ("recognize", "stream", "capabilities"), "deepgram.STT()")
        self._vad = vad
        self._judges_turns = judges_turns
        self._text_ms_max = text_ms_max
        self._usage = UsageCount(on_usage)

    @property
    def usage(self) -> Usage:
        """The total usage of the service so far."""
        return self._usage.total

    @property
    def settings(self) -> dict[str, Any]:
        """The name of the service and its settings, as data for a journal."""
        return {"stt": self._loop.name, "judges_turns": self._judges_turns, "text_ms_max": self._text_ms_max}

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        """The events that the service reports for this audio. If the generator is closed, the connection is closed."""
        plugin = await self._loop.get()
        stream = self._loop.run(lambda: self._streaming(plugin).stream(conn_options=connect_options()))
        made = PluginStream(stream, self._loop.name, self._usage)
        async with reading(listen_with(made, audio, self._judges_turns, self._text_ms_max)) as reports:
            async for heard in reports:
                yield heard

    async def open_words(self) -> WordStream:
        """A stream that returns only the service's transcripts, for ears that detect speech on this machine."""
        plugin = await self._loop.get()
        if not plugin.capabilities.streaming:
            return BatchWords(plugin, self._loop, self._usage)
        stream = self._loop.run(lambda: plugin.stream(conn_options=connect_options()))
        return StreamWords(PluginStream(stream, self._loop.name, self._usage), self._text_ms_max)

    async def close(self) -> None:
        """Close the plugin's connections."""
        await self._loop.close()

    def _streaming(self, plugin: Any) -> Any:
        """The plugin itself if it can stream; otherwise the plugin wrapped in LiveKit's stream adapter."""
        if plugin.capabilities.streaming:
            return plugin
        package = agents()
        vad = self._vad if self._vad is not None else package.inference.VAD()
        return package.stt.StreamAdapter(stt=plugin, vad=vad)
