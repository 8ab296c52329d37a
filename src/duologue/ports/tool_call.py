"""A tool call, as a brain makes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A brain's request to run a tool. `arguments` is a dict, or the JSON text of a dict as a model wrote it. The
    arguments are parsed and checked before the tool runs. `id` is the brain's own id for this tool call, if it has
    one."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    id: str = ""
