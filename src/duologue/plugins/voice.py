"""A TTS plugin as a voice. For each sentence, one stream of the plugin is opened.

If the service reports word times, they are added to the sounds, so that the agent knows which words were heard. Rule: a
failed request is never retried here. If the generator is closed, the plugin's stream is closed.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports.markup import TaggedText
from duologue.ports.sound import Sound
from duologue.ports.usage import Usage, UsageCount
from duologue.ports.voice import Voice
from duologue.voice.markup import Markup
from duologue.voice.timed_sound import TimedSound

from .failures import PluginFailed, plugin_failures
from .plugin_loop import PluginLoop, close_soon, close_unused, connect_options
from .timed_frames import feed_frame


class PluginVoice(Voice):
    """Speaks with a TTS plugin, such as `PluginVoice(elevenlabs.TTS(encoding="pcm_24000"))`.

    `tts` is the plugin object, or a function that creates it. `on_usage` is called with the amounts that were used. If
    the service reports times for the words as they are written in the text, the agent knows exactly which words the
    user heard. Otherwise this is estimated from the lengths of the words. `markup` is the markup that the service takes
    in its text, such as `duologue.voice.markup.ELEVENLABS`; without it, the service gets plain text.
    """

    def __init__(
        self, tts: Any, *, markup: Markup | None = None, on_usage: Callable[[Usage], None] | None = None
    ) -> None:
        if markup is not None and not isinstance(markup, Markup):
            raise TypeError(
                "PluginVoice: markup must be a Markup, such as duologue.voice.markup.ELEVENLABS, "
                f"not {type(markup).__name__}"
            )
        self._markup = markup
        self._loop = PluginLoop(tts, "PluginVoice", ("synthesize", "sample_rate"), "elevenlabs.TTS()")
        self._usage = UsageCount(on_usage)

    @property
    def usage(self) -> Usage:
        """The total usage of the service so far."""
        return self._usage.total

    def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """The sound of a sentence, piece by piece. If the generator is closed or its reader is cancelled, the plugin's
        stream is closed."""
        return self.speak_tagged(TaggedText(text))

    def speak_tagged(self, tagged: TaggedText) -> AsyncGenerator[Sound, None]:
        """The sound of a sentence with tags, piece by piece. The tags are written in the text as `markup` says."""
        return self._speak(tagged.text, self._markup.write(tagged) if self._markup else tagged.text)

    async def _speak(self, text: str, marked_up: str) -> AsyncGenerator[Sound, None]:
        if not text.strip():
            return
        plugin = await self._loop.get()
        stream = self._loop.run(lambda: _open(plugin, marked_up))
        timed = TimedSound(self._loop.name, marked_up != text)
        try:
            with plugin_failures(self._loop.name):
                async for audio in stream:
                    for sound in feed_frame(timed, audio.frame, self._loop.name):
                        yield sound
                for sound in timed.rest():
                    yield sound
        finally:
            self._usage.add(Usage(characters=len(marked_up), spoken_ms=timed.made_ms))
            await close_soon(stream.aclose)
            close_unused(plugin)
        if not timed.made_ms and any(character.isalnum() for character in text):
            raise PluginFailed(ErrorClass.SERVER_ERROR, f"{self._loop.name} sent no audio")

    async def close(self) -> None:
        """Close the plugin's connections."""
        await self._loop.close()


def _open(plugin: Any, text: str) -> Any:
    """The plugin's stream for this sentence. If the plugin can't stream, it gets a single request, and there are no
    word times."""
    if not plugin.capabilities.streaming:
        return plugin.synthesize(text, conn_options=connect_options())
    stream = plugin.stream(conn_options=connect_options())
    stream.push_text(text)
    stream.flush()
    stream.end_input()
    return stream
