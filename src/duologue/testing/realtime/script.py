"""What a scripted Realtime server says and does wrong, as values.

Rule: a script says what happens, never how long a test has to sleep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Speak:
    """Speak. The sound lasts `ms`, is sent in pieces of `chunk_ms`, and at once unless it is `paced`."""

    text: str
    ms: int = 200
    chunk_ms: int = 100
    paced: bool = False


@dataclass(frozen=True, slots=True)
class WriteText:
    """Answer in text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallTool:
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class BreakDown:
    """The response fails here, with this code."""

    code: str = "server_error"


@dataclass(frozen=True, slots=True)
class FallSilent:
    """Nothing more comes, until the response is cancelled."""


ScriptPart: TypeAlias = Speak | WriteText | CallTool | BreakDown | FallSilent
Response: TypeAlias = ScriptPart | Iterable[ScriptPart]
RealtimeScript: TypeAlias = Iterable[Response] | Callable[[list[dict[str, Any]]], Response]


@dataclass(frozen=True, slots=True)
class ProtocolFault:
    """Something that goes wrong with the next events of a kind. A `late` one comes after the one behind it,
    a `slow` one after so many milliseconds; a client event that is `refused` gets this error `code`."""

    what: Literal["dropped", "duplicate", "late", "slow", "refused"]
    kind: str
    times: int = 1
    ms: int = 0
    code: str = ""


def parts_of(response: Response) -> list[ScriptPart]:
    return list(response) if isinstance(response, Iterable) else [response]
