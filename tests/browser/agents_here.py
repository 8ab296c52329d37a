"""The agents behind the page in these tests: the starter's booking agent, and scripted ones."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import duologue.starter
from duologue import Agent, Phrases
from duologue.brains.scripted import ScriptedBrain, ScriptedReplies
from duologue.flows import load_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.find_functions import find_functions
from duologue.nlu.local import LocalNlu
from duologue.ports.ears import Heard, Incoming
from duologue.voice.espeak import EspeakVoice

PROJECT = Path(duologue.starter.__file__).parent / "project"
GREETING = "Hello! I can book a flight for you. Where would you like to go?"
STORY = (
    "There was once a miller who had three sons. The eldest got the mill, the second got the donkey, and the youngest "
    "got nothing but the cat. So he sat down by the road and wondered what was to become of him."
)
_QUICK_WPM = 250


class DeafEars:
    """Ears that ignore the microphone."""

    async def listen(self, audio: AsyncIterator[Incoming]) -> AsyncIterator[Heard]:
        async for _ in audio:
            pass
        return
        yield


def desk(ears: Any = None, greeting: str = GREETING, wpm: int = _QUICK_WPM) -> Callable[[], Agent]:
    """The starter project's agent; without ears it is typed to."""
    flows = load_flows(PROJECT / "flights.yaml")

    def make() -> Agent:
        brain = FlowBrain(flows, find_functions(PROJECT / "flights.yaml", "actions"), LocalNlu())
        return Agent(
            brain,
            name="Flight desk",
            ears=ears or DeafEars(),
            voice=EspeakVoice(rate_wpm=wpm),
            phrases=Phrases(greeting=greeting),
        )

    return make


def scripted(script: ScriptedReplies, ears: Any = None, wpm: int = _QUICK_WPM, **more: Any) -> Agent:
    """One that says what its script says."""
    brain = ScriptedBrain(script, otherwise="I see.")
    return Agent(brain, name="Ada", ears=ears or DeafEars(), voice=EspeakVoice(rate_wpm=wpm), **more)
