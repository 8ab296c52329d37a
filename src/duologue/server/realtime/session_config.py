"""The configuration of a session: a value, and how it is written as JSON.

The server chooses the agent. A client may give it other instructions, more tools, and another one of its voices, but
can't choose its model. Rule: the JSON says what is in effect, and not what the client has asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from duologue.ports.worker import Tool

from .audio_format import AudioFormat
from .fields import JsonObject

AGENT = "agent"  # the name of the agent's own voice and ears
THRESHOLD = 0.5  # of the probability above which ears report speech: the protocol's default, and that of LocalEars


@dataclass(frozen=True, slots=True)
class TurnDetection:
    """How turns end: by a fixed silence (`server_vad`), or by the agent's own policy (`semantic_vad`)."""

    type: str = "semantic_vad"
    silence_duration_ms: int = 500
    prefix_padding_ms: int = 300
    eagerness: str = "auto"

    def as_json(self) -> JsonObject:
        answers = {"create_response": True, "interrupt_response": True}
        if self.type == "semantic_vad":
            return {"type": self.type, "eagerness": self.eagerness, **answers}
        return {
            "type": self.type,
            "threshold": THRESHOLD,
            "prefix_padding_ms": self.prefix_padding_ms,
            "silence_duration_ms": self.silence_duration_ms,
            **answers,
        }


@dataclass(frozen=True, slots=True)
class TranscriptWish:
    """The client's request for transcripts of the user's speech. The agent's own ears (STT) make the transcripts.
    `languages` are the languages that the client expects; empty if it names none."""

    languages: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        named = {"language": self.languages[0]} if len(self.languages) == 1 else {"languages": list(self.languages)}
        return {"model": AGENT, **(named if self.languages else {})}


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
    voice: str = AGENT  # a name in the agent's `voices`, or AGENT
    turn_detection: TurnDetection | None = field(default_factory=TurnDetection)
    transcription: TranscriptWish | None = None

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
            "tracing": None,
            "truncation": "auto",
            "include": None,
            "audio": {
                "input": {
                    "format": self.input_format.as_json(),
                    "transcription": self.transcription.as_json() if self.transcription is not None else None,
                    "noise_reduction": None,
                    "turn_detection": turns,
                },
                "output": {"format": self.output_format.as_json(), "voice": self.voice, "speed": 1.0},
            },
        }


def tool_as_json(tool: Tool) -> JsonObject:
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}
