"""A Gemini Live model that thinks and speaks for an agent. The ears (VAD and STT) run on this computer.

This module implements the interfaces that the runtime calls. Rule: the model decides nothing about the conversation.
The runtime says when to reply, what was heard, and when a session begins and ends.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from typing import Any

from duologue.brains.model_wire import ModelWire, dial
from duologue.brains.realtime.uplink import AudioCopy, UplinkResampler
from duologue.core.leaves import ErrorClass
from duologue.ports.brain import Part, Request
from duologue.ports.ears import (
    Commit,
    Discard,
    Ears,
    Final,
    Frame,
    Heard,
    Incoming,
    NeedsLoading,
    Partial,
    SpeechBegan,
)
from duologue.ports.failure import ServiceError
from duologue.ports.history import Item
from duologue.ports.line import Closed, Healed, Wobbled
from duologue.ports.session import SessionContext
from duologue.ports.sound import Sound
from duologue.ports.streams import reading
from duologue.ports.usage import Usage, UsageCount
from duologue.ports.usage_report import report_usage
from duologue.ports.worker import Tool

from . import client_messages as cm
from .answer import GeminiAnswer
from .client_messages import ClientMessage
from .endpoint import GeminiEndpoint, GeminiKey
from .failures import failure_of, lost
from .live_session import GeminiSession
from .pressed_speech import PressedSpeech
from .server_copy import ServerCopy
from .server_messages import UserTranscribed
from .settings import INPUT_HZ, GeminiSettings
from .user_speech import UserSpeech

GeminiNotify = Callable[[Wobbled | Healed | Closed], None]
RESTORED_MAX = 20  # items of the history that a new session gets if the server can't resume the old one
LEFT_MS = 1_500  # the connection is replaced this long before the server closes it


class GeminiLive:
    """Thinks and speaks on a Gemini Live server. `Agent(GeminiLive(ears=LocalEars()))` needs no other services.

    Without `url`, the server is Google's, and its key is `api_key`, GEMINI_API_KEY or GOOGLE_API_KEY. `api_key` may be
    a function that fetches a token. `ears` run locally and decide when the user speaks and when a turn ends; the server
    gets the audio. Without ears, the agent can only be used with push-to-talk, and the server transcribes the user's
    speech. `on_usage` is called with the tokens of each answer. `wire` opens the connection, by default a WebSocket.
    """

    provider = "google"

    def __init__(
        self,
        model: str = "gemini-2.5-flash-native-audio-preview-12-2025",
        *,
        ears: Ears | None = None,
        url: str | None = None,
        api_key: GeminiKey | None = None,
        instructions: str = "",
        settings: GeminiSettings | None = None,
        headers: Mapping[str, str] | None = None,
        on_usage: Callable[[Usage], None] | None = None,
        wire: Callable[[str, dict[str, str]], Awaitable[ModelWire]] = dial,
    ) -> None:
        if ears is not None and not hasattr(ears, "listen"):
            raise TypeError(f"ears must have a method listen, such as LocalEars(), not {type(ears).__name__}")
        self.model = model
        self.settings = settings or GeminiSettings()
        self.counts: Counter[str] = Counter()  # how many messages were unknown, unrequested, late and so on
        self.endpoint = GeminiEndpoint(url, api_key, headers or {})
        self._instructions = instructions
        self._ears = ears
        self._wire = wire
        self._usage = UsageCount(on_usage)
        self._live: GeminiSession | None = None
        self._retired: list[GeminiSession] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._switching = asyncio.Lock()
        self._resume: tuple[str, ServerCopy] | None = None  # the server's handle, and what it knows at that point
        self._task: tuple[str, tuple[Tool, ...]] = (instructions, ())
        self._history: tuple[Item, ...] = ()
        self._notify: GeminiNotify = lambda event: None  # noqa: ARG005
        self._changed = asyncio.Event()
        self._speech = UserSpeech(self.settings, self._changed.set)
        self._pressed = PressedSpeech(self.settings, self._speech)

    @property
    def usage(self) -> Usage:
        """How many tokens this model has used so far."""
        return self._usage.total

    # -- Session

    async def open(self, context: SessionContext | None, notify: GeminiNotify) -> None:
        await self.close()
        if context is None:
            self._forget()
        self._notify = notify
        self._activate(await self._connect(context))

    async def renew(self, context: SessionContext | None, notify: GeminiNotify) -> None:
        """Wait until neither side speaks, then switch to a new connection. The new connection resumes the server's
        session, if the server allows that. The old connection still finishes its answer."""
        await self._switch(context, notify, self.settings.switch_ms_max)

    async def close(self) -> None:
        lives = [live for live in (self._live, *self._retired) if live is not None]
        self._live = None
        self._retired.clear()
        mine = asyncio.current_task()
        for task in self._tasks:
            if task is not mine:
                task.cancel()
        self._lose_speech()
        for live in lives:
            await live.close()

    def _forget(self) -> None:
        """Drop everything that is left from the previous conversation."""
        self._resume = None
        self._history = ()
        self._task = (self._instructions, ())
        self._speech.forget()
        self._pressed.forget()

    async def _switch(self, context: SessionContext | None, notify: GeminiNotify | None, wait_ms: int) -> None:
        async with self._switching:
            await self._until_quiet(wait_ms)
            if notify is None and self._live is None:
                return  # the session was lost meanwhile, and the runtime opens the next one
            fresh = await self._connect(context)
            old, self._live = self._live, None
            self._notify = notify or self._notify
            self._activate(fresh)
            if old is not None:
                self._start_retiring(old)

    async def _connect(self, context: SessionContext | None) -> GeminiSession:
        """Open a connection. If the server has given us a handle and still accepts it, this connection resumes the
        server's session. Otherwise it begins a new session, which gets the context."""
        resume = self._resume if self.settings.resumes else None
        if resume is not None:
            try:
                return await self._begin(resume[1].snapshot(), resume[0])
            except ServiceError as failure:
                if failure.error not in (ErrorClass.INVALID_ARGS, ErrorClass.SESSION_EXPIRED):
                    raise
                self.counts["not_resumed"] += 1
                self._resume = None
        copy = ServerCopy(context)
        live = await self._begin(copy, "")
        told = copy.restore()
        if told:
            live.send(cm.content(told, is_request=False))
        return live

    async def _begin(self, copy: ServerCopy, handle: str) -> GeminiSession:
        setup = cm.setup(self.model, self.settings, *self._task, handle)
        live = await self._dial(copy, setup)
        live.task = cm.task_key(*self._task)
        return live

    async def _dial(self, copy: ServerCopy, setup: ClientMessage) -> GeminiSession:
        live: GeminiSession | None = None
        try:
            async with asyncio.timeout(self.settings.connect_ms_max / 1000):
                wire = await self._wire(self.endpoint.url, await self.endpoint.headers())
                live = GeminiSession(wire, self.settings, copy, self.counts, self, self.endpoint.host)
                await live.begin(setup)
                return live
        except BaseException as failure:
            if live is not None:
                await live.close()
            is_socket = type(failure).__module__.partition(".")[0] == "websockets"
            if not is_socket and not isinstance(failure, OSError | TimeoutError | ServiceError):
                raise
            raise lost(failure, self.endpoint.host) from None

    def _activate(self, live: GeminiSession) -> None:
        self._live = live
        self._speech.use(live)
        self._pressed.use(live)

    async def _until_quiet(self, wait_ms: int) -> None:
        """Wait until neither side speaks, but at most `wait_ms`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_ms / 1000):
                while self._live is not None and not (self._speech.is_quiet and self._live.generation.is_free):
                    self._changed.clear()
                    await self._changed.wait()

    def _start(self, work: Any, name: str) -> None:
        task = asyncio.get_running_loop().create_task(work, name=f"gemini {name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _start_retiring(self, live: GeminiSession) -> None:
        self._retired.append(live)
        self._start(self._retire(live), "retiring")

    async def _retire(self, live: GeminiSession) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.retire_ms_max / 1000):
                while live.answer is not None and not live.is_over:
                    await live.wait_for_a_change()
        if live in self._retired:
            self._retired.remove(live)
        await live.close()

    # -- Notifications of a session

    def note_lost(self, live: GeminiSession, failure: ServiceError) -> None:
        """Handle the loss of a session. The core is told about the loss first, and only then do the requests of the
        session fail. So the core ignores these failures."""
        if live is self._live:
            self._live = None
            self._lose_speech()
            self._start_retiring(live)
            self._notify(Closed())
        live.fail_all(failure)

    def note_health(self, live: GeminiSession, is_healthy: bool) -> None:
        if live is self._live:
            self._notify(Healed() if is_healthy else Wobbled())

    def note_change(self, live: GeminiSession) -> None:
        self._changed.set()
        if live is self._live:
            self._pressed.note_change()
            self._speech.note_free()

    def note_handle(self, live: GeminiSession, handle: str) -> None:
        if live is self._live and handle:
            self._resume = (handle, live.copy.snapshot())

    def note_going_away(self, live: GeminiSession, left_ms: int) -> None:
        if live is self._live:
            self.counts["going_away"] += 1
            self._start(self._leave(max(1, left_ms - LEFT_MS)), "renewing")

    async def _leave(self, wait_ms: int) -> None:
        """Switch to a new connection before the server closes the current one. If that fails, the session is lost as
        soon as the server closes the connection."""
        context = SessionContext(recent=self._history[-RESTORED_MAX:])
        with suppress(ServiceError):
            await self._switch(context, None, min(wait_ms, self.settings.switch_ms_max))

    def note_transcript(self, live: GeminiSession, said: UserTranscribed) -> None:
        if live is self._live and self._ears is None:
            self._pressed.note_transcript(said)

    def note_usage(self, usage: Usage) -> None:
        self._usage.add(usage)
        amounts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        report_usage("llm", self.provider, self.model, cached_tokens=usage.cached_tokens, **amounts)

    # -- Brain

    async def reply(self, request: Request) -> AsyncGenerator[Part, None]:
        """Stream the model's reply. Closing the stream interrupts the model."""
        instructions = "\n\n".join(text for text in (self._instructions, request.instructions) if text)
        live = await self._with_task(instructions, request.tools)
        await live.wait_until_free()
        if live is not self._live:  # it was lost or replaced meanwhile
            live = await self._with_task(instructions, request.tools)
        answer = live.claim(request.reply)
        if answer is None:
            answer = GeminiAnswer(request.reply)
            live.request(answer, self._messages(live, request))
        async with reading(self._parts(live, answer)) as parts:
            async for part in parts:
                yield part

    async def _with_task(self, instructions: str, tools: tuple[Tool, ...]) -> GeminiSession:
        """Return the current session, after the server has got the instructions and tools if they have changed. If the
        server can't change them within a session, open a new connection first."""
        self._task = (instructions, tools)
        live = self._session()
        key = cm.task_key(instructions, tools)
        if live.task == key:
            return live
        if self.settings.updates_context:
            live.task = key
            live.send(cm.context_update(instructions, tools))
            return live
        await self._switch(SessionContext(recent=self._history[-RESTORED_MAX:]), None, 1)
        return self._session()

    def _messages(self, live: GeminiSession, request: Request) -> list[ClientMessage]:
        """The messages that make the server answer this request. They contain the end of the user's speech, the outputs
        of tool calls, or text."""
        self._history = request.history
        if self._speech.requests:
            live.copy.cancel_calls()  # because the user's speech interrupts them
        found = live.copy.catch_up(request.history, request.reply)
        task = cm.task_of(request)
        told = (*found.told, *((cm.note(task),) if task else ()))
        if self._speech.requests:
            return self._speech.request(cm.text_in_activity(told) if told else None)
        if found.outputs:
            return [cm.responses(found.outputs, told)]
        return [cm.content(told or (cm.note(cm.GO_ON),), is_request=True)]

    # -- Voice

    async def speak(self, text: str) -> AsyncGenerator[Sound, None]:
        """Speak a fixed text in the model's voice, outside the conversation. The text gets a separate connection."""
        live = await self._dial(ServerCopy(), cm.read_aloud_setup(self.model, self.settings))
        try:
            answer = GeminiAnswer(reply=-1)
            live.request(answer, [cm.content([cm.Told("user", text)], is_request=True)])
            async with reading(self._parts(live, answer)) as parts:
                async for part in parts:
                    if isinstance(part, Sound):
                        yield Sound(part.ms, part.pcm, part.rate_hz)  # no transcript: the caller knows the text
        finally:
            await live.close()

    # -- Ears

    @property
    def languages(self) -> Collection[str] | None:
        """The codes of the languages that the ears transcribe; None if the ears don't report their languages."""
        return getattr(self._ears, "languages", None)

    @property
    def is_ready(self) -> bool:
        """Are the models of the ears loaded?"""
        return not isinstance(self._ears, NeedsLoading) or self._ears.is_ready

    async def prepare(self) -> None:
        """Load the models of the ears, if they aren't loaded."""
        if isinstance(self._ears, NeedsLoading):
            await self._ears.prepare()

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncGenerator[Heard, None]:
        ears = self._ears or self._pressed
        copy = AudioCopy()
        pump = asyncio.get_running_loop().create_task(self._pump(audio, copy), name="gemini audio")
        try:
            async with reading(ears.listen(copy)) as stream:
                async for heard in stream:
                    if self._ears is not None:
                        self._follow(heard)
                    yield heard
        finally:
            pump.cancel()

    def _follow(self, heard: Heard) -> None:
        match heard:
            case SpeechBegan():
                self._speech.begin()
            case Partial() | Final():
                self._speech.note_words(heard.text, isinstance(heard, Final))

    async def _pump(self, audio: AsyncIterator[Incoming], copy: AudioCopy) -> None:
        """Pass the user's audio on: to the ears, and to `UserSpeech`, which sends it to the server."""
        rates = UplinkResampler(INPUT_HZ)
        try:
            async for item in audio:
                match item:
                    case Frame():
                        if pcm := rates.convert(item):
                            self._speech.feed(pcm)
                            item = Frame(pcm, INPUT_HZ) if self._ears is None else item
                    case Commit() if self._ears is not None:
                        self._speech.end_turn()
                    case Discard() if self._ears is not None:
                        self._speech.discard()
                copy.put(item)
        finally:
            copy.put(None)

    def _lose_speech(self) -> None:
        self._speech.use(None)
        self._pressed.lose()

    # -- Inside

    def _session(self) -> GeminiSession:
        if self._live is None:
            raise failure_of(ErrorClass.NETWORK_TIMEOUT, "", self.endpoint.host)
        return self._live

    async def _parts(self, live: GeminiSession, answer: GeminiAnswer) -> AsyncGenerator[Any, None]:
        """Stream the parts of an answer. Each part must arrive within a deadline."""
        try:
            await self._await_begin(live, answer)
            while True:
                async with asyncio.timeout(self.settings.silence_ms_max / 1000):
                    part = await answer.next()
                if part is None:
                    return
                yield part
        except TimeoutError:
            raise failure_of(ErrorClass.NETWORK_TIMEOUT, "", self.endpoint.host) from None
        finally:
            live.abandon(answer)

    async def _await_begin(self, live: GeminiSession, answer: GeminiAnswer) -> None:
        """Wait until the answer begins. Raises TimeoutError after the deadline. If the server has sent no message at
        all by then, the connection is also treated as lost."""
        received = live.received
        try:
            async with asyncio.timeout(self.settings.request_ms_max / 1000):
                await asyncio.shield(answer.begun)
        except TimeoutError:
            if live.received == received and not live.is_over:
                self.counts["silent_deaths"] += 1
                live.lose(TimeoutError())
            raise
