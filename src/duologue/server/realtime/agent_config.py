"""The agent of a session: the server's agent, with the changes that a client is allowed to make.

Rule: the agent keeps its brain, its ears and its own tools, and speaks with one of its own voices. What the client
doesn't configure stays unchanged.
"""

from __future__ import annotations

from typing import Any

from duologue.runtime.agent import Agent
from duologue.runtime.policy_choice import PolicyFunction
from duologue.turns.endpoint import CombinedEndpoint, EndpointPolicy, FixedSilence, SemanticEndpoint

from .client_function import ClientCalls, ClientFunction
from .session_config import SessionConfig, TurnDetection

# The policy for ears that report how a pause sounds, and the fixed silence for other ears.
_EAGERNESS = {
    "low": CombinedEndpoint(SemanticEndpoint.named("patient"), FixedSilence(650, open_ms=1_200)),
    "high": CombinedEndpoint(SemanticEndpoint.named("quick"), FixedSilence(250, open_ms=500)),
}


def changes_of(agent: Agent, config: SessionConfig, calls: ClientCalls) -> dict[str, Any]:
    """The agent's fields that this configuration sets, with their values: instructions, tools, the voice, and the
    policy for the end of turns."""
    tools = [*agent.tools, *(ClientFunction(tool, calls) for tool in config.tools)]
    return {
        "instructions": config.instructions if config.instructions is not None else agent.instructions,
        "tools": () if config.tool_choice == "none" else tuple(tools),
        "voice": agent.voices.get(config.voice, agent.voice),
        "endpoint": endpoint_of(agent, config.turn_detection),
    }


def endpoint_of(agent: Agent, turns: TurnDetection | None) -> EndpointPolicy | str | PolicyFunction:
    """The policy that decides when a turn ends: a fixed silence, a more or less eager semantic policy, or the agent's
    own policy."""
    if turns is None:
        return agent.endpoint
    if turns.type == "server_vad":
        return FixedSilence(max(1, turns.silence_duration_ms))
    return _EAGERNESS.get(turns.eagerness, agent.endpoint)
