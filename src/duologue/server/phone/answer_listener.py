"""Listens to the first sound after an outgoing phone call is answered, and reports to the call what it hears: speech,
pauses, a beep, the words of a person or of an answering machine.

The agent's own ears (its speech recognition) report speech and words; a detector finds the beep. Rule: the listener
decides nothing. Each report is one input of the call's state machine.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from duologue.audio.beep import BeepDetector
from duologue.lines.phone.call import inputs as on
from duologue.lines.phone.call.state import Answerer
from duologue.lines.phone.greeting_words import answerer_of
from duologue.lines.phone.line import PhoneLine
from duologue.ports.ears import Ears, Final, Frame, Heard, NeedsLoading, Partial, SpeechBegan, SpeechEnded
from duologue.ports.line import LineEvent
from duologue.runtime.agent import Agent
from duologue.runtime.frame_queue import FrameQueue

from .phone_call import Opening, PhoneCall

LOG = logging.getLogger("duologue.phone")


class AnswerListener:
    """Listens to the beginning of one phone call. `feed` passes an input to the call's state machine, and `now` returns
    the time for these inputs."""

    def __init__(
        self,
        feed: Callable[[on.CallInput], object],
        now: Callable[[], int],
        ears: Ears | None,
        language: str = "en",
    ) -> None:
        self._feed = feed
        self._now = now
        self._ears = ears
        self._language = language
        self._frames = FrameQueue()
        self._beep: BeepDetector | None = None

    async def listen(self, line: PhoneLine) -> None:
        """Listen until cancelled. If the agent has no ears, or if they fail, only beeps are recognized."""
        await line.open(self._take)
        if self._ears is None:
            LOG.warning("the agent has no ears: on this call, machines are told by their beep and by the carrier only")
            await asyncio.Event().wait()
            return
        try:
            if isinstance(self._ears, NeedsLoading) and not self._ears.is_ready:
                await self._ears.prepare()
            async for heard in self._ears.listen(self._frames):
                self._report(heard)
        except Exception as failure:  # noqa: BLE001 - the deadlines of the call go on without words
            LOG.warning("the ears failed, so the first words of the answerer are unknown: %s", type(failure).__name__)
        await asyncio.Event().wait()

    def _take(self, event: LineEvent) -> None:
        if not isinstance(event, Frame):
            return
        if self._beep is None:
            self._beep = BeepDetector(event.rate_hz)
        if self._beep.hear(event.pcm):
            self._feed(on.BeepHeard(self._now()))
        if self._ears is not None:
            self._frames.put(event)

    def _report(self, heard: Heard) -> None:
        match heard:
            case SpeechBegan():
                self._feed(on.GreetingBegan(self._now()))
            case SpeechEnded():
                self._feed(on.GreetingPaused(self._now() - heard.quiet_ms))
            case Partial() | Final():
                self._judge(heard.text, isinstance(heard, Final))

    def _judge(self, text: str, is_final: bool) -> None:
        """Report whether the words come from a person or an answering machine, if the words show that. Words of a
        machine are reported at once, even if they may still change; words of a person only when they are final. The
        call uses a report of a person only after a machine was heard: then a person has picked up. Before that, such
        words prove nothing, because many machines begin with "hello", too."""
        found = answerer_of(text, self._language)
        if found is Answerer.MACHINE:
            self._feed(on.MachineHeard(self._now()))
        elif found is Answerer.PERSON and is_final:
            self._feed(on.PersonSpoke(self._now()))


async def screen_answer(call: PhoneCall, line: PhoneLine, agent: Agent) -> Opening:
    """Listen with the agent's ears (STT and VAD) until the call has decided what to do next, and return the decision.
    The ears of a speech-to-speech model aren't used, because they need the model's session, which hasn't begun."""
    ears = agent.ears if agent.ears is not agent.brain else None
    listener = AnswerListener(call.feed, call.now, ears, agent.language or "en")
    listening = asyncio.ensure_future(listener.listen(line))
    try:
        return await call.opening()
    finally:
        listening.cancel()
        await asyncio.wait((listening,))
