"""Finds an agent by the name `module:attribute`. The module may be in the current folder.

Rule: every failure raises AgentNotFound, whose message says in one line what is wrong.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from difflib import get_close_matches
from pathlib import Path

from duologue.core.errors import DuologueError

from .agent import Agent
from .agent_source import AgentOrMaker


class AgentNotFound(DuologueError):
    """There is no agent with this name. The message says why."""


def find_agent(place: str) -> Agent:
    """Import an agent by `module:attribute`. Modules are found in the current folder too, as if Python had been started
    there."""
    found = find_agent_or_maker(place, makers=False)
    assert isinstance(found, Agent)
    return found


def find_agent_or_maker(place: str, makers: bool = True) -> AgentOrMaker:
    """Import an agent, or a function that makes an agent for each call."""
    module_name, _, attribute = place.partition(":")
    if not module_name or not attribute:
        raise AgentNotFound(f"agent must be module:attribute, not {place!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as failure:
        why = " ".join(str(failure).split())
        raise AgentNotFound(f"agent: {module_name} can't be imported: {type(failure).__name__}: {why}") from failure
    found = getattr(module, attribute, None)
    if isinstance(found, Agent) or (makers and inspect.isfunction(found)):
        return found
    agents = [name for name, value in vars(module).items() if isinstance(value, Agent)]
    what = f"is {type(found).__name__}, not Agent" if found is not None else "does not exist"
    raise AgentNotFound(f"agent: {place} {what}{_advice(attribute, module_name, agents)}")


def _advice(attribute: str, module_name: str, agents: list[str]) -> str:
    if not agents:
        return f"; {module_name} has no Agent"
    close = get_close_matches(attribute, agents, n=1)
    return f"; did you mean {close[0]}?" if close else f"; it has {', '.join(sorted(agents))}"
