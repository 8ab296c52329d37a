"""A voice agent that books flights. `duologue serve agent:agent` opens it in the browser."""

from __future__ import annotations

from pathlib import Path

from duologue import Agent, FlowBrain, LocalEars, LocalNlu, LocalVoice, Phrases, find_functions, load_flows

FLOWS = Path(__file__).with_name("flights.yaml")


def make_brain() -> FlowBrain:
    return FlowBrain(load_flows(FLOWS), find_functions(FLOWS, "actions"), LocalNlu())


agent = Agent(
    make_brain(),
    name="Flight desk",
    ears=LocalEars(),
    voice=LocalVoice(),
    phrases=Phrases(greeting="Hello! I can book a flight for you. Where would you like to go?"),
)
