"""The configuration of a session: a value, how `session.update` changes it, and how it is written as JSON.

The server chooses the agent. A client may give it other instructions and more tools, but can't choose its voice or its
model. Rule: an update is either applied completely or refused completely, and the refusal names the wrong field.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from duologue.ports.worker import Mode, Tool

from .audio_format import AudioFormat, read_format
from .fields import JsonObject, check_names, one_of, optional_text, read_object, read_text, read_whole
from .refusal import invalid, missing, renamed, unsupported, wrong_type

INSTRUCTIONS_CHARS_MAX = 32_000
TOOLS_MAX = 64
VOICE = "agent"  # the name of the agent's own voice: clients may send any other name, and get this one
_KNOWN = (
    "type",
    "model",
    "instructions",
    "output_modalities",
    "tools",
    "tool_choice",
    "max_output_tokens",
    "audio",
    "tracing",
    "truncation",
    "include",
    "prompt",
    "parallel_tool_calls",
    "reasoning",
)
BETA = {
    "modalities": "output_modalities",
    "voice": "audio.output.voice",
    "speed": "audio.output.speed",
    "input_audio_format": "audio.input.format",
    "output_audio_format": "audio.output.format",
    "input_audio_transcription": "audio.input.transcription",
    "input_audio_noise_reduction": "audio.input.noise_reduction",
    "turn_detection": "audio.input.turn_detection",
    "max_response_output_tokens": "max_output_tokens",
}
_ECHOED = ("tracing", "truncation", "include")  # accepted, and without an effect here


@dataclass(frozen=True, slots=True)
class TurnDetection:
    """How turns end: by a fixed silence (`server_vad`), or by the agent's own policy (`semantic_vad`)."""

    type: str = "semantic_vad"
    silence_duration_ms: int = 500
    threshold: float = 0.5
    prefix_padding_ms: int = 300
    eagerness: str = "auto"

    def as_json(self) -> JsonObject:
        answers = {"create_response": True, "interrupt_response": True}
        if self.type == "semantic_vad":
            return {"type": self.type, "eagerness": self.eagerness, **answers}
        return {
            "type": self.type,
            "threshold": self.threshold,
            "prefix_padding_ms": self.prefix_padding_ms,
            "silence_duration_ms": self.silence_duration_ms,
            **answers,
        }


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """The configuration of one session."""

    model: str = ""
    instructions: str | None = None  # None: those of the agent, which a client isn't shown
    output_modalities: tuple[str, ...] = ("audio",)
    tools: tuple[Tool, ...] = ()  # those that the client runs
    tool_choice: str = "auto"
    input_format: AudioFormat = AudioFormat.PCM
    output_format: AudioFormat = AudioFormat.PCM
    turn_detection: TurnDetection | None = field(default_factory=TurnDetection)
    transcription: JsonObject | None = None
    echoed: JsonObject = field(default_factory=dict)

    @property
    def is_manual(self) -> bool:
        """Does the client itself say when a turn is over?"""
        return self.turn_detection is None

    @property
    def speaks(self) -> bool:
        return "audio" in self.output_modalities

    def as_json(self, id_: str) -> JsonObject:
        """The session as JSON, as it is sent in events."""
        turns = self.turn_detection.as_json() if self.turn_detection is not None else None
        return {
            "type": "realtime",
            "object": "realtime.session",
            "id": id_,
            "model": self.model,
            "instructions": self.instructions or "",
            "output_modalities": list(self.output_modalities),
            "tools": [tool_as_json(tool) for tool in self.tools],
            "tool_choice": self.tool_choice,
            "max_output_tokens": "inf",
            "prompt": None,
            "tracing": self.echoed.get("tracing"),
            "truncation": self.echoed.get("truncation") or "auto",
            "include": self.echoed.get("include"),
            "audio": {
                "input": {
                    "format": self.input_format.as_json(),
                    "transcription": self.transcription,
                    "noise_reduction": None,
                    "turn_detection": turns,
                },
                "output": {"format": self.output_format.as_json(), "voice": VOICE, "speed": 1.0},
            },
        }


