"""Reads the fields of a session and of `response.create`: what a client may configure, and what is refused.

Rule: every field has an effect, or is refused by its name. Four fields have names of OpenAI's services, which almost
every client sends: `model`, `audio.output.voice`, `audio.input.transcription.model` and `tracing`. These are accepted,
and the answer says what is in effect instead; a voice has an effect if the agent has one with this name. An update is
either applied completely or refused completely.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duologue.ports.worker import Mode, Tool

from .audio_format import read_format
from .fields import JsonObject, check_names, one_of, optional_text, read_object, read_text, read_whole
from .refusal import invalid, missing, removed, unsupported, wrong_type
from .session_config import AGENT, THRESHOLD, SessionConfig, TranscriptWish, TurnDetection

INSTRUCTIONS_CHARS_MAX = 32_000
TOOLS_MAX = 64
LANGUAGES_MAX = 20
NAME_CHARS_MAX = 200
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
_RESPONSE_FIELDS = (
    "audio",
    "conversation",
    "input",
    "instructions",
    "max_output_tokens",
    "metadata",
    "output_modalities",
    "parallel_tool_calls",
    "prompt",
    "reasoning",
    "tool_choice",
    "tools",
)
_OWN_TRACES = ("auto", None)


def update(config: SessionConfig, given: JsonObject, path: str = "session.") -> SessionConfig:
    """The configuration after this update. Fields that aren't given keep their values. Raises EventRefused."""
    if given.get("type") == "transcription":
        raise unsupported(f"{path}type", "use a session of the type 'realtime'")
    if "type" not in given:
        raise missing(f"{path}type")
    one_of(given["type"], f"{path}type", ("realtime",))
    if "temperature" in given:
        raise removed(f"{path}temperature")
    check_names(given, _KNOWN, path, BETA)
    if "instructions" in given:
        text = optional_text(given, "instructions", path, INSTRUCTIONS_CHARS_MAX)
        config = replace(config, instructions=text or None)
    if given.get("model") is not None:
        config = replace(config, model=read_text(given, "model", path, NAME_CHARS_MAX))
    if given.get("output_modalities") is not None:
        config = replace(config, output_modalities=read_modalities(given["output_modalities"], path))
    if "tools" in given:
        config = replace(config, tools=read_tools(given["tools"], f"{path}tools"))
    if given.get("tool_choice") is not None:
        config = replace(config, tool_choice=read_tool_choice(given["tool_choice"], f"{path}tool_choice"))
    refuse_of_models(given, path)
    _refuse_of_sessions(given, path)
    if given.get("audio") is not None:
        config = _update_audio(config, read_object(given["audio"], f"{path}audio"), f"{path}audio.")
    return config


def _refuse_of_sessions(given: JsonObject, path: str) -> None:
    """Raise EventRefused for settings of a session that this server doesn't support. The values that are in effect
    anyway are accepted."""
    if given.get("include"):
        raise unsupported(f"{path}include", "the agent's ears report no logprobs; leave it out, or send null")
    if given.get("truncation") not in ("auto", None):
        raise unsupported(f"{path}truncation", "the agent's brain decides what it remembers; send 'auto'")
    if (tracing := given.get("tracing")) not in _OWN_TRACES:
        names = read_object(tracing, f"{path}tracing")
        check_names(names, ("workflow_name", "group_id", "metadata"), f"{path}tracing.")
        first = next(iter(names), None)
        where = f"{path}tracing.{first}" if first is not None else f"{path}tracing"
        raise unsupported(where, "the operator of this server decides about traces; send 'auto' or null")


def refuse_of_models(given: JsonObject, path: str) -> None:
    """Raise EventRefused for settings of a model that the brains of this server don't support: a token limit, a stored
    prompt, reasoning, or tool calls one after another."""
    if given.get("max_output_tokens") not in (None, "inf"):
        raise unsupported(f"{path}max_output_tokens", "leave it out, or send 'inf'")
    if given.get("prompt") is not None:
        raise unsupported(f"{path}prompt", "prompts aren't stored here; send 'instructions'")
    if given.get("reasoning") is not None:
        raise unsupported(f"{path}reasoning", "the agent's own settings apply")
    if given.get("parallel_tool_calls") not in (None, True):
        raise unsupported(f"{path}parallel_tool_calls", "the agent may call several tools; leave it out, or send true")


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


# -- One response


