"""Counts what the services of a conversation use (tokens, characters and sound), and sends the counts as signals.

An LLM reports its tokens itself, and the module `replies` reports the characters that a TTS speaks. The sound that the
ears get is counted here. Rule: each piece of sound is reported one time: when a turn has words, or when the
conversation ends.
"""

from __future__ import annotations

from duologue.core.leaves import CLOSED
from duologue.core.step_record import StepRecord
from duologue.observe import signals as sg
from duologue.observe.bus import Bus
from duologue.observe.usage import UsageLedger
from duologue.ports.ears import Ears, Frame
from duologue.ports.usage_report import provider_of

from .agent import Agent
from .driver import Driver


class UsageMeter:
    """The usage of one conversation."""

    def __init__(self, driver: Driver, bus: Bus, agent: Agent) -> None:
        self._driver = driver
        self._bus = bus
        self._ears = _counted_ears(agent)
        self._unreported_ms = 0.0  # sound that the ears got since their last report
        self.ledger = UsageLedger()

    def report(self, part: str, provider: str, model: str, began_at: int = 0, **amounts: int) -> None:
        """Add what a service has used, and send it as a signal."""
        used = sg.Used(self._driver.now(), part, provider, model, began_at, **amounts)
        self.ledger.add(used)
        self._bus.send(used)

    def hear(self, frame: Frame) -> None:
        """Count a piece of sound that the ears got."""
        self._unreported_ms += len(frame.pcm) * 500 / frame.rate_hz

    def follow(self, record: StepRecord) -> None:
        """If a turn has words now, or the conversation has ended, report the sound that the ears got since the last
        report."""
        if record.after.said > record.before.said or record.after.link in CLOSED:
            self._report_sound()

    def use_ears(self, agent: Agent) -> None:
        """Count the sound for the ears of this agent from now on."""
        if (ears := _counted_ears(agent)) is not self._ears:
            self._report_sound()
            self._ears = ears

    def _report_sound(self) -> None:
        ms = round(self._unreported_ms)
        if self._ears is not None and ms:
            self._unreported_ms = 0.0
            self.report("stt", *provider_of(self._ears), heard_ms=ms)


def _counted_ears(agent: Agent) -> Ears | None:
    """The ears whose sound is counted. None if the agent's ears are a speech-to-speech model, because such a model
    reports its tokens itself."""
    return agent.ears if agent.ears is not agent.brain else None
