"""Which part of a conversation performs each effect."""

from __future__ import annotations

from duologue.brains.scripted import ScriptedBrain
from duologue.core import effects as fx
from duologue.lines.scripted import ScriptedLine
from duologue.runtime.agent import Agent
from duologue.runtime.conversation import Conversation
from duologue.runtime.effect_performers import PERFORMERS
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated


def test_each_effect_in_the_table_has_a_method_that_performs_it() -> None:
    async def scene() -> None:
        engine = Conversation(Agent(ScriptedBrain()), ScriptedLine(), seats=Seats()).engine
        for kind, performer in PERFORMERS.items():
            assert issubclass(kind, fx.Effect)
            assert callable(performer(engine)), kind
        assert PERFORMERS[fx.StartPlayback](engine) == engine.playback.start

    run_simulated(scene())