def read_response(config: SessionConfig, given: JsonObject) -> SessionConfig:
    """The configuration of one response: that of the session, with the changes of this `response.create`. Raises
    EventRefused."""
    path = "response."
    if "temperature" in given:
        raise removed(f"{path}temperature")
    check_names(given, _RESPONSE_FIELDS, path, BETA)
    if given.get("conversation") not in (None, "auto"):
        raise unsupported(f"{path}conversation", "every response belongs to the conversation; send 'auto'")
    if given.get("input") is not None:
        raise unsupported(f"{path}input", "every response belongs to the conversation; create items instead")
    refuse_of_models(given, path)
    if given.get("instructions") is not None:
        text = optional_text(given, "instructions", path, INSTRUCTIONS_CHARS_MAX)
        config = replace(config, instructions=text or config.instructions)
    if given.get("output_modalities") is not None:
        config = replace(config, output_modalities=read_modalities(given["output_modalities"], path))
    if given.get("tools") is not None:
        config = replace(config, tools=read_tools(given["tools"], f"{path}tools"))
    if given.get("tool_choice") is not None:
        config = replace(config, tool_choice=read_tool_choice(given["tool_choice"], f"{path}tool_choice"))
    audio = read_object(given.get("audio") or {}, f"{path}audio")
    check_names(audio, ("output",), f"{path}audio.")
    output = read_object(audio.get("output") or {}, f"{path}audio.output")
    voice = read_output(output, f"{path}audio.output.", ("format", "voice"))
    if voice is not None:
        config = replace(config, voice=voice)
    if output.get("format") is not None:
        wanted = read_format(output["format"], f"{path}audio.output.format")
        if wanted is not config.output_format:
            raise unsupported(f"{path}audio.output.format", "the format can't be changed for a single response")
    return config


# -- Audio


def _update_audio(config: SessionConfig, given: JsonObject, path: str) -> SessionConfig:
    check_names(given, ("input", "output"), path)
    if given.get("input") is not None:
        config = _update_input(config, read_object(given["input"], f"{path}input"), f"{path}input.")
    if given.get("output") is not None:
        output = read_object(given["output"], f"{path}output")
        voice = read_output(output, f"{path}output.", ("format", "voice", "speed"))
        if "voice" in output:
            config = replace(config, voice=voice or AGENT)
        if output.get("format") is not None:
            config = replace(config, output_format=read_format(output["format"], f"{path}output.format"))
    return config


def read_output(given: JsonObject, path: str, known: tuple[str, ...]) -> str | None:
    """Check the output settings, except the format. Returns the name of the voice that the client wants; None if it
    names none. Any name is accepted, because most clients send one; whether the agent has this voice is checked later,
    and the server's reply says which voice is really used."""
    check_names(given, known, path)
    if given.get("speed") not in (None, 1, 1.0):
        raise unsupported(f"{path}speed", "the agent's voice has one speed; leave it out, or send 1")
    if isinstance(voice := given.get("voice"), dict):
        check_names(voice, ("id",), f"{path}voice.")
        return read_text(voice, "id", f"{path}voice.", NAME_CHARS_MAX)
    return optional_text(given, "voice", path, NAME_CHARS_MAX)


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


def _read_transcription(value: Any, path: str) -> TranscriptWish | None:
    """Read the client's request for transcripts of the user's speech. The agent's own ears make the transcripts,
    whatever model the client names. Whether they hear the languages that the client expects is checked later, when the
    agent is known."""
    if value is None:
        return None
    given = read_object(value, path)
    check_names(given, ("model", "language", "languages", "prompt", "keywords", "delay"), f"{path}.")
    for name in ("prompt", "keywords", "delay"):
        if given.get(name):
            raise unsupported(f"{path}.{name}", "the agent's own ears write the transcripts; leave it out")
    optional_text(given, "model", f"{path}.", NAME_CHARS_MAX)
    one = optional_text(given, "language", f"{path}.", NAME_CHARS_MAX)
    several = given.get("languages") or ()
    if not isinstance(several, list | tuple) or not all(isinstance(code, str) for code in several):
        raise wrong_type(f"{path}.languages", "an array of strings")
    if len(several) > LANGUAGES_MAX:
        raise invalid(f"{path}.languages", f"at most {LANGUAGES_MAX} languages are allowed")
    return TranscriptWish((one,) if one else tuple(several))


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
    if given.get("threshold") not in (None, THRESHOLD):
        raise unsupported(f"{path}.threshold", f"the agent's ears decide what is speech; send {THRESHOLD}")
    wanted: dict[str, Any] = {}
    for name in ("prefix_padding_ms", "silence_duration_ms"):
        if given.get(name) is not None:
            wanted[name] = read_whole(given, name, f"{path}.", 0, 10_000)
    return TurnDetection(kind, **wanted)
