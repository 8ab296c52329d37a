"""The agents that the page is shown with: the starter's booking desk, and some that do as they are told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duologue.starter
from duologue import Agent, Phrases, ToolCall, profile
from duologue.brains.scripted import ScriptedBrain
from duologue.flows import load_flows
from duologue.flows.brain import FlowBrain
from duologue.flows.functions import find_functions
from duologue.nlu.local import LocalNlu
from duologue.voice.espeak import EspeakVoice

PROJECT = Path(duologue.starter.__file__).parent / "project"
GREETING = "Hello! I can book a flight for you. Where would you like to go?"


def desk(ears: Any = None, **changes: Any) -> Callable[[], Agent]:
    """The starter project's agent; without ears it is typed to."""
    flows = load_flows(PROJECT / "flights.yaml")

    def make() -> Agent:
        brain = FlowBrain(flows, find_functions(PROJECT / "flights.yaml", "actions"), LocalNlu())
        given = {"greeting": GREETING, **changes}
        return Agent(
            brain,
            name="Flight desk",
            ears=ears,
            voice=EspeakVoice(rate_wpm=260),
            phrases=Phrases(greeting=given["greeting"]),
        )

    return make
