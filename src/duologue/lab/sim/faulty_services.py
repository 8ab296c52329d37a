"""Services that misbehave at random: they lose, delay, repeat and reorder results, fail, or hang.

Each class wraps a well-behaved service and has the same interface. Rule: every fault is drawn from one seeded random
generator, so the same seed repeats the same faults.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from duologue.core.leaves import ErrorClass
from duologue.ports.brain import Brain, Part, Request
from duologue.ports.ears import Ears, Heard, Incoming
from duologue.ports.failure import ServiceError
from duologue.ports.history import AgentSaid, UserSaid
from duologue.ports.line import Closed, Finished, Healed, Line, LineEvent, Played, Stopped, Wobbled
from duologue.ports.session import Session, SessionContext
from duologue.ports.sound import Sound
from duologue.ports.streams import reading
from duologue.ports.tool_call import ToolCall
from duologue.ports.voice import Voice
from duologue.ports.worker import Job, Mode, Tool, Worker

from .caller_account import CallerAccount, now_ms

T = TypeVar("T")

_ERRORS = (
    *(ErrorClass.RATE_LIMIT, ErrorClass.NETWORK_TIMEOUT, ErrorClass.SERVER_ERROR) * 3,
    *(ErrorClass.SESSION_EXPIRED, ErrorClass.UNKNOWN, ErrorClass.INVALID_ARGS, ErrorClass.AUTH_FAILURE),
)


@dataclass(frozen=True, slots=True)
class FaultRates:
    """The probability of each fault, from 0 to 1, and the longest delay in milliseconds."""

    fail: float = 0.03
    hang: float = 0.01
    late: float = 0.10
    late_ms_max: int = 4_000
    lose: float = 0.03
    duplicate: float = 0.03
    garbage: float = 0.005


NO_FAULTS = FaultRates(0, 0, 0, 0, 0, 0, 0)


class FaultDice:
    """Decides at random which fault happens next."""

    def __init__(self, random: random.Random, rates: FaultRates) -> None:
        self.random = random
        self.rates = rates

    def happens(self, rate: float) -> bool:
        """Decide at random whether a fault with this rate happens now."""
        return rate > 0 and self.random.random() < rate

    def failure(self) -> ServiceError | RuntimeError:
        """A random error, which the calling service raises. Most of the possible errors are worth a retry."""
        error = self.random.choice(_ERRORS)
        return RuntimeError("boom") if error is ErrorClass.UNKNOWN else ServiceError(error)

    async def delay_or_fail(self) -> None:
        """Do nothing, wait for a while, raise an error, or never return, as the dice decide. Services call this before
        they do something."""
        if self.happens(self.rates.late):
            await asyncio.sleep(self.random.randint(1, self.rates.late_ms_max) / 1000)
        if self.happens(self.rates.fail):
            raise self.failure()
        if self.happens(self.rates.hang):
            await asyncio.get_running_loop().create_future()


async def _with_faults(stream: AsyncIterator[T], dice: FaultDice, account: CallerAccount, of: str) -> AsyncIterator[T]:
    """The same stream, with faults before and between its items. A failure of this service (`of`) is noted."""
    with account.note_failure(of):
        await dice.delay_or_fail()
        async with reading(stream) as items:
            async for item in items:
                if dice.happens(dice.rates.fail / 4):
                    raise dice.failure()
                if dice.happens(dice.rates.hang / 4):
                    await asyncio.get_running_loop().create_future()
                if dice.happens(dice.rates.late / 4):
                    await asyncio.sleep(dice.random.randint(1, dice.rates.late_ms_max) / 1000)
                if dice.happens(dice.rates.garbage):
                    garbage: Any = dice.random.choice((None, 7, b"?"))
                    account.failed.append((now_ms(), of))
                    yield garbage
                yield item


@dataclass(frozen=True, slots=True)
class FaultyBrain:
    """A brain whose replies have faults. It records every request."""

    brain: Brain
    dice: FaultDice
    requests: list[Request]
    account: CallerAccount = field(default_factory=CallerAccount)

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        self.requests.append(request)
        self.account.asked.append((now_ms(), request.text))
        if _awaits_answer(request):
            self.account.answering.add(request.reply)
        with self.account.work("brain"):
            stream = self.brain.reply(request)
            async with reading(_with_faults(stream, self.dice, self.account, "brain")) as parts:
                async for part in parts:
                    self.account.note_speech(part)
                    if isinstance(part, ToolCall) and part.name not in [tool.name for tool in request.tools]:
                        self.account.failed.append((now_ms(), "tool"))
                    yield part


def _awaits_answer(request: Request) -> bool:
    """Does the caller wait for this? True for words, results and news, and for the greeting, which is the first thing
    that is heard in a call. A check-in and a goodbye are neither."""
    is_first = not any(
        isinstance(one, UserSaid) or (isinstance(one, AgentSaid) and one.heard_ms) for one in request.history
    )
    return bool(request.text or request.outputs or request.news) or is_first


@dataclass(frozen=True, slots=True)
class FaultyVoice:
    """A voice that speaks with faults. It notes when it was asked, and the sounds that it has made."""

    voice: Voice
    dice: FaultDice
    account: CallerAccount = field(default_factory=CallerAccount)

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        note = self.account.note_voice_request()
        with self.account.work("voice"):
            stream = self.voice.speak(text)
            async with reading(_with_faults(stream, self.dice, self.account, "voice")) as sounds:
                async for sound in sounds:
                    note(sound)
                    yield sound


@dataclass(slots=True)
class FaultyEars:
    """Ears that lose, repeat and swap what they hear, and sometimes fail. After a failure, they know nothing of the
    utterances up to `forgotten`, because they began before it."""

    ears: Ears
    dice: FaultDice
    account: CallerAccount = field(default_factory=CallerAccount)
    newest: int = 0  # the highest number of an utterance so far
    forgotten: int = 0

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        dice, swapped = self.dice, None
        async with reading(self.ears.listen(audio)) as stream:
            async for heard in stream:
                if 0 < heard.utterance <= self.forgotten:
                    continue
                self.newest = max(self.newest, heard.utterance)
                if dice.happens(dice.rates.fail / 8):
                    self.forgotten = self.newest
                    self.account.failed.append((now_ms(), "ears"))
                    raise dice.failure()
                if dice.happens(dice.rates.lose):
                    continue
                if swapped is None and dice.happens(dice.rates.duplicate):
                    swapped = heard  # sent after the next item
                    continue
                yield heard
                if dice.happens(dice.rates.duplicate):
                    yield heard
                if swapped is not None:
                    yield swapped
                    swapped = None


@dataclass(frozen=True, slots=True)
class FaultyWorker:
    """A worker that may start late, fail or hang."""

    worker: Worker
    dice: FaultDice
    account: CallerAccount = field(default_factory=CallerAccount)

    @property
    def tool(self) -> Tool:
        return self.worker.tool

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        is_awaited = self.tool.mode is not Mode.DISPATCH
        with self.account.work("tool", is_awaited), self.account.note_failure("tool"):
            await self.dice.delay_or_fail()
            return await self.worker.run(arguments, job)


@dataclass(frozen=True, slots=True)
class FaultySession:
    """A session that may fail, hang or be late when it is opened, renewed or closed."""

    session: Session
    dice: FaultDice
    account: CallerAccount = field(default_factory=CallerAccount)

    async def open(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        with self.account.trouble("session"):
            await self.dice.delay_or_fail()
            await self.session.open(context, notify)

    async def renew(self, context: SessionContext | None, notify: Callable[[Wobbled | Healed | Closed], None]) -> None:
        with self.account.trouble("session"):
            await self.dice.delay_or_fail()
            await self.session.renew(context, notify)

    async def close(self) -> None:
        with self.account.trouble("close"):
            await self.dice.delay_or_fail()
            await self.session.close()


class FaultyLine:
    """A line that loses, delays, repeats and invents acknowledgements."""

    primed = True  # its audio can start

    def __init__(self, line: Line, dice: FaultDice, account: CallerAccount | None = None) -> None:
        self._line = line
        self._dice = dice
        self._account = account or CallerAccount()
        self._notify: Callable[[LineEvent], None] = lambda event: None  # noqa: ARG005

    async def open(self, notify: Callable[[LineEvent], None]) -> None:
        with self._account.trouble("line"):
            await self._dice.delay_or_fail()
            self._notify = notify
            await self._line.open(self._pass_on)

    def _pass_on(self, event: LineEvent) -> None:
        dice = self._dice
        if isinstance(event, Played | Finished | Stopped):
            if dice.happens(dice.rates.lose):
                return
            if dice.happens(dice.rates.garbage):
                nonsense: Any = dice.random.choice((Played(event.voice, -5), Finished(99, 10**9), "noise", None))
                self._account.failed.append((now_ms(), "line"))
                self._notify(nonsense)
            if dice.happens(dice.rates.late):
                late_s = dice.random.randint(1, dice.rates.late_ms_max) / 1000
                asyncio.get_running_loop().call_later(late_s, self._notify, event)
                return
            if dice.happens(dice.rates.duplicate):
                self._notify(event)
        self._notify(event)

    def play(self, voice: int, chunk: int, sound: Sound) -> None:
        if self._dice.happens(self._dice.rates.fail / 20):
            self._account.failed.append((now_ms(), "line"))
            raise RuntimeError("simulated failure of the line")
        self._line.play(voice, chunk, sound)

    def finish(self, voice: int) -> None:
        self._line.finish(voice)

    def hold(self, voice: int) -> None:
        self._line.hold(voice)

    def resume(self, voice: int) -> None:
        self._line.resume(voice)

    def clear(self, voice: int) -> None:
        self._line.clear(voice)

    def play_cue(self, cue: int, sound: Sound) -> None:
        self._line.play_cue(cue, sound)

    def stop_cue(self) -> None:
        self._line.stop_cue()

    def set_ambient(self, sound: Sound | None) -> None:
        self._line.set_ambient(sound)

    async def close(self) -> None:
        with self._account.trouble("close"):
            await self._dice.delay_or_fail()
            await self._line.close()
