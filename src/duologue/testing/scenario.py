"""Scenario files: a call written in YAML, played on the simulated clock.

    result = play("scenarios/changes_their_mind.yaml")
    assert result.passed, result.message

`load` reads and checks a file, and `play` plays it. `scenario_steps` defines what a file may contain, and
docs/scenarios.md documents it. Rule: an invalid file is never played; the error lists all problems of the file with
their lines.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from duologue.core.errors import DuologueError
from duologue.core.leaves import Link
from duologue.core.settings import PROFILES
from duologue.core.state import initial
from duologue.observe.recorder import Recorder
from duologue.observe.signals import Caption
from duologue.runtime.agent import Agent
from duologue.runtime.agent_source import AgentOrMaker, changed, makes_agents
from duologue.runtime.find_agent import AgentNotFound, find_agent, find_agent_or_maker

from .call import Call
from .call_story import call_story
from .person import SpeakingPace
from .scenario_loops import read_call
from .scenario_steps import (
    NEEDS_CALLER,
    WORDS,
    BrainScript,
    Note,
    ScenarioAct,
    ToolScript,
    ValueKind,
    YamlNode,
    hint,
    one_of,
    read_brain,
    read_fields,
    read_pace,
    read_tools,
)
from .yaml_files import read_yaml

if TYPE_CHECKING:
    from duologue.flows.brain import FlowBrain


class ScenarioProblem(NamedTuple):
    """A problem in a file. Line 0 means that the problem concerns the file as a whole."""

    file: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}" if self.line else f"{self.file}: {self.text}"


class InvalidScenario(DuologueError, ValueError):
    """A file that can't be played. `problems` lists everything that is wrong with it."""

    def __init__(self, problems: tuple[ScenarioProblem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))


@dataclass(frozen=True)
class Scenario:
    """A call that was read from a file and checked. It can be played any number of times."""

    name: str
    file: Path
    steps: tuple[ScenarioAct, ...]
    agent: AgentOrMaker | None = None
    profile: str | None = None
    brain: BrainScript | None = None
    beside: BrainScript | None = None
    tools: tuple[ToolScript, ...] = ()
    pace: SpeakingPace | None = None

    def make_agent(self) -> AgentOrMaker:
        """The agent of this scenario. If the scenario's agent is made by a function, the result is such a function too.
        A scripted brain replaces the agent's brain, or the brain beside its flows. A scripted tool replaces the agent's
        tool with the same name.
        The voice is always simulated."""
        changes: dict[str, Any] = {"profile": self.profile} if self.profile else {}
        if self.brain is not None:
            changes["brain"] = self.brain.make()
        scripted = [tool.make() for tool in self.tools]
        if self.agent is None:
            return Agent(tools=scripted, **changes)
        names = {tool.name for tool in self.tools}

        def change(agent: Agent) -> Agent:
            kept = [worker for worker in agent.workers if worker.tool.name not in names]
            if self.beside is not None:
                changes["brain"] = _flows_of(agent).with_beside(self.beside.make())
            return replace(agent, voice=None, tools=(*kept, *scripted), **changes)

        return changed(self.agent, change)


class ScenarioResult(NamedTuple):
    """How a scenario went. If it failed, `line` is the line of the failed step, `message` says what failed and what
    happened in the call, and `journal` is the journal's path, if one was requested."""

    name: str
    file: Path
    passed: bool
    simulated_ms: int
    real_ms: int
    line: int = 0
    message: str = ""
    journal: Path | None = None


# -- Playing


def play(scenario: Path | str | Scenario, journal: Path | None = None) -> ScenarioResult:
    """Play a scenario or a scenario file. Raises InvalidScenario if the file is invalid. If the scenario fails, the
    journal of the call is written to the file `journal`, and the words of the call to a file next to it."""
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    began = time.perf_counter()
    line, message, simulated_ms = 0, "", 0
    call: Call | None = None
    try:
        with Call(scenario.make_agent(), pace=scenario.pace) as call:
            line, message = _take_steps(scenario, call)
            simulated_ms = call.now_ms
    except Exception as failure:  # noqa: BLE001 - any exception of the agent is a failed scenario
        edge, what = (-1, "the call did not end") if call is not None else (0, "the call did not start")
        line, message = line or scenario.steps[edge].line, message or f"{what}: {_failure_text(failure)}"
    real_ms = round((time.perf_counter() - began) * 1000)
    if not message:
        return ScenarioResult(scenario.name, scenario.file, True, simulated_ms, real_ms)
    message = f"{scenario.name}\n{scenario.file}:{line}: {message}"
    written = _write_journal(call, journal)
    return ScenarioResult(scenario.name, scenario.file, False, simulated_ms, real_ms, line, message, written)


