"""A Realtime model that hears, thinks and speaks for an agent.

This module implements the interfaces that the runtime calls. Rule: the model decides nothing about the conversation.
The runtime says when to reply, what was heard, and when a session begins and ends.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from duologue.brains.model_wire import ModelWire, dial
from duologue.core.leaves import ErrorClass
from duologue.ports.brain import Part, Request
from duologue.ports.ears import Commit, Discard, Ears, Final, Frame, Heard, Incoming, SpeechBegan
from duologue.ports.failure import ServiceError
from duologue.ports.line import Closed, Healed, Wobbled
from duologue.ports.session import SessionContext, SessionLife
from duologue.ports.sound import Sound
from duologue.ports.streams import reading

from . import client_events as ce
from .answer import RealtimeAnswer
from .endpoint import Key, RealtimeEndpoint
from .failures import failure_of, not_reached
from .mirror import Mirror
from .open_session import RealtimeSession
from .settings import RealtimeSettings
from .uplink import AudioCopy, Onsets, RecentAudio, UplinkResampler
from .utterances import Utterances

if TYPE_CHECKING:
    from .client_events import ClientEvent

Notify = Callable[[Wobbled | Healed | Closed], None]


class RealtimeModel:
    """Hears, thinks and speaks on a Realtime server. `Agent(RealtimeModel())` needs no other services.

    Without `url`, the server is OpenAI, and its key is `api_key` or OPENAI_API_KEY. `url` may be
    `https://NAME.openai.azure.com/openai/v1`, or the URL of any compatible server. `api_key` may be a function that
    fetches a token. If the key expires, as a client secret does, pass the time in `key_expires_at`, in seconds since
    1970. If the key has expired or is about to expire, no conversation can start. `ears` are optional: they run locally
    and decide when the user's turns end, while the server still gets the audio. They need `turn_detection="none"` in
    `settings`. `wire` opens the connection, by default a WebSocket.
    """

    def __init__(
        self,
        model: str = "gpt-realtime",
        *,
        url: str | None = None,
        api_key: Key | None = None,
        key_expires_at: float | None = None,
        instructions: str = "",
        settings: RealtimeSettings | None = None,
        ears: Ears | None = None,
        headers: Mapping[str, str] | None = None,
        wire: Callable[[str, dict[str, str]], Awaitable[ModelWire]] = dial,
    ) -> None:
        self.settings = settings or RealtimeSettings()
        if ears is not None and self.settings.server_decides:
            raise ValueError(
                'ears=... also needs settings=RealtimeSettings(turn_detection="none"), because the ears end the turns'
            )
        if ears is None and self.settings.transcription is None:
            raise ValueError("transcription=None needs ears=...: otherwise the user's words are unknown")
        self.counts: Counter[str] = Counter()  # how many events were unknown, repeated, refused, late and so on
        self.endpoint = RealtimeEndpoint(model, url, api_key, headers or {})
        self._key_expires_at = key_expires_at
        self._instructions = instructions
        self._ears = ears
        self._wire = wire
        self._live: RealtimeSession | None = None
        self._retired: list[RealtimeSession] = []
        self._retiring: set[asyncio.Task[None]] = set()
        self._notify: Notify = lambda event: None  # noqa: ARG005
        self._heard: asyncio.Queue[Heard | None] = asyncio.Queue()
        self._utterances = Utterances(self.settings.quiet_ms, self.settings.server_decides)
        self._rates = UplinkResampler()
        self._onsets = Onsets()
        self._unsent = RecentAudio(self.settings.kept_ms_max)
        self._preroll = RecentAudio(self.settings.preroll_ms)
        self._is_speaking = False  # is the user speaking, according to local ears?
        self._utterance_ended = asyncio.Event()
        self._requests = 0

    @property
    def limits(self) -> tuple[tuple[str, int, float], ...]:
        """The server's rate limits as last reported, each as (name, remaining, seconds until the limit is reset)."""
        return self._live.exchange.limits if self._live is not None else ()

    # -- Session

    def follow_life(self, notify: Callable[[SessionLife], None]) -> Callable[[], None]:
        """Call `notify` with the time until the API key expires, or with None if that time isn't known."""
        expires_at = self._key_expires_at
        notify(SessionLife(left_ms=None if expires_at is None else max(0, round((expires_at - time.time()) * 1000))))
        return lambda: None

    async def open(self, context: SessionContext | None, notify: Notify) -> None:
        await self.close()
        if context is None:
            self._forget()
        self._notify = notify
        self._activate(await self._connect(context))

    async def renew(self, context: SessionContext | None, notify: Notify) -> None:
        """Open a new session, wait until the user has finished speaking, then switch to the new session. The old
        session still finishes its response."""
        fresh = await self._connect(context)
        try:
            await self._until_quiet()
        except BaseException:
            await fresh.close()
            raise
        old, self._live = self._live, None
        self._notify = notify
        self._lose_utterances()
        self._activate(fresh)
        if old is not None:
            self._start_retiring(old)

    async def close(self) -> None:
        lives = [live for live in (self._live, *self._retired) if live is not None]
        self._live = None
        self._retired.clear()
        for task in self._retiring:
            task.cancel()
        self._lose_utterances()
        for live in lives:
            await live.close()

    def _forget(self) -> None:
        """Drop all audio and results of the previous conversation."""
        while not self._heard.empty():
            self._heard.get_nowait()
        self._unsent.clear()
        self._preroll.clear()
        self._is_speaking = False

    async def _connect(self, context: SessionContext | None) -> RealtimeSession:
        """Open a session, send its settings, and restore the context."""
        live: RealtimeSession | None = None
        try:
            async with asyncio.timeout(self.settings.connect_ms_max / 1000):
                wire = await self._wire(self.endpoint.url, await self.endpoint.headers())
                live = RealtimeSession(wire, self.settings, Mirror(context), self._utterances, self.counts, self._hear)
                live.watch(self._lose, self._note_health)
                await live.begin(ce.session_settings(self.settings))
        except asyncio.CancelledError:
            if live is not None:
                await live.close()
            raise
        except (OSError, TimeoutError, ServiceError) as failure:
            if live is not None:
                await live.close()
            raise not_reached(failure, self.endpoint.host) from None
        except Exception as failure:
            if live is not None:
                await live.close()
            if type(failure).__module__.partition(".")[0] != "websockets":
                raise
            raise not_reached(failure, self.endpoint.host) from None
        return live

    def _activate(self, live: RealtimeSession) -> None:
        self._live = live
        for pcm in self._unsent.take():
            live.send(ce.append_audio(pcm))

    async def _until_quiet(self) -> None:
        """Wait until the user has finished speaking, but at most `switch_ms_max`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.switch_ms_max / 1000):
                while self._utterances.is_open and self._live is not None:
                    self._utterance_ended.clear()
                    await self._utterance_ended.wait()

    def _start_retiring(self, live: RealtimeSession) -> None:
        self._retired.append(live)
        task = asyncio.get_running_loop().create_task(self._retire(live), name="realtime retiring")
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _retire(self, live: RealtimeSession) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.retire_ms_max / 1000):
                while live.exchange.has_answers and not live.connection.is_over:
                    await live.exchange.wait_for_an_end()
        if live in self._retired:
            self._retired.remove(live)
        await live.close()

    def _lose(self, live: RealtimeSession, failure: ServiceError) -> None:
        """Handle the loss of a session. The core is told about the loss first, and only then do the requests of the
        session fail. So the core ignores these failures."""
        if live is self._live:
            self._live = None
            self._lose_utterances()
            self._start_retiring(live)
            self._notify(Closed())
        live.exchange.fail_all(failure)

    def _note_health(self, live: RealtimeSession, is_healthy: bool) -> None:
        if live is self._live:
            self._notify(Healed() if is_healthy else Wobbled())

    # -- Brain

    async def reply(self, request: Request) -> AsyncGenerator[Part, None]:
        """Stream the model's reply. Closing the stream cancels the response."""
        live = self._session()
        await live.exchange.wait_until_free()
        instructions = "\n\n".join(text for text in (self._instructions, request.instructions) if text)
        name = self._name()
        answer = RealtimeAnswer(name, ce.create_reply(request, name, instructions), request.reply)
        changes = live.changes(ce.task_settings(instructions, request.tools))
        before: list[ClientEvent] = [ce.update_session(changes)] if changes else []
        before += live.exchange.mirror.catch_up(request.history, request.reply)
        async with reading(self._parts(live, answer, before)) as parts:
            async for part in parts:
                yield part

    def truncate(self, reply: int, heard_ms: int) -> None:
        """Tell the server how much of this reply the user heard."""
        for live in (self._live, *self._retired):
            if live is not None:
                for event in live.exchange.mirror.truncate(reply, heard_ms):
                    live.send(event)

    async def summarise(self, text: str, chars_max: int) -> str:
        """Summarise the text in at most `chars_max` characters, outside the conversation."""
        name = self._name()
        answer = RealtimeAnswer(name, ce.summarise(text, chars_max, name), is_out_of_band=True)
        found = ""
        async with reading(self._parts(self._session(), answer, [])) as parts:
            async for part in parts:
                found += part if isinstance(part, str) else ""
        found = found.strip()
        if not found:
            raise failure_of(ErrorClass.SERVER_ERROR, "", self.endpoint.host)
        return found if len(found) <= chars_max else found[: chars_max - 1].rstrip() + "…"

    # -- Voice

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """Speak a fixed text in the model's voice, outside the conversation."""
        name = self._name()
        answer = RealtimeAnswer(name, ce.read_aloud(text, name), is_out_of_band=True)
        async with reading(self._parts(self._session(), answer, [])) as parts:
            async for part in parts:
                if isinstance(part, Sound):
                    yield Sound(part.ms, part.pcm, part.rate_hz)  # no transcript, because the caller knows the text

    # -- Ears

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        if self._ears is not None:
            async with reading(self._listen_locally(self._ears, audio)) as stream:
                async for heard in stream:
                    yield heard
            return
        pump = asyncio.get_running_loop().create_task(self._pump(audio, None), name="realtime audio")
        try:
            while True:
                found = await self._heard.get()
                if found is None:
                    if pump.done():
                        pump.result()
                        return
                    continue
                yield found
        finally:
            pump.cancel()

    async def _listen_locally(self, ears: Ears, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        """Listen with local ears, which decide when a turn ends. After each onset (the first sign of speech), the
        server gets the audio too."""
        copy = AudioCopy()
        pump = asyncio.get_running_loop().create_task(self._pump(audio, copy), name="realtime audio")
        try:
            async with reading(ears.listen(copy)) as stream:
                async for heard in stream:
                    if isinstance(heard, SpeechBegan):
                        self._is_speaking = True
                        for pcm in self._preroll.take():
                            self._append(pcm)
                    elif isinstance(heard, Final) and self._live is not None:
                        self._live.exchange.mirror.hear("", heard.text)
                    yield heard
        finally:
            pump.cancel()

    async def _pump(self, audio: AsyncIterator[Incoming], copy: AudioCopy | None) -> None:
        """Send audio frames and the ends of turns to the server, and to local ears if there are any."""
        try:
            async for item in audio:
                match item:
                    case Frame():
                        self._take_frame(self._rates.convert(item), gated=copy is not None)
                    case Commit() if not self.settings.server_decides:
                        self._end_turn(ce.commit_audio())
                    case Discard() if not self.settings.server_decides:
                        self._utterances.forget_unnamed()
                        self._utterance_ended.set()
                        self._end_turn(ce.clear_audio())
                if copy is not None:
                    copy.put(item)
        finally:
            self._heard.put_nowait(None)
            if copy is not None:
                copy.put(None)

    def _take_frame(self, pcm: bytes, gated: bool) -> None:
        if not pcm:
            return
        if gated and not self._is_speaking:
            self._preroll.add(pcm)
            return
        if not gated and not self.settings.server_decides:
            onset = self._onsets.feed(pcm)
            if onset is not None:
                events = self._utterances.begin_unnamed() if onset else self._utterances.end_unnamed()
                for heard in events:
                    self._hear(heard)
        self._append(pcm)

    def _append(self, pcm: bytes) -> None:
        if self._live is not None:
            self._live.send(ce.append_audio(pcm))
        else:
            self._unsent.add(pcm)

    def _end_turn(self, marker: ClientEvent) -> None:
        self._is_speaking = False
        self._preroll.clear()
        if self._live is not None:
            self._live.send(marker)
        else:
            self._unsent.clear()  # the next session gets the words as text

    def _hear(self, heard: Heard) -> None:
        self._heard.put_nowait(heard)
        if isinstance(heard, Final):
            self._utterance_ended.set()

    def _lose_utterances(self) -> None:
        for heard in self._utterances.lose():
            self._hear(heard)

    # -- Inside

    def _session(self) -> RealtimeSession:
        if self._live is None:
            raise failure_of(ErrorClass.NETWORK_TIMEOUT, "", self.endpoint.host)
        return self._live

    def _name(self) -> str:
        self._requests += 1
        return f"request_{self._requests}"

    async def _parts(
        self, live: RealtimeSession, answer: RealtimeAnswer, before: list[ClientEvent]
    ) -> AsyncGenerator[Any, None]:
        """Send the request and stream the parts of its answer. Each part must arrive within a deadline."""
        live.exchange.request(answer, before)
        try:
            await self._await_response(live, answer)
            while (part := await self._next_part(live, answer)) is not None:
                yield part
        finally:
            live.exchange.abandon(answer)

    async def _await_response(self, live: RealtimeSession, answer: RealtimeAnswer) -> None:
        """Wait until the server accepts or refuses the request. Raises ServiceError after the deadline. If the server
        has sent no message at all by then, the connection is also treated as lost."""
        received = live.connection.received
        try:
            async with asyncio.timeout(self.settings.request_ms_max / 1000):
                await asyncio.shield(answer.begun)
        except TimeoutError:
            if live.connection.received == received and not live.connection.is_over:
                self.counts["silent_deaths"] += 1
                live.connection.lose(TimeoutError())
            raise failure_of(ErrorClass.NETWORK_TIMEOUT, "", self.endpoint.host) from None

    async def _next_part(self, live: RealtimeSession, answer: RealtimeAnswer) -> Any:
        limit_ms = self.settings.tail_ms_max if answer.is_at_tail else self.settings.silence_ms_max
        try:
            async with asyncio.timeout(limit_ms / 1000):
                return await answer.next()
        except TimeoutError:
            if not answer.is_at_tail:
                raise failure_of(ErrorClass.NETWORK_TIMEOUT, "", self.endpoint.host) from None
        self.counts["end_lost"] += 1
        answer.end_without_event()
        live.exchange.forget(answer)
        return await answer.next()
