"""A scripted speech-to-speech model speaks by itself and learns what was heard."""

from __future__ import annotations

from duologue.brains.function_brain import as_brain
from duologue.ports.brain import Request
from duologue.ports.history import AgentSaid
from duologue.ports.sound import Sound
from duologue.testing import ScriptedModel, run_simulated


def test_text_becomes_sound_with_its_words() -> None:
    async def scene() -> list[object]:
        return [part async for part in as_brain(ScriptedModel(["Two flights."])).reply(Request(1, "hello"))]

    parts = run_simulated(scene())
    assert parts
    assert all(isinstance(part, Sound) for part in parts)
    assert "".join(part.text for part in parts if isinstance(part, Sound)).split() == ["Two", "flights."]


def test_it_learns_from_the_history_how_much_of_a_reply_was_heard() -> None:
    model = ScriptedModel(["Yes."])
    cut = AgentSaid(1, "Two", interrupted=True, unheard="flights.", heard_ms=250)

    async def scene() -> None:
        async for _ in model.reply(Request(2, "wait", history=(cut,))):
            pass

    run_simulated(scene())
    assert model.truncated == {1: 250}