def _take_steps(scenario: Scenario, call: Call) -> tuple[int, str]:
    """Perform the steps. Returns the line of the step that failed and the reason, or 0 and "" if all succeeded."""
    for step in scenario.steps:
        try:
            if step.name in NEEDS_CALLER and call.conversation.machine_state.link is Link.IDLE:
                raise AssertionError("the call is over")
            step.do(call)
        except Exception as failure:  # noqa: BLE001 - any exception fails this step
            story = call_story(call)
            why = _failure_text(failure)
            return step.line, f"{step.name}: {why}" if story in why else f"{step.name}: {why}\n\n{story}"
    return 0, ""


def _failure_text(failure: Exception) -> str:
    return str(failure) if isinstance(failure, AssertionError) else f"{type(failure).__name__}: {failure}"


def _write_journal(call: Call | None, path: Path | None) -> Path | None:
    """Write the journal of a failed scenario and return its path; None if there was no call or if no journal was
    requested. The journal is written only after the call, so that a scenario that passes leaves no file."""
    if call is None or path is None:
        return None
    agent = call.conversation.agent
    recorder = Recorder(path, initial(agent.settings), agent.private)
    for record in call.records:
        recorder.add(record)
    for signal in call.signals:
        if isinstance(signal, Caption):
            recorder.add_words(signal)
    recorder.close()
    return path


# -- Loading


def load(path: Path | str) -> Scenario:
    """Read a scenario file and check it. Raises InvalidScenario, which lists every problem."""
    file = Path(path)
    problems: list[ScenarioProblem] = []

    def note(line: int, text: str) -> None:
        problems.append(ScenarioProblem(file, line, text))

    root = read_yaml(file, note, "scenario", "name, brain, call", "`call`, and `agent` or `brain`")
    scenario = _read_scenario(root, file, note) if root is not None else None
    if problems or scenario is None:
        raise InvalidScenario(tuple(sorted(problems, key=lambda problem: problem.line)))
    return scenario


_SIMPLE: dict[str, ValueKind] = {"name": WORDS, "agent": WORDS, "profile": one_of("a profile", PROFILES)}


def _read_scenario(root: YamlNode, file: Path, note: Note) -> Scenario:
    """Read each part of a scenario separately, so that a problem in one part doesn't hide problems in another."""
    entries = dict(root.entries or {})
    read: dict[str, Callable[[YamlNode, Note], Any]] = {
        "brain": read_brain,
        "beside": read_brain,
        "tools": read_tools,
        "pace": read_pace,
        "call": read_call,
    }
    parts = {key: entries.pop(key) for key in read if key in entries}
    for key in [key for key in entries if key not in _SIMPLE]:
        note(entries.pop(key).line, f"unknown key {key!r} in a scenario{hint(key, (*_SIMPLE, *read))}")
    given = read_fields(entries, _SIMPLE, "a scenario", note)
    given |= {key: read[key](node, note) for key, node in parts.items()}
    if "call" not in parts:
        note(root.line, "a scenario needs `call`: a list of steps")
    if "agent" not in entries and "brain" not in parts:
        note(root.line, "a scenario needs `agent` or `brain`")
    if "agent" in given:
        given["agent"] = _find_agent(given["agent"], entries["agent"].line, note)
    if "beside" in parts:
        _check_beside(given.get("agent"), "brain" in parts, parts["beside"].line, note)
    return Scenario(given.pop("name", file.stem), file, given.pop("call", ()), **given)


def _check_beside(agent: AgentOrMaker | None, has_brain: bool, line: int, note: Note) -> None:
    if has_brain:
        note(line, "use `brain`, which replaces the agent's brain, or `beside`, which keeps its flows, but not both")
    elif isinstance(agent, Agent):  # what a function makes is known only when the scenario is played
        try:
            _flows_of(agent)
        except DuologueError as problem:
            note(line, str(problem))


def _flows_of(agent: Agent) -> FlowBrain:
    from duologue.flows.brain import FlowBrain

    if not isinstance(agent.brain, FlowBrain):
        raise DuologueError("`beside` needs an agent whose brain is a FlowBrain; use `brain` for other agents")
    return agent.brain


def _find_agent(place: str, line: int, note: Note) -> AgentOrMaker | None:
    try:
        found = find_agent_or_maker(place)
        return found if isinstance(found, Agent) or makes_agents(found) else find_agent(place)
    except AgentNotFound as problem:
        note(line, str(problem))
        return None
