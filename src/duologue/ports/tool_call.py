"""A tool call, as a brain makes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request of the brain to run this tool. `arguments` is a dict, or JSON text of a dict as a model wrote it. The
    arguments are parsed and checked before the tool runs. `id` is the brain's own id for the call, if it has one."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    id: str = ""
