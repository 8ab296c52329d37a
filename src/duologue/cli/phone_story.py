"""`duologue phone --simulate STORY.yaml`: a telephone story with its timeline, on the simulated clock.

A story has telephones, menus and answering machines, and a carrier with an API. Rule: the timeline is shown on standard
output. The exit code is 1 if an expectation of the story isn't met.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from duologue.core.errors import DuologueError
from duologue.runtime.find_agent import find_agent_or_maker
from duologue.runtime.simulated_clock import run_simulated

from .talk import all_with_speech
from .terminal_style import BLUE, GREEN, RED

if TYPE_CHECKING:
    from duologue.lab.sim.phone_story_play import PhoneStoryOutcome


def is_story(data: object) -> bool:
    """Is this parsed YAML a telephone story? If not, it is the script of one caller."""
    return isinstance(data, Mapping) and ("story" in data or "telephones" in data)


def story_command(file: Path, data: object, carrier: str, agent: str, as_json: bool) -> None:
    """Play a story. `carrier` and `agent`, unless they are empty, replace the carrier and the agent that the story
    names. The agent's module may be in the folder of the story."""
    try:
        from duologue.lab.sim.phone_speech import PhoneSpeech
        from duologue.lab.sim.phone_story import read_story
        from duologue.lab.sim.phone_story_play import outcome_as_json, play_story
        from duologue.voice.local import LocalVoice
    except ModuleNotFoundError as missing:
        raise DuologueError(f"a story needs {missing.name}: pip install 'duologue[phone,server]'") from None
    try:
        story = read_story({**data, "carrier": carrier} if carrier and isinstance(data, Mapping) else data)
    except DuologueError as problem:
        raise DuologueError(f"{file}: {problem}") from None
    story = replace(story, agent=agent or story.agent)
    if not story.agent:
        raise DuologueError(f"{file}: the story needs an agent: `agent: module:agent`, or --agent")
    sys.path.insert(0, str(file.parent.resolve()))
    talking = all_with_speech(find_agent_or_maker(story.agent))
    told = run_simulated(play_story(story, talking, PhoneSpeech(LocalVoice(), file.parent)))
    if as_json:
        sys.stdout.write(json.dumps(outcome_as_json(told), indent=2, ensure_ascii=False) + "\n")
    else:
        _show(told)
    if told.problem:
        raise typer.Exit(1)


def _show(told: PhoneStoryOutcome) -> None:
    console = Console()
    console.print(Text(f"  {told.story.story}\n", "bold"), soft_wrap=True)
    width = max((len(line.who) for line in told.timeline), default=0)
    for line in told.timeline:
        colour = BLUE if line.who == "agent" else "dim" if line.who.startswith("call ") else ""
        console.print(
            Text.assemble((f"  {line.at_ms / 1000:7.2f} s  ", "dim"), (f"{line.who:<{width}}  {line.what}", colour)),
            soft_wrap=True,
        )
    console.print(Text(f"\n  {told.outcome} on {told.story.carrier}", "dim"))
    console.print(Text(f"  {told.problem or 'as expected'}", RED if told.problem else GREEN), soft_wrap=True)