def tool_as_json(tool: Tool) -> JsonObject:
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}


def update(config: SessionConfig, given: JsonObject, path: str = "session.") -> SessionConfig:
    """The configuration after this update. Fields that aren't given keep their values. Raises EventRefused."""
    if given.get("type") == "transcription":
        raise unsupported(f"{path}type", "use a session of the type 'realtime'")
    if "type" not in given:
        raise missing(f"{path}type")
    one_of(given["type"], f"{path}type", ("realtime",))
    if "temperature" in given:
        raise renamed(f"{path}temperature", "nothing: the GA protocol has no temperature")
    check_names(given, _KNOWN, path, BETA)
    if "instructions" in given:
        text = optional_text(given, "instructions", path, INSTRUCTIONS_CHARS_MAX)
        config = replace(config, instructions=text or None)
    if given.get("model") is not None:
        config = replace(config, model=read_text(given, "model", path, 200))
    if given.get("output_modalities") is not None:
        config = replace(config, output_modalities=read_modalities(given["output_modalities"], path))
    if "tools" in given:
        config = replace(config, tools=read_tools(given["tools"], f"{path}tools"))
    if given.get("tool_choice") is not None:
        config = replace(config, tool_choice=read_tool_choice(given["tool_choice"], f"{path}tool_choice"))
    refuse_unlimited(given, path)
    if given.get("audio") is not None:
        config = _update_audio(config, read_object(given["audio"], f"{path}audio"), f"{path}audio.")
    echoed = {name: given[name] for name in _ECHOED if name in given}
    return replace(config, echoed={**config.echoed, **echoed}) if echoed else config


def refuse_unlimited(given: JsonObject, path: str) -> None:
    """Raise EventRefused for settings that the brains of this server don't support: a token limit, a stored prompt, or
    reasoning."""
    if given.get("max_output_tokens") not in (None, "inf"):
        raise unsupported(f"{path}max_output_tokens", "leave it out, or send 'inf'")
    if given.get("prompt") is not None:
        raise unsupported(f"{path}prompt", "prompts aren't stored here; send 'instructions'")
    if given.get("reasoning") is not None:
        raise unsupported(f"{path}reasoning", "the agent's own settings apply")


def read_modalities(value: Any, path: str) -> tuple[str, ...]:
    if value not in (["audio"], ["text"]):
        raise invalid(f"{path}output_modalities", "it must be ['audio'] or ['text']")
    return tuple(value)


def read_tool_choice(value: Any, path: str) -> str:
    if isinstance(value, dict) or value == "required":
        raise unsupported(path, "the agent decides whether to call a tool; use 'auto' or 'none'")
    return str(one_of(value, path, ("auto", "none")))


