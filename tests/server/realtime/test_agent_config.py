"""What a client's configuration makes of the agent."""

from __future__ import annotations

from dataclasses import replace

from duologue.ports.worker import Tool
from duologue.server.realtime.agent_config import changes_of, endpoint_of
from duologue.server.realtime.client_function import ClientCalls, ClientFunction
from duologue.server.realtime.session_config import SessionConfig, TurnDetection
from duologue.turns.endpoint import CombinedEndpoint, FixedSilence, SemanticEndpoint
from tests.server.realtime.tone_agent import tone_agent


def own(place: str) -> str:
    """A tool of the agent's own."""
    return place


def test_the_agent_keeps_what_the_client_doesnt_configure() -> None:
    agent = tone_agent(instructions="Be Ada.", tools=[own])
    calls = ClientCalls(lambda fact: None)
    plain = changes_of(agent, SessionConfig(), calls)
    assert replace(agent, **plain).instructions == "Be Ada."
    assert plain["tools"] == agent.tools
    given = SessionConfig(instructions="Be Bob.", tools=(Tool("f"),))
    changed = changes_of(agent, given, calls)
    assert changed["instructions"] == "Be Bob."
    assert [type(tool) for tool in changed["tools"]][-1] is ClientFunction
    assert changes_of(agent, replace(given, tool_choice="none"), calls)["tools"] == ()


def test_turns_end_as_the_client_wants_them_to() -> None:
    agent = tone_agent()
    assert endpoint_of(agent, TurnDetection("server_vad", 350)) == FixedSilence(350)
    assert endpoint_of(agent, TurnDetection()) == agent.endpoint
    assert endpoint_of(agent, None) == agent.endpoint
    patient, quick = (endpoint_of(agent, TurnDetection(eagerness=one)) for one in ("low", "high"))
    assert isinstance(patient, CombinedEndpoint)
    assert isinstance(quick, CombinedEndpoint)
    assert (patient.by_sound, quick.by_sound) == (SemanticEndpoint.named("patient"), SemanticEndpoint.named("quick"))
    own = CombinedEndpoint().by_silence
    assert patient.by_silence.silence_ms > own.silence_ms > quick.by_silence.silence_ms, "of ears without features"
