"""Which agent holds the conversation: changes to this agent, and the hand-over to another agent.

A change waits here until the state machine applies it. Rule: an agent may take over only if it is listed in the
`agents` of the first agent, or in the `agents` of an agent that is listed there, and so on. So a server that continues
the conversation finds the agent again by its name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from typing import Any

from duologue.core import events as ev
from duologue.core.leaves import Ask
from duologue.core.step_record import StepRecord
from duologue.ports.brain import Brain, Part, Request
from duologue.ports.context import HandOverRefused, HistoryShare, NotPossible
from duologue.ports.history import Item, Note

from .agent import Agent, filled_up
from .driver import Driver
from .tool_calls import RUNNING_CALL
from .transcript import Transcript
from .validation import reading, text, whole

IN_A_ROW_MAX = 5  # hand-overs without a word of the person in between
_SAVED = ("instructions", "language")


@dataclass(frozen=True, slots=True)
class _Change:
    agent: Agent
    speaks: bool
    seam: int = 0
    summary: str = ""


class AgentChanges:
    """The agents of one conversation. `root` is the agent with which the conversation began."""

    def __init__(self, root: Agent, driver: Driver, transcript: Transcript) -> None:
        self.root = root
        self.current = root
        self.greets = False  # another agent has taken over, and nothing of it was heard yet
        self._driver = driver
        self._transcript = transcript
        self._changes: list[_Change] = []
        self._updated: dict[str, str] = {}  # what `update` has changed, as far as it can be saved
        self._seam = 0  # the first place of the history that the agent knows
        self._summary = ""  # the agent's summary of the history before that place
        self._in_a_row = 0
        self._said = 0  # the newest turn at the last hand-over
        self._greeting = 0  # the reply with the greeting
        self._handed_by: list[int] = []  # the tool calls that requested a hand-over since the last greeting

    @property
    def is_changed(self) -> bool:
        """Does the agent differ from the agent with which the conversation began? If not, there is nothing to save."""
        return self.current is not self.root or bool(self._updated)

    @property
    def speaker(self) -> str:
        """The name of the agent that holds the conversation, for lines that it says; empty for the call's first
        agent."""
        return self.current.name if self.current.name != self.root.name else ""

    @property
    def newest(self) -> Agent:
        """The agent as it will be after all waiting changes."""
        return self._changes[-1].agent if self._changes else self.current

    def voiced(self, agent: Agent) -> Agent:
        """This agent, completed: if it has no voice or no ears, a copy that has the voice or the ears of the
        conversation's first agent."""
        return filled_up(agent, self.root)

    # -- From the program

    def update(self, changes: dict[str, Any]) -> None:
        """Change the agent, beginning with the next request. Raises InvalidAgent if the changed agent would be invalid,
        and NotPossible if the agent's brain is a speech-to-speech model."""
        newest = self.newest
        if getattr(newest.brain, "renew", None) is not None:
            raise NotPossible("a speech-to-speech model can't be changed during a call")
        agent = replace(newest, **changes)
        self.voiced(agent)  # raises if it doesn't go together with the ears of the first agent
        self._updated |= {name: value for name, value in changes.items() if name in _SAVED}
        seam = self._changes[-1] if self._changes else None
        self._changes.append(
            _Change(agent, False, seam.seam if seam else self._seam, seam.summary if seam else self._summary)
        )
        self._driver.post(ev.AgentChangeRequested)

    def check(self, wanted: Any) -> Agent:
        """Find the agent to hand over to. Raises HandOverRefused if that agent isn't known or can't take over."""
        names = ", ".join(repr(agent.name) for agent in known_agents(self.root) if agent.name)
        name = wanted.name if isinstance(wanted, Agent) else wanted
        found = next((agent for agent in known_agents(self.root) if agent.name and agent.name == name), None)
        if found is None:
            raise HandOverRefused(f"there is no agent {name!r} to hand over to; known: {names or 'none'}")
        holder = self.newest
        if found.name == holder.name:
            if self._changes or self.greets:
                self._handed_by.append(RUNNING_CALL.get())  # a model may call the tool twice in one answer
            raise HandOverRefused(f"{name!r} already holds the conversation, or is about to take it over")
        if any(getattr(one.brain, "renew", None) is not None for one in (found, holder)):
            raise HandOverRefused(
                "an agent with a speech-to-speech model can't hand over a conversation or take one over"
            )
        if self._driver.state.said > self._said:
            self._in_a_row = 0
        if self._in_a_row >= IN_A_ROW_MAX:
            raise HandOverRefused(f"{IN_A_ROW_MAX} hand-overs in a row: wait until the person has said something")
        return found

    def hand_over(self, agent: Agent, history: HistoryShare, summary: str) -> None:
        """Request that `agent` takes over the conversation. It takes over when the state machine applies this
        change."""
        self._said, self._in_a_row = self._driver.state.said, self._in_a_row + 1
        self._updated = {}
        self._handed_by.append(RUNNING_CALL.get())
        keeps = history == "whole"
        seam = self._seam if keeps else self._transcript.first_after(self._driver.state.answered)
        kept = self._summary if keeps else summary if history == "summary" else ""
        self._changes.append(_Change(agent, True, seam, kept))
        self._driver.post(ev.AgentChangeRequested, speaks=True)

    # -- From the state machine

    def apply(self) -> Agent | None:
        """Apply the oldest waiting change. Returns the agent that holds the conversation from now on; None if no change
        was waiting."""
        if not self._changes:
            return None  # requested by an earlier process
        change = self._changes.pop(0)
        self.current, self._seam, self._summary = change.agent, change.seam, change.summary
        self.greets = self.greets or change.speaks
        self._greeting = 0 if change.speaks else self._greeting
        return self.current

    def history(self) -> tuple[Item, ...]:
        """The part of the history that the agent knows. If the agent was given a summary of the earlier part, the
        result begins with that summary."""
        if not self._seam and not self._summary:
            return self._transcript.items
        notes: tuple[Item, ...] = (Note(f"The conversation so far: {self._summary}"),) if self._summary else ()
        return (*notes, *self._transcript.since(self._seam))

    def greeting(self, reply: int, ask: Ask) -> bool:
        """Decide whether the agent greets in this reply: it does if it has just taken over and this is the first
        request to it. If so, remember `reply` as the number of the greeting, and return True."""
        if not self.greets or ask is not Ask.ANSWER:
            return False
        self._greeting = reply
        return True

    def is_open(self, request: Request) -> bool:
        """Does this request contain something that needs an answer besides the greeting? The results of the tool calls
        that handed over aren't counted."""
        outputs = [output for output in request.outputs if output.call not in self._handed_by]
        return bool(request.text or request.news or outputs)

    def follow(self, record: StepRecord) -> None:  # noqa: ARG002 - read from the transcript
        if self._greeting and self._transcript.heard_of(self._greeting):
            self.greets, self._greeting = False, 0
            self._handed_by.clear()

    # -- As data

    def dump(self) -> dict[str, Any]:
        return {
            "agent": self.current.name,
            "updated": dict(self._updated),
            "greets": self.greets,
            "seam": self._seam,
            "summary": self._summary,
            "in_a_row": [self._in_a_row, self._said],
            "handed_by": list(self._handed_by),
        }

    def load(self, data: dict[str, Any]) -> None:
        """Restore what `dump` returned. Raises NotRestorable if the data is invalid, or if this process doesn't know
        the agent."""
        with reading("the agent of the conversation"):
            name, updated = text(data["agent"]), {text(key): text(one) for key, one in data["updated"].items()}
            seam, summary = whole(data["seam"]), text(data["summary"])
            in_a_row, said = (whole(one) for one in data["in_a_row"])
            handed_by = [whole(one) for one in data.get("handed_by", [])]  # not in data of earlier versions
            agent = self.root if name == self.root.name else next(a for a in known_agents(self.root) if a.name == name)
            self.current = replace(agent, **updated) if updated else agent  # type: ignore[arg-type]
        self._updated, self._seam, self._summary = updated, seam, summary
        self._in_a_row, self._said, self.greets = in_a_row, said, bool(data["greets"])
        self._handed_by = handed_by


def known_agents(root: Agent) -> Iterator[Agent]:
    """This agent, the agents in its `agents`, the agents in the `agents` of those agents, and so on. Each agent is
    returned only one time."""
    waiting, seen = deque([root]), set()
    while waiting:
        agent = waiting.popleft()
        if id(agent) not in seen:
            seen.add(id(agent))
            yield agent
            waiting.extend(agent.agents)


class Greeting:
    """A brain for an agent that has taken over. It says the agent's greeting, and then answers what the person has said
    since the hand-over."""

    def __init__(self, text: str, brain: Brain) -> None:
        self._text = text
        self._brain = brain

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        yield f"{self._text} "
        async for part in self._brain.reply(request):
            yield part