def read_tools(value: Any, path: str) -> tuple[Tool, ...]:
    """Read the functions that the client offers as tools."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise wrong_type(path, "an array")
    if len(value) > TOOLS_MAX:
        raise invalid(path, f"at most {TOOLS_MAX} tools are allowed")
    tools = tuple(_read_tool(one, f"{path}[{at}]") for at, one in enumerate(value))
    names = [tool.name for tool in tools]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise invalid(f"{path}[{at}].name", "two tools have this name")
    return tools


def _read_tool(value: Any, path: str) -> Tool:
    given = read_object(value, path)
    if given.get("type", "function") != "function":
        raise unsupported(f"{path}.type", "use the type 'function'; MCP servers are given to the agent in Python")
    check_names(given, ("type", "name", "description", "parameters", "strict"), f"{path}.")
    name = read_text(given, "name", f"{path}.", 64)
    if not name or not name.replace("-", "_").replace("_", "a").isalnum():
        raise invalid(f"{path}.name", "use only letters, digits, underscores and dashes")
    parameters = given.get("parameters") or {"type": "object", "properties": {}}
    description = optional_text(given, "description", f"{path}.", 4_000) or ""
    return Tool(name, description, read_object(parameters, f"{path}.parameters"), mode=Mode.DELEGATE)


# -- Audio


def _update_audio(config: SessionConfig, given: JsonObject, path: str) -> SessionConfig:
    check_names(given, ("input", "output"), path)
    if given.get("input") is not None:
        config = _update_input(config, read_object(given["input"], f"{path}input"), f"{path}input.")
    if given.get("output") is not None:
        output = read_object(given["output"], f"{path}output")
        read_output(output, f"{path}output.")
        if output.get("format") is not None:
            config = replace(config, output_format=read_format(output["format"], f"{path}output.format"))
    return config


def read_output(given: JsonObject, path: str) -> None:
    """Check the output settings, except the format. Any voice name is accepted, because most clients send one; the
    server's reply says which voice is really used."""
    check_names(given, ("format", "voice", "speed"), path)
    if given.get("speed") not in (None, 1, 1.0):
        raise unsupported(f"{path}speed", "the agent's voice has one speed; leave it out, or send 1")


def _update_input(config: SessionConfig, given: JsonObject, path: str) -> SessionConfig:
    check_names(given, ("format", "transcription", "noise_reduction", "turn_detection"), path)
    if given.get("format") is not None:
        config = replace(config, input_format=read_format(given["format"], f"{path}format"))
    if given.get("noise_reduction") is not None:
        raise unsupported(f"{path}noise_reduction", "leave it out, or send null")
    if "transcription" in given:
        config = replace(config, transcription=_read_transcription(given["transcription"], f"{path}transcription"))
    if "turn_detection" in given:
        config = replace(config, turn_detection=_read_turns(given["turn_detection"], f"{path}turn_detection"))
    return config


def _read_transcription(value: Any, path: str) -> JsonObject | None:
    """Read the client's request for transcripts of the user's speech. The agent's own ears make the transcripts,
    whatever model the client names."""
    if value is None:
        return None
    given = read_object(value, path)
    check_names(given, ("model", "language", "languages", "prompt", "keywords", "delay"), f"{path}.")
    for name in ("model", "language", "prompt"):
        optional_text(given, name, f"{path}.", 4_000)
    return given


def _read_turns(value: Any, path: str) -> TurnDetection | None:
    if value is None:
        return None
    given = read_object(value, path)
    kind = one_of(given.get("type", "server_vad"), f"{path}.type", ("server_vad", "semantic_vad"))
    answers = ("type", "create_response", "interrupt_response")
    for name in answers[1:]:
        if given.get(name) is False:
            raise unsupported(f"{path}.{name}", "the agent decides; to end turns yourself, send turn_detection: null")
    if kind == "semantic_vad":
        check_names(given, (*answers, "eagerness"), f"{path}.")
        eagerness = one_of(given.get("eagerness") or "auto", f"{path}.eagerness", ("low", "medium", "high", "auto"))
        return TurnDetection(kind, eagerness=eagerness)
    names = ("threshold", "prefix_padding_ms", "silence_duration_ms", "idle_timeout_ms")
    check_names(given, (*answers, *names), f"{path}.")
    if given.get("idle_timeout_ms") is not None:
        raise unsupported(f"{path}.idle_timeout_ms", "the agent's own check-ins apply; leave it out, or send null")
    wanted = {name: value for name, value in given.items() if name in names and value is not None}
    for name, most in (("prefix_padding_ms", 10_000), ("silence_duration_ms", 10_000)):
        if name in wanted:
            read_whole(wanted, name, f"{path}.", 0, most)
    threshold = wanted.get("threshold", 0.5)
    if type(threshold) not in (int, float) or not 0 <= threshold <= 1:
        raise invalid(f"{path}.threshold", "it must be a number from 0 to 1")
    return TurnDetection(kind, **wanted)
