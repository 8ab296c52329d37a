"""Scripts for the Realtime server: what the server answers, and which faults it shows.

Rule: a script describes events, so that tests can wait for events and never sleep.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class Speak:
    """Speak this text. The sound lasts `ms` and is sent in chunks of `chunk_ms`. With `paced`, the chunks are sent in
    real time, otherwise all at once."""

    text: str
    ms: int = 200
    chunk_ms: int = 100
    paced: bool = False


@dataclass(frozen=True, slots=True)
class WriteText:
    """Answer in text, without sound."""

    text: str


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call a function."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class BreakDown:
    """Let the response fail with this error code."""

    code: str = "server_error"


@dataclass(frozen=True, slots=True)
class FallSilent:
    """Send nothing more until the response is cancelled."""


ScriptPart: TypeAlias = Speak | WriteText | CallTool | BreakDown | FallSilent
Response: TypeAlias = ScriptPart | Iterable[ScriptPart]
RealtimeScript: TypeAlias = Iterable[Response] | Callable[[list[dict[str, Any]]], Response]


@dataclass(frozen=True, slots=True)
class ProtocolFault:
    """Makes the next `times` events of type `kind` go wrong, in the manner that `what` names. A `late` event is sent
    after the event that follows it; a `slow` event is sent `ms` later. For `refused`, the server answers the client's
    event with an error with this `code`."""

    what: Literal["dropped", "duplicate", "late", "slow", "refused"]
    kind: str
    times: int = 1
    ms: int = 0
    code: str = ""


def parts_of(response: Response) -> list[ScriptPart]:
    return list(response) if isinstance(response, Iterable) else [response]
