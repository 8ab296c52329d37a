"""Telephone calls in which the agent hears itself: does it interrupt or answer itself, and can a person interrupt it?

The agent speaks with espeak-ng over a phone line in µ-law, and a simulated carrier returns its voice quieter and later.
The ears are the real ones, in simulated time. Rule: only what a carrier or a brain sees is counted: clear messages (the
agent stops its sound) and requests (the agent asks the brain).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from duologue.ports.brain import Part, Request
from duologue.ports.ears import Ears
from duologue.ports.voice import Voice
from duologue.runtime.agent import Agent, Phrases
from duologue.runtime.conversation import Conversation
from duologue.runtime.seats import Seats

from .line_echo import LineEcho
from .offline_call import OfflineCall

LEVELS_DB = (-12, -30, -50)
DELAYS_MS = (60, 200, 400)
NO_ECHO_DB = -120
GO_ON = "go on"  # typed by the rig, so that the agent goes on talking without a person
PAUSE_MS = (1_500, 4_000)  # the agent's pauses
BEFORE_MS = (1_500, 4_000)  # a person interrupts when the agent has spoken for this long
STOP_MS_MAX = 3_000  # an interruption works if the agent stops within this time
ANSWER_MS_MAX = 8_000
TALK_MS_MAX = 30_000
SETTLE_MS = 1_500  # what happens this soon after a person's words is their doing
GREETING = "Hello, this is the travel desk. I can book flights, change them, or tell you about a trip that you have."
TALK = (
    "There are two flights that fit. One leaves at nine in the morning and lands at noon, and the other one leaves at "
    "six and lands at nine in the evening. The first one costs a little more. Shall I book the first one for you?",
    "Your order was sent on Monday and should arrive tomorrow before noon. If you are not at home, the parcel is taken "
    "to the shop at the corner, where you can collect it for a week. Would you like a message when it arrives?",
    "The hotel has a quiet room with a view of the garden, and a larger one that looks onto the street. Breakfast is "
    "served from seven to ten, and there is a small pool on the roof. Which of the two rooms would you prefer?",
    "To change the name on a ticket, I need the number of the booking and the new name as it is in the passport. The "
    "change is free until the day before the flight. After that it costs thirty pounds. Do you have the number?",
    "Please listen carefully, because the menu has changed. For invoices and payments say billing. For a broken "
    "device say repair. For everything else just tell me in a few words what it is about, and I will find the team.",
    "The train takes four hours and you have to change once, in Cologne. There you have eleven minutes, and the next "
    "train leaves from the same platform. A seat by the window is still free. Do you want me to reserve it?",
)


class Interruption(NamedTuple):
    """What a person says over the agent: in words, and as telephone audio in µ-law."""

    text: str
    coded: bytes


@dataclass(slots=True)
class EchoCall:
    """What happened in one call."""

    level_db: int
    delay_ms: int
    seconds: float = 0.0
    self_interruptions: int = 0
    self_answers: list[str] = field(default_factory=list)
    stop_ms: list[int] = field(default_factory=list)  # of the interruptions that worked
    missed: list[str] = field(default_factory=list)  # the words of those that didn't

    @property
    def is_clean(self) -> bool:
        """Did the agent neither interrupt nor answer itself?"""
        return not self.self_interruptions and not self.self_answers


class TalkingBrain:
    """A brain that answers everything. Its answers are the texts of a list, one after the other. `asked` has the words
    of every request."""

    def __init__(self, texts: Sequence[str] = TALK) -> None:
        self.asked: list[str] = []
        self._texts = texts

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        self.asked.append(request.text)
        yield self._texts[len(self.asked) % len(self._texts)]


class _Rig:
    """Controls one call while it lasts: waits for the agent, lets people interrupt it, and counts the agent's
    mistakes."""

    def __init__(self, exchange: OfflineCall, conversation: Conversation, brain: TalkingBrain, call: EchoCall) -> None:
        self.carrier = exchange.carrier
        self.conversation = conversation
        self.brain = brain
        self.call = call
        self._loop = asyncio.get_running_loop()
        self._clears = 0

    async def until_quiet(self, ms: int, at_most_until: float) -> None:
        """Wait until the agent has been silent for `ms`, or until the time `at_most_until`."""
        quiet_since = self._loop.time()
        while self._loop.time() < min(quiet_since + ms / 1000, at_most_until):
            if self.carrier.is_sounding:
                quiet_since = self._loop.time()
            await asyncio.sleep(0.02)

    async def until_talking(self, ms: int) -> bool:
        """Wait until the agent has talked without a gap for `ms` milliseconds, and return True. Returns False if that
        takes too long."""
        gives_up = self._loop.time() + TALK_MS_MAX / 1000
        while self.carrier.sounding_ms < ms:
            if self._loop.time() > gives_up:
                return False
            await asyncio.sleep(0.02)
        return True

    def blame(self) -> None:
        """Count all clear messages and requests since the last call of `_look` as mistakes of the agent, because no
        person has spoken since then."""
        self.call.self_interruptions += self.carrier.clears - self._clears
        self.call.self_answers += [text for text in self.brain.asked if text not in ("", GO_ON)]
        self._look()

    def _look(self) -> None:
        self._clears = self.carrier.clears
        self.brain.asked.clear()

    async def interrupt(self, said: Interruption) -> bool:
        """Say something over the agent. Returns whether the agent stopped speaking and asked the brain, and adds the
        result to the figures of the call."""
        began = self._loop.time()
        self.carrier.speak(said.coded)
        while self.carrier.clears == self._clears and self._loop.time() < began + STOP_MS_MAX / 1000:
            await asyncio.sleep(0.02)
        took_ms = round((self._loop.time() - began) * 1000)
        has_stopped = self.carrier.clears > self._clears
        while not self.brain.asked and has_stopped and self._loop.time() < began + ANSWER_MS_MAX / 1000:
            await asyncio.sleep(0.02)
        works = has_stopped and bool(self.brain.asked)
        if works:
            self.call.stop_ms.append(took_ms)
        else:
            self.call.missed.append(said.text)
        while self.carrier.is_speaking:
            await asyncio.sleep(0.02)
        await asyncio.sleep(SETTLE_MS / 1000)
        self._look()
        return works


async def hold_call(
    ears: Ears,
    voice: Voice,
    level_db: int,
    delay_ms: int,
    seconds: float,
    people: Sequence[Interruption] = (),
    profile: str = "words",
    seed: int = 1,
) -> EchoCall:
    """Hold one call with this echo. Without `people`, the caller is silent. Otherwise the people interrupt the agent,
    one after the other, until each of them has done so or the time is over."""
    dice, loop = random.Random(seed), asyncio.get_running_loop()
    call = EchoCall(level_db, delay_ms)
    exchange = OfflineCall(echo=LineEcho(level_db, delay_ms))
    brain = TalkingBrain()
    agent = Agent(brain, ears=ears, voice=voice, profile=profile, phrases=Phrases(GREETING))
    conversation = Conversation(agent, await exchange.connect(), seats=Seats())
    await conversation.start()
    rig, began, waiting = _Rig(exchange, conversation, brain, call), loop.time(), list(people)
    while loop.time() < began + seconds and (waiting or not people):
        if waiting and await rig.until_talking(dice.randint(*BEFORE_MS)):
            rig.blame()
            if await rig.interrupt(waiting.pop(0)):
                continue  # the agent answers
        await rig.until_quiet(dice.randint(*PAUSE_MS), began + seconds)
        rig.blame()
        conversation.type(GO_ON)
    call.seconds = round(loop.time() - began, 1)
    await conversation.end()
    return call
