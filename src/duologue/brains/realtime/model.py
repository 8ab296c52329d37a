"""A Realtime model as a brain, ears, a voice and a session.

Joins the parts; decides nothing about the conversation. Rule: the runtime says when to reply, what was
heard and when a session begins and ends; this brings it to the server and back.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from duologue.core.leaves import ErrorClass
from duologue.ports.brain import Part, Request
from duologue.ports.ears import Commit, Discard, Ears, Final, Frame, Heard, Incoming, SpeechBegan
from duologue.ports.failure import ServiceError
from duologue.ports.line import Closed, Healed, Wobbled
from duologue.ports.session import Context
from duologue.ports.sound import Sound
from duologue.ports.streams import reading

from . import client_events as ce
from .answer import RealtimeAnswer
from .connection import RealtimeWire, dial
from .endpoint import Key, RealtimeEndpoint
from .failures import failure_of, not_reached
from .mirror import Mirror
from .open_session import Live
from .settings import RealtimeSettings
from .uplink import Onsets, RecentAudio, UplinkResampler
from .utterances import Utterances

if TYPE_CHECKING:
    from .client_events import ClientEvent

Tell = Callable[[Wobbled | Healed | Closed], None]
COPIED_MAX = 250  # five seconds of 20 ms frames, for ears that are behind


class RealtimeModel:
    """Hears, thinks and speaks on a Realtime server: `Agent(RealtimeModel())` is enough.

    Without `url` it is OpenAI, with the key in OPENAI_API_KEY unless `api_key` says another; `url` may be
    `https://NAME.openai.azure.com/openai/v1` or any compatible server's. `api_key` may be a function that
    fetches a token. `ears` are our own, for `turn_detection="none"`: they end turns, the server still hears
    the audio. `wire` opens the connection in place of a WebSocket.
    """

    def __init__(
        self,
        model: str = "gpt-realtime",
        *,
        url: str | None = None,
        api_key: Key | None = None,
        instructions: str = "",
        settings: RealtimeSettings | None = None,
        ears: Ears | None = None,
        headers: Mapping[str, str] | None = None,
        wire: Callable[[str, dict[str, str]], Awaitable[RealtimeWire]] = dial,
    ) -> None:
        self.settings = settings or RealtimeSettings()
        if ears is not None and self.settings.server_decides:
            raise ValueError('ears of our own need RealtimeSettings(turn_detection="none")')
        if ears is None and self.settings.transcription is None:
            raise ValueError("without transcription nobody tells what was said: give ears of our own")
        self.counts: Counter[str] = Counter()  # what was unknown, repeated, refused, late, unasked
        self._endpoint = RealtimeEndpoint(model, url, api_key, headers or {})
        self._instructions = instructions
        self._ears = ears
        self._wire = wire
        self._live: Live | None = None
        self._retired: list[Live] = []
        self._retiring: set[asyncio.Task[None]] = set()
        self._tell: Tell = lambda event: None  # noqa: ARG005
        self._heard: asyncio.Queue[Heard | None] = asyncio.Queue()
        self._utterances = Utterances(self.settings.quiet_ms, self.settings.server_decides)
        self._rates = UplinkResampler()
        self._onsets = Onsets()
        self._kept = RecentAudio(self.settings.kept_ms_max)
        self._preroll = RecentAudio(self.settings.preroll_ms)
        self._is_speaking = False  # by our own ears
        self._said_something = asyncio.Event()  # an utterance is over
        self._requests = 0

    @property
    def limits(self) -> tuple[tuple[str, int, float], ...]:
        """What the server last told of its rate limits: (name, remaining, seconds until it is full)."""
        return self._live.exchange.limits if self._live is not None else ()

    # -- Session

    async def open(self, context: Context | None, tell: Tell) -> None:
        await self.close()
        if context is None:
            self._forget()
        self._tell = tell
        self._enter(await self._connect(context))

    async def renew(self, context: Context | None, tell: Tell) -> None:
        """The new session is ready before the old one goes; nobody is cut off in mid-sentence, and what the
        old one is saying is said to its end."""
        fresh = await self._connect(context)
        try:
            await self._until_quiet()
        except BaseException:
            await fresh.close()
            raise
        old, self._live = self._live, None
        self._tell = tell
        self._lose_utterances()
        self._enter(fresh)
        if old is not None:
            self._put_away(old)

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
        """Another conversation begins: nothing that the last one heard is for this one."""
        while not self._heard.empty():
            self._heard.get_nowait()
        self._kept.clear()
        self._preroll.clear()
        self._is_speaking = False

    async def _connect(self, context: Context | None) -> Live:
        """A session that took its settings and knows what was said."""
        live: Live | None = None
        try:
            async with asyncio.timeout(self.settings.connect_ms_max / 1000):
                wire = await self._wire(self._endpoint.url, await self._endpoint.headers())
                live = Live(wire, self.settings, Mirror(context), self._utterances, self.counts, self._hear)
                live.watch(self._lose, self._note_health)
                await live.begin(ce.session_settings(self.settings))
        except asyncio.CancelledError:
            if live is not None:
                await live.close()
            raise
        except (OSError, TimeoutError, ServiceError) as failure:
            if live is not None:
                await live.close()
            raise not_reached(failure, self._endpoint.host) from None
        except Exception as failure:
            if live is not None:
                await live.close()
            if type(failure).__module__.partition(".")[0] != "websockets":
                raise
            raise not_reached(failure, self._endpoint.host) from None
        return live

    def _enter(self, live: Live) -> None:
        self._live = live
        for pcm in self._kept.take():
            live.send(ce.append_audio(pcm))

    async def _until_quiet(self) -> None:
        """Wait for the person to finish, but not for ever."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.switch_ms_max / 1000):
                while self._utterances.is_open and self._live is not None:
                    self._said_something.clear()
                    await self._said_something.wait()

    def _put_away(self, live: Live) -> None:
        self._retired.append(live)
        task = asyncio.get_running_loop().create_task(self._retire(live), name="realtime retiring")
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _retire(self, live: Live) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.retire_ms_max / 1000):
                while live.exchange.has_answers and not live.connection.is_over:
                    await live.exchange.moved()
        if live in self._retired:
            self._retired.remove(live)
        await live.close()

    def _lose(self, live: Live, failure: ServiceError) -> None:
        """The server is gone. The machine knows first: what fails because of it is stale by then."""
        if live is self._live:
            self._live = None
            self._lose_utterances()
            self._put_away(live)
            self._tell(Closed())
        live.exchange.lose(failure)

    def _note_health(self, live: Live, is_healthy: bool) -> None:
        if live is self._live:
            self._tell(Healed() if is_healthy else Wobbled())

    # -- Brain

    async def reply(self, request: Request) -> AsyncGenerator[Part, None]:
        """What the model says to this. Closing it cancels the response."""
        live = self._session()
        await live.exchange.free()
        instructions = "\n\n".join(text for text in (self._instructions, request.instructions) if text)
        name = self._name()
        answer = RealtimeAnswer(name, ce.ask(request, name, instructions), request.reply)
        changes = live.changes(ce.task_settings(instructions, request.tools))
        before: list[ClientEvent] = [ce.update_session(changes)] if changes else []
        before += live.exchange.mirror.catch_up(request.history, request.reply)
        async with reading(self._parts(live, answer, before)) as parts:
            async for part in parts:
                yield part

    def truncate(self, reply: int, heard_ms: int) -> None:
        """So much of this reply was heard, and no more will be."""
        for live in (self._live, *self._retired):
            if live is not None:
                for event in live.exchange.mirror.cut(reply, heard_ms):
                    live.send(event)

    async def summarise(self, text: str, chars_max: int) -> str:
        """The text in other words, made beside the conversation."""
        name = self._name()
        answer = RealtimeAnswer(name, ce.summarise(text, chars_max, name), is_aside=True)
        found = ""
        async with reading(self._parts(self._session(), answer, [])) as parts:
            async for part in parts:
                found += part if isinstance(part, str) else ""
        found = found.strip()
        if not found:
            raise failure_of(ErrorClass.SERVER_ERROR, "", self._endpoint.host)
        return found if len(found) <= chars_max else found[: chars_max - 1].rstrip() + "…"

    # -- Voice

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """A set phrase in the model's own voice, made beside the conversation."""
        name = self._name()
        answer = RealtimeAnswer(name, ce.read_aloud(text, name), is_aside=True)
        async with reading(self._parts(self._session(), answer, [])) as parts:
            async for part in parts:
                if isinstance(part, Sound):
                    yield Sound(part.ms, part.pcm, part.rate_hz)  # the words are known: they are the sentence

    # -- Ears

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        if self._ears is not None:
            async with reading(self._listen_ourselves(self._ears, audio)) as stream:
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

    async def _listen_ourselves(self, ears: Ears, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        """Our own ears decide; the server gets the audio from each onset on."""
        copy = _Copy()
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

    async def _pump(self, audio: AsyncIterator[Incoming], copy: _Copy | None) -> None:
        """Frames and markers, on to the server."""
        try:
            async for item in audio:
                match item:
                    case Frame():
                        self._take_frame(self._rates.convert(item), gated=copy is not None)
                    case Commit() if not self.settings.server_decides:
                        self._end_turn(ce.commit_audio())
                    case Discard() if not self.settings.server_decides:
                        self._utterances.forget_unnamed()
                        self._said_something.set()
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
                told = self._utterances.begin_unnamed() if onset else self._utterances.end_unnamed()
                for heard in told:
                    self._hear(heard)
        self._append(pcm)

    def _append(self, pcm: bytes) -> None:
        if self._live is not None:
            self._live.send(ce.append_audio(pcm))
        else:
            self._kept.add(pcm)

    def _end_turn(self, marker: ClientEvent) -> None:
        self._is_speaking = False
        self._preroll.clear()
        if self._live is not None:
            self._live.send(marker)
        else:
            self._kept.clear()  # its words are known; the next session gets them as text

    def _hear(self, heard: Heard) -> None:
        self._heard.put_nowait(heard)
        if isinstance(heard, Final):
            self._said_something.set()

    def _lose_utterances(self) -> None:
        for heard in self._utterances.lose():
            self._hear(heard)

    # -- Inside

    def _session(self) -> Live:
        if self._live is None:
            raise failure_of(ErrorClass.NETWORK_TIMEOUT, "", self._endpoint.host)
        return self._live

    def _name(self) -> str:
        self._requests += 1
        return f"request_{self._requests}"

    async def _parts(self, live: Live, answer: RealtimeAnswer, before: list[ClientEvent]) -> AsyncGenerator[Any, None]:
        """What an answer brings, each piece within its deadline."""
        live.exchange.ask(answer, before)
        try:
            await self._await_response(live, answer)
            while (part := await self._next_part(live, answer)) is not None:
                yield part
        finally:
            live.exchange.leave(answer)

    async def _await_response(self, live: Live, answer: RealtimeAnswer) -> None:
        """Until the server says yes or no. One from which nothing at all came meanwhile is gone."""
        received = live.connection.received
        try:
            async with asyncio.timeout(self.settings.request_ms_max / 1000):
                await asyncio.shield(answer.begun)
        except TimeoutError:
            if live.connection.received == received and not live.connection.is_over:
                self.counts["silent_deaths"] += 1
                live.connection.lose(TimeoutError())
            raise failure_of(ErrorClass.NETWORK_TIMEOUT, "", self._endpoint.host) from None

    async def _next_part(self, live: Live, answer: RealtimeAnswer) -> Any:
        limit_ms = self.settings.tail_ms_max if answer.is_at_tail else self.settings.silence_ms_max
        try:
            async with asyncio.timeout(limit_ms / 1000):
                return await answer.next()
        except TimeoutError:
            if not answer.is_at_tail:
                raise failure_of(ErrorClass.NETWORK_TIMEOUT, "", self._endpoint.host) from None
        self.counts["end_lost"] += 1
        answer.end_unheard()
        live.exchange.forget(answer)
        return await answer.next()


class _Copy:
    """The same audio once more, for ears of our own. Those that fall too far behind miss frames, and no marker."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[Incoming | None] = asyncio.Queue()

    def put(self, item: Incoming | None) -> None:
        if not isinstance(item, Frame) or self._queue.qsize() < COPIED_MAX:
            self._queue.put_nowait(item)

    def __aiter__(self) -> _Copy:
        return self

    async def __anext__(self) -> Incoming:
        item = await self._queue.get()
        if item is None:
            raise StopAsyncIteration
        return item
