"""The page of options: every field of the settings classes, with its default and its description.

Reads the source, because a field's description is the comment next to it. Rule: a field without a description is an
error, so that the page is always complete.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from duologue.brains.gemini.settings import GeminiSettings
from duologue.brains.realtime.settings import RealtimeSettings
from duologue.core.settings import PROFILES, Settings
from duologue.runtime.agent import Agent, Phrases
from duologue.server.phone.settings import PhoneSettings
from duologue.server.settings import Limits, ServerSettings, WebRtcSettings
from duologue.turns.controller import PRESETS, TurnSettings
from duologue.turns.endpoint import CombinedEndpoint, EasyTurnEndpoint, FixedSilence, SemanticEndpoint, ServerEndpoint
from duologue.turns.overlap import OVERLAP_RULES, OverlapRule
from duologue.voice.sounds import Sounds

# class, heading, what to know about it
SECTIONS: tuple[tuple[type, str, str], ...] = (
    (Agent, "Agent", "`Agent(brain, ...)`. An agent is checked when it is made; every problem is reported at once."),
    (
        Phrases,
        "Phrases",
        "`Agent(..., phrases=Phrases(...))`. All codes and texts are in [Phrases](phrases.md).",
    ),
    (
        Sounds,
        "Sounds",
        "`Agent(..., sounds=Sounds(...))`. A sound is a WAV file, a `Sound`, True for the built-in one, or None.",
    ),
    (
        Settings,
        "Profiles and settings",
        '`Agent(..., profile="words")`, or with changes: `profile("confirm", dead_air_ms=8_000)`. '
        "A value in the column of a profile replaces the default. Settings that contradict each other, such as "
        "`hangs_up=True` with `dead_air_ms=0`, are refused by `profile(...)`, before the agent is made and its "
        "problems are listed.",
    ),
    (FixedSilence, 'Endpoint policy "vad": FixedSilence', '`Agent(..., endpoint="vad")` or `FixedSilence(500)`.'),
    (
        SemanticEndpoint,
        'Endpoint policy "semantic": SemanticEndpoint',
        "Made by `SemanticEndpoint.named()` or `SemanticEndpoint.aiming_at(mean_ms)`.",
    ),
    (CombinedEndpoint, 'Endpoint policy "combined": CombinedEndpoint', "The default of an agent."),
    (ServerEndpoint, 'Endpoint policy "server": ServerEndpoint', "For models that end turns on their own server."),
    (EasyTurnEndpoint, 'Endpoint policy "easyturn": EasyTurnEndpoint', "Frame by frame, by fixed thresholds."),
    (
        TurnSettings,
        "TurnSettings",
        "The thresholds of EasyTurnEndpoint. A value in the column of a preset replaces the default.",
    ),
    (
        OverlapRule,
        "OverlapRule",
        "What interrupts the agent. The column of a profile shows what it uses instead of the default.",
    ),
    (RealtimeSettings, "RealtimeSettings", "`RealtimeModel(..., settings=RealtimeSettings(...))`."),
    (GeminiSettings, "GeminiSettings", "`GeminiLive(..., settings=GeminiSettings(...))`."),
    (
        ServerSettings,
        "ServerSettings",
        "`Server(make_agent, ServerSettings(...))`; `duologue serve` has an option for most.",
    ),
    (
        Limits,
        "Limits",
        "`ServerSettings(limits=Limits(...))`. `Rate(60, 60_000, 20)` allows 60 in 60,000 ms, and 20 at once.",
    ),
    (
        WebRtcSettings,
        "WebRtcSettings",
        "`ServerSettings(webrtc=WebRtcSettings(...))`; [WebRTC](webrtc.md) explains them.",
    ),
    (PhoneSettings, "PhoneSettings", "`phone_routes(make_agent, PhoneSettings(...))`."),
)
VARIANTS: dict[type, Mapping[str, Any]] = {Settings: PROFILES, TurnSettings: PRESETS, OverlapRule: OVERLAP_RULES}

ENVIRONMENT = (
    ("DUOLOGUE_TURN_SECRET", "the secret that TURN servers share with this server: clients get credentials that end"),
    ("DUOLOGUE_TURN_USER, DUOLOGUE_TURN_PASSWORD", "fixed credentials of TURN servers, which every client sees"),
    (
        "OPENAI_API_KEY",
        "the key of OpenAI, for `ChatBrain`, `SpeechEndpointVoice` and `RealtimeModel` without a `base_url`",
    ),
    ("AZURE_OPENAI_API_KEY", "the key of an Azure deployment, for `RealtimeModel`"),
    ("TWILIO_AUTH_TOKEN", "checks Twilio's webhooks, for `duologue serve --phone-url`"),
    ("TELNYX_PUBLIC_KEY", "checks Telnyx's webhooks, for `duologue serve --phone-url`"),
    ("DUOLOGUE_TOKEN", "the token that clients must send, as `duologue serve --token`"),
    ("DUOLOGUE_STORE", "where conversations are stored, as `duologue serve --store`"),
    ("DUOLOGUE_WORKERS", "how many processes share the port, as `duologue serve --workers`"),
    ("DUOLOGUE_MODELS", "the folder of the model files"),
    ("DUOLOGUE_CACHE", "model files are in `models` below it, unless DUOLOGUE_MODELS is set"),
    ("XDG_CACHE_HOME", "model files are in `duologue/models` below it, if neither is set; `~/.cache` if unset"),
    ("XDG_DATA_HOME", "the store `sqlite:` is `duologue/store.sqlite3` below it; `~/.local/share` if unset"),
)


@dataclass(frozen=True, slots=True)
class Option:
    """One field of a settings class, as its source says it."""

    name: str
    type: str
    default: str
    description: str


class UndescribedOption(Exception):
    """A field of a settings class has no comment next to it."""


def options_page(notice: str) -> str:
    lines = ["# Options", "", notice, ""]
    lines += ["Every option of an agent, its turn-taking and its server. Times are whole milliseconds (`_ms`)."]
    lines += [
        "Options of services (`ChatBrain`, `LocalEars`, voices) are in the [API reference](reference/services.md),"
    ]
    lines += ["options of the command line in [Commands](commands.md).", ""]
    for cls, heading, about in SECTIONS:
        lines += [f"## {heading}", "", about, "", *_table(cls), ""]
    lines += ["## Environment variables", "", "| variable | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in ENVIRONMENT]
    return "\n".join([*lines, ""])


def options_of(cls: type) -> list[Option]:
    """The fields of a dataclass that a caller may set, in the order of the source."""
    lines = inspect.getsource(cls).splitlines()
    (definition,) = ast.parse("\n".join(lines)).body
    assert isinstance(definition, ast.ClassDef)
    found = []
    for node in definition.body:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name) or _is_internal(node):
            continue
        description = _comment(lines, node)
        if not description:
            raise UndescribedOption(f"{cls.__name__}.{node.target.id}: write a comment next to it")
        kind = ast.unparse(node.annotation).replace(" | ", " or ")  # a bar would end the cell of the table
        found.append(Option(node.target.id, kind, _default(node), description))
    return found


def _table(cls: type) -> Iterator[str]:
    variants = VARIANTS.get(cls, {})
    yield "| " + " | ".join(["option", "type", "default", *variants, "meaning"]) + " |"
    yield "|---" * (4 + len(variants)) + "|"
    usual = cls() if variants else None
    for option in options_of(cls):
        cells = [f"`{option.name}`", _code(option.type), _code(option.default)]
        for variant in variants.values():
            value = getattr(variant, option.name)
            cells.append(_code(_shown(value)) if value != getattr(usual, option.name) else "")
        yield "| " + " | ".join([*cells, option.description]).replace("  ", " ") + " |"


def _is_internal(node: ast.AnnAssign) -> bool:
    """Set by the class itself: `field(init=False)`."""
    return isinstance(node.value, ast.Call) and any(
        word.arg == "init" and isinstance(word.value, ast.Constant) and word.value.value is False
        for word in node.value.keywords
    )


def _default(node: ast.AnnAssign) -> str:
    """The default as it is written; of `field(...)`, what it makes."""
    value = node.value
    if value is None:
        return "required"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "field":
        given = {word.arg: word.value for word in value.keywords}
        if "default" in given:
            return ast.unparse(given["default"])
        made = given["default_factory"]
        return ast.unparse(made.body) if isinstance(made, ast.Lambda) else f"{ast.unparse(made)}()"
    return _number(value) or ast.unparse(value)


def _number(value: ast.expr) -> str:
    """A number with separators, or nothing if this isn't a number or a tuple of numbers."""
    try:
        found = ast.literal_eval(value)
    except ValueError:
        return ""
    return _shown(found) if isinstance(found, int | tuple) and not isinstance(found, bool) else ""


def _shown(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    if isinstance(value, tuple) and value and all(isinstance(item, int) for item in value):
        return "(" + ", ".join(f"{item:_}" for item in value) + ")"
    return f"{type(value).__name__}.{value.name}" if hasattr(value, "name") else repr(value)


def _comment(lines: list[str], node: ast.AnnAssign) -> str:
    """The comment behind a field, or the lines of comment right above it."""
    assert node.end_lineno is not None
    behind = lines[node.end_lineno - 1][node.end_col_offset :].strip()
    if behind.startswith("#"):
        return behind.lstrip("# ").strip()
    above: list[str] = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.strip().startswith("#"):
            break
        above.insert(0, line.strip().lstrip("# ").strip())
    return " ".join(above)


def _code(text: str) -> str:
    return f"`{text}`"
