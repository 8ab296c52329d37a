"""Facts about the agent's sound."""

from __future__ import annotations

from duologue.core import effects as fx
from duologue.core.events import PersonSeen
from duologue.core.leaves import Voice
from duologue.core.settings import profile
from duologue.core.state import initial
from duologue.core.step_record import StepRecord
from duologue.server.rtvi.facts import AgentFellSilent, AgentSounded
from duologue.server.rtvi.sound_facts import sound_facts_of

SILENT = initial(profile("confirm"))
PLAYING = SILENT._replace(voice=Voice.PLAYING)


def facts(before: Voice, after: Voice, *effects: fx.Effect) -> list[object]:
    states = {Voice.SILENT: SILENT, Voice.PLAYING: PLAYING}
    return list(sound_facts_of(StepRecord(PersonSeen(1, 1), states[before], states[after], effects, ())))


def test_sound_begins_and_ends() -> None:
    begins = fx.StartPlayback(4, 2)
    assert facts(Voice.SILENT, Voice.PLAYING, begins) == [AgentSounded(4)]
    assert facts(Voice.PLAYING, Voice.PLAYING) == []
    assert facts(Voice.PLAYING, Voice.SILENT) == [AgentFellSilent()]


def test_an_end_comes_before_a_beginning() -> None:
    assert facts(Voice.PLAYING, Voice.SILENT, fx.StartPlayback(5, 3)) == [AgentFellSilent(), AgentSounded(5)]
