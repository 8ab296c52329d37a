"""What a client may configure, and what is refused by its name."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.server.realtime.audio_format import AudioFormat
from duologue.server.realtime.refusal import EventRefused
from duologue.server.realtime.session_config import AGENT, SessionConfig, TurnDetection
from duologue.server.realtime.session_fields import update
from duologue.testing.realtime.protocol_types import problems_of_server_event
from tests.server.realtime.client_script import WEATHER


def updated(config: SessionConfig | None = None, **session: Any) -> SessionConfig:
    return update(config or SessionConfig(), {"type": "realtime", **session})


def refused(**session: Any) -> EventRefused:
    with pytest.raises(EventRefused) as why:
        updated(**session)
    return why.value


def test_what_isnt_given_stays_and_null_clears() -> None:
    config = updated(instructions="Be kind.", tools=[WEATHER], output_modalities=["text"])
    later = updated(config, audio={"input": {"turn_detection": None}})
    assert (later.instructions, later.output_modalities, later.is_manual) == ("Be kind.", ("text",), True)
    assert [tool.name for tool in later.tools] == ["get_weather"]
    assert updated(later, instructions=None, tools=[]) == SessionConfig(
        output_modalities=("text",), turn_detection=None
    )
    assert updated(later, instructions="").instructions is None


def test_the_session_is_written_as_the_protocol_has_it() -> None:
    turns = {"type": "server_vad", "silence_duration_ms": 300, "threshold": 0.5, "create_response": True}
    config = updated(
        instructions="Be kind.",
        tools=[WEATHER],
        tracing="auto",
        truncation="auto",
        include=None,
        audio={
            "input": {"format": {"type": "audio/pcmu"}, "turn_detection": turns, "noise_reduction": None},
            "output": {"voice": "marin", "speed": 1.0, "format": {"type": "audio/pcm", "rate": 24_000}},
        },
    )
    session = config.as_json("sess_1")
    assert problems_of_server_event({"type": "session.updated", "event_id": "e", "session": session}) == []
    assert session["audio"]["input"]["format"] == {"type": "audio/pcmu"}
    assert session["audio"]["input"]["turn_detection"]["silence_duration_ms"] == 300
    assert session["audio"]["output"]["voice"] == "marin", "the agent will say whether it has this voice"
    assert SessionConfig().as_json("sess_1")["audio"]["output"]["voice"] == AGENT
    assert (session["tracing"], session["truncation"]) == (None, "auto"), "what is in effect, whatever was asked for"
    assert config.input_format is AudioFormat.PCMU


def test_instructions_of_the_agent_arent_shown() -> None:
    assert SessionConfig().as_json("s")["instructions"] == ""


@pytest.mark.parametrize(
    ("session", "code", "param"),
    [
        ({"colour": "red"}, "unknown_parameter", "session.colour"),
        ({"audio": {"input": {"gain": 2}}}, "unknown_parameter", "session.audio.input.gain"),
        ({"audio": {"input": {"turn_detection": {"type": "magic"}}}}, "invalid_value", None),
        (
            {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16_000}}}},
            "invalid_value",
            "session.audio.input.format.rate",
        ),
        ({"audio": {"output": {"speed": 1.5}}}, "unsupported_parameter", "session.audio.output.speed"),
        (
            {"audio": {"input": {"noise_reduction": {"type": "near_field"}}}},
            "unsupported_parameter",
            "session.audio.input.noise_reduction",
        ),
        (
            {"audio": {"input": {"turn_detection": {"type": "server_vad", "create_response": False}}}},
            "unsupported_parameter",
            "session.audio.input.turn_detection.create_response",
        ),
        (
            {"audio": {"input": {"turn_detection": {"type": "server_vad", "idle_timeout_ms": 5_000}}}},
            "unsupported_parameter",
            "session.audio.input.turn_detection.idle_timeout_ms",
        ),
        ({"audio": {"input": {"turn_detection": {"silence_duration_ms": "x"}}}}, "invalid_type", None),
        ({"max_output_tokens": 100}, "unsupported_parameter", "session.max_output_tokens"),
        ({"prompt": {"id": "p"}}, "unsupported_parameter", "session.prompt"),
        ({"tool_choice": "required"}, "unsupported_parameter", "session.tool_choice"),
        ({"tools": [{"type": "mcp", "server_label": "x"}]}, "unsupported_parameter", "session.tools[0].type"),
        ({"tools": [WEATHER, WEATHER]}, "invalid_value", "session.tools[1].name"),
        ({"tools": [{**WEATHER, "name": "no way"}]}, "invalid_value", "session.tools[0].name"),
        ({"tools": "all"}, "invalid_type", "session.tools"),
        ({"output_modalities": ["audio", "text"]}, "invalid_value", "session.output_modalities"),
        ({"instructions": 7}, "invalid_type", "session.instructions"),
        ({"instructions": "x" * 40_000}, "invalid_value", "session.instructions"),
    ],
)  # fmt: skip
def test_what_cant_be_done_is_refused_by_its_name(session: dict[str, Any], code: str, param: str | None) -> None:
    why = refused(**session)
    assert why.code == code
    assert param is None or why.param == param
    assert why.param is not None
    assert why.param.startswith("session.")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("modalities", "output_modalities"),
        ("voice", "audio.output.voice"),
        ("input_audio_format", "audio.input.format"),
        ("turn_detection", "audio.input.turn_detection"),
        ("max_response_output_tokens", "max_output_tokens"),
        ("temperature", "nothing"),
    ],
)
def test_a_field_of_the_beta_is_refused_with_the_new_name(old: str, new: str) -> None:
    why = refused(**{old: "x"})
    assert why.code == "beta_api_shape_disabled"
    assert new in why.message


def test_a_session_must_be_a_realtime_one() -> None:
    for session, code in (({}, "missing_required_parameter"), ({"type": "transcription"}, "unsupported_parameter")):
        with pytest.raises(EventRefused) as why:
            update(SessionConfig(), session)
        assert why.value.code == code


def test_eagerness_is_read() -> None:
    turns = {"type": "semantic_vad", "eagerness": "high"}
    assert updated(audio={"input": {"turn_detection": turns}}).turn_detection == TurnDetection(
        "semantic_vad", eagerness="high"
    )
