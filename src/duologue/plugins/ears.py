"""An STT plugin as ears: the service detects speech and transcribes it.

`duologue.ears.service_stream` passes audio and events on. Rule: a failure ends the stream. The conversation decides
whether the ears are started again.
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

    `stt` is the plugin object, or a function that makes it. A plugin without streaming needs a VAD of LiveKit's: by
    default the one in livekit-agents, or `vad`. With `judges_turns`, the service's end of speech ends the turn at once;
    choose that for a service that judges turns, such as Deepgram Flux. `on_usage` is called with the amounts that the
    service reports as used. For voice detection on this machine with the words of the service, pass these ears to
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
        """The amounts that were used so far, in total."""
        return self._usage.total

    @property
    def settings(self) -> dict[str, Any]:
        """The service that listens, as data for a journal."""
        return {"stt": self._loop.name, "judges_turns": self._judges_turns, "text_ms_max": self._text_ms_max}

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        """The events that the service reports for this audio. Closing the generator closes the connection."""
        plugin = await self._loop.get()
        stream = self._loop.run(lambda: self._streaming(plugin).stream(conn_options=connect_options()))
        made = PluginStream(stream, self._loop.name, self._usage)
        async with reading(listen_with(made, audio, self._judges_turns, self._text_ms_max)) as reports:
            async for heard in reports:
                yield heard

    async def open_words(self) -> WordStream:
        """A stream of only the service's transcripts, for ears that detect speech by themselves."""
        plugin = await self._loop.get()
        if not plugin.capabilities.streaming:
            return BatchWords(plugin, self._loop, self._usage)
        stream = self._loop.run(lambda: plugin.stream(conn_options=connect_options()))
        return StreamWords(PluginStream(stream, self._loop.name, self._usage), self._text_ms_max)

    async def close(self) -> None:
        """Close the connections of the plugin."""
        await self._loop.close()

    def _streaming(self, plugin: Any) -> Any:
        """The plugin, with a stream adapter if it can't stream by itself."""
        if plugin.capabilities.streaming:
            return plugin
        package = agents()
        vad = self._vad if self._vad is not None else package.inference.VAD()
        return package.stt.StreamAdapter(stt=plugin, vad=vad)
