"""Derives facts about the agent's sound from a step of the state machine. RTVI clients are told of these in addition to
the facts of the Realtime protocol.

Rule: the end of a sound is reported before the beginning of the next one.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.core import effects as fx
from duologue.core.leaves import Voice
from duologue.core.step_record import StepRecord

from .facts import AgentFellSilent, AgentSounded


def sound_facts_of(record: StepRecord) -> Iterator[AgentSounded | AgentFellSilent]:
    """The facts about the agent's sound that follow from one step."""
    if record.after.voice is Voice.SILENT and record.before.voice is not Voice.SILENT:
        yield AgentFellSilent()
    for effect in record.effects:
        if type(effect) is fx.StartPlayback:
            yield AgentSounded(effect.voice)
