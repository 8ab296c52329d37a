"""What must be installed before an agent's file can run: extras of this package, and models.

Reads the file's imports without running the file, so that everything that is missing is found at once. Rule: for each
missing item there is a command that installs it.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from duologue.core.errors import DuologueError
from duologue.models.cache import is_present
from duologue.voice.local import voice_model

EXTRAS: dict[str, tuple[str, ...]] = {
    "server": ("starlette", "uvicorn", "websockets"),
    "speech": ("numpy", "soxr", "soundfile", "onnxruntime"),
    "flows": ("pydantic", "yaml"),
    "nlu": ("numpy", "onnxruntime"),
    "llm": ("openai",),
    "anthropic": ("anthropic",),
    "realtime": ("websockets", "numpy"),
    "livekit": ("livekit.agents",),
    "tools": ("pydantic",),
    "mcp": ("mcp",),
    "phone": ("twilio", "telnyx", "nacl"),
    "postgres": ("psycopg",),
    "talk": ("sounddevice", "numpy"),
    "testing": ("pytest", "yaml"),
}
"""The modules that each extra installs."""

EARS_MODELS = ("silero-vad", "smart-turn", "moonshine-tiny")

NAMES: dict[str, tuple[str, ...]] = {
    "LocalEars": ("speech",),
    "LocalVoice": ("speech",),
    "PicoVoice": ("speech",),
    "EspeakVoice": ("speech",),
    "NeuralVoice": ("speech",),
    "LocalNlu": ("nlu",),
    "FlowBrain": ("flows",),
    "load_flows": ("flows",),
    "ChatBrain": ("llm",),
    "LlmNlu": ("llm",),
    "SpeechEndpointVoice": ("llm", "speech"),
    "AnthropicBrain": ("anthropic",),
    "RealtimeModel": ("realtime",),
    "GeminiLive": ("realtime",),
    "DeepgramEars": ("realtime",),
    "CartesiaVoice": ("realtime",),
    "PluginBrain": ("livekit",),
    "PluginEars": ("livekit",),
    "PluginVoice": ("livekit",),
    "McpServer": ("mcp",),
    "tool": ("tools",),
    "hang_up": ("tools",),
    "press_keys": ("tools",),
    "transfer_to": ("tools",),
    "client_tool": ("tools",),
}
"""The extras that each name of `duologue` needs. Names that aren't listed need only the standard library."""

_MODELS: dict[str, tuple[str, ...]] = {
    "LocalEars": EARS_MODELS,
    "PicoVoice": ("svox-pico",),
    "EspeakVoice": ("espeak-ng",),
    "LocalNlu": ("minilm",),
}
"""The models that each name needs. The model of a `LocalVoice` depends on the language and the machine."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """The extras and models that an agent or a command needs, in the order in which they were found."""

    extras: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def missing(self) -> Requirements:
        """The extras that aren't installed and the models that aren't downloaded."""
        return Requirements(
            tuple(extra for extra in self.extras if not is_installed(extra)),
            tuple(model for model in self.models if not is_present(model)),
        )

    def commands(self) -> list[str]:
        """The commands that install these extras and models."""
        install = [f"pip install 'duologue[{','.join(self.extras)}]'"] if self.extras else []
        return [*install, *([f"duologue models pull {' '.join(self.models)}"] if self.models else [])]


def require_extras(what: str, *extras: str) -> None:
    """Raise DuologueError if any of these extras, which `what` needs, isn't installed."""
    if missing := Requirements(extras).missing().extras:
        raise not_installed(what, *missing)


def not_installed(what: str, *extras: str) -> DuologueError:
    """The error to raise if `what` can't import the packages of these extras. It names the command to run."""
    command = Requirements(extras).commands()[0]
    return DuologueError(f"{what} needs packages that aren't installed; run `{command}`")


def is_installed(extra: str) -> bool:
    """Can every module of this extra be imported?"""
    return all(map(_can_be_imported, EXTRAS[extra]))


def _can_be_imported(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that contains the module is missing
        return False


def requirements_of(source: str, extras: Iterable[str] = ()) -> Requirements:
    """What a source file needs: the given `extras`, and the extras and models for each name that the file imports from
    duologue."""
    found = dict.fromkeys(extras)
    models: dict[str, None] = {}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "duologue":
            for alias in node.names:
                found |= dict.fromkeys(NAMES.get(alias.name, ()))
                models |= dict.fromkeys(_MODELS.get(alias.name, ()))
                if alias.name == "LocalVoice":
                    models |= dict.fromkeys(map(voice_model, _languages(tree)))
    return Requirements(tuple(found), tuple(models))


def _languages(tree: ast.AST) -> list[str]:
    """The languages that a file gives to its voices and agents, such as "de" in `LocalVoice("de")` or in
    `language="de"`. English if the file names no language."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    given = [one.value for call in calls for one in call.keywords if one.arg == "language"]
    given += [
        call.args[0] for call in calls if call.args and isinstance(call.func, ast.Name) and call.func.id == "LocalVoice"
    ]
    found = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return found or ["en"]


def requirements_of_agent(name: str, extras: Iterable[str] = ()) -> Requirements:
    """What the file of `module:agent` needs, and the given `extras`. If the file can't be read, the result has only
    `extras`, because importing the module will report the error."""
    file = Path(*name.partition(":")[0].split(".")).with_suffix(".py")
    try:
        return requirements_of(file.read_text(encoding="utf-8"), extras)
    except (OSError, SyntaxError, ValueError):
        return Requirements(tuple(extras))
