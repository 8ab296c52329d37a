"""Stories: whole dialogues in YAML, with the expected result of every turn.

    flows: flights.yaml
    today: 2025-12-02
    stories:
      - story: a caller books a flight
        turns:
          - user: I want to book a flight
            started: book_flight
            says: Where would you like to fly from?
          - user: New York
            slots: {origin: New York}
            nlu: false

Rule: each result that a turn names must match exactly; results that it doesn't name aren't checked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from duologue.core.errors import DuologueError
from duologue.dialogue.effects import HandOver, Respond
from duologue.dialogue.flow import Domain
from duologue.dialogue.language.days import today_of
from duologue.nlu.understanding import MessageScope, Nlu, Understanding

from .dialogue_session import DialogueSession, Said
from .problems import ProblemList
from .registry import Registry

TODAY = "2026-03-04"
Place = tuple[str | int, ...]


class InvalidStories(DuologueError):
    """A story file that can't be played. The message has one line for each problem."""


@dataclass(frozen=True, slots=True)
class StoryTurn:
    """One user message, and the expected results. A result that is None isn't checked."""

    line: int
    user: str | None = None  # None: the user is silent
    says: tuple[str, ...] | None = None  # exactly these responses, in order
    contains: tuple[str, ...] = ()  # texts that must each appear somewhere in the responses
    slots: dict[str, Any] | None = None
    waiting_for: str | Literal[False] | None = None
    started: str | None = None
    completed: str | None = None
    cancelled: str | None = None
    state: str | None = None
    nlu: bool | None = None
    handoff: bool | str | None = None  # True if a human took over; a text if it was for this reason


@dataclass(frozen=True, slots=True)
class Story:
    name: str
    line: int
    turns: tuple[StoryTurn, ...]
    flow: str = ""  # started by the program


@dataclass(frozen=True, slots=True)
class StoryFile:
    path: Path
    flows: Path
    actions: str
    today: str
    stories: tuple[Story, ...]


@dataclass(frozen=True, slots=True)
class StoryOutcome:
    """The result of a story. `problem` says what went wrong at `line`; it is empty if the story passed."""

    story: Story
    problem: str = ""
    line: int = 0

    @property
    def is_well(self) -> bool:
        return not self.problem


class CountingNlu:
    """An NLU that counts how often it is asked."""

    def __init__(self, nlu: Nlu) -> None:
        self._nlu = nlu
        self.calls = 0

    async def understand(self, message: str, scope: MessageScope) -> Understanding:
        self.calls += 1
        return await self._nlu.understand(message, scope)


async def play(story: Story, domain: Domain, registry: Registry, nlu: Nlu, today: str) -> StoryOutcome:
    """Play one story to its end, or to the first turn that fails."""
    counted, clock = CountingNlu(nlu), iter(range(0, 10_000_000, 1_000))
    talk = DialogueSession(domain, registry, counted, today=lambda: today, now=lambda: next(clock))
    if story.flow:
        await _all(talk.start(story.flow))
    for turn in story.turns:
        before, calls = len(talk.state.trace), counted.calls
        traced = talk.state.trace
        said = await _all(talk.hear(turn.user) if turn.user is not None else talk.wait())
        new = talk.state.trace[before:] if talk.state.trace[:before] == traced else talk.state.trace
        problem = _problem(turn, talk, said, [(one.event, dict(one.data)) for one in new], counted.calls - calls)
        if problem:
            return StoryOutcome(story, problem, turn.line)
    return StoryOutcome(story)


async def _all(said: AsyncIterator[Said]) -> list[Said]:
    return [item async for item in said]


def _problem(
    turn: StoryTurn, talk: DialogueSession, said: list[Said], events: list[tuple[str, dict[str, str]]], calls: int
) -> str:
    """The first result that differs from what the turn expects; empty if all results match."""
    words = [item.text for item in said if isinstance(item, Respond)]
    flows = {
        kind: [data.get("flow") for event, data in events if event == f"flow_{kind}"]
        for kind in ("started", "completed", "cancelled")
    }
    reasons = [item.reason for item in said if isinstance(item, HandOver)]
    handed: bool | str = reasons[0] if reasons and isinstance(turn.handoff, str) else bool(reasons)
    heard = " ".join(words)
    wanted_flows = {"started": turn.started, "completed": turn.completed, "cancelled": turn.cancelled}
    flow = next((kind for kind, name in wanted_flows.items() if name is not None and name not in flows[kind]), "")
    state = talk.state
    found = {
        f"the agent said {words}": turn.says is not None and list(turn.says) != words,
        f"the agent said {heard!r}": any(text not in heard for text in turn.contains),
        f"{flow}: {', '.join(map(str, flows.get(flow, []))) or 'nothing'}": bool(flow),
        f"slots are {state.slots}": _differs(turn, talk),
        f"the dialogue waits for {state.waiting_for or 'nothing'}": turn.waiting_for is not None
        and (turn.waiting_for or None) != state.waiting_for,
        f"the dialogue is {state.phase.value}": turn.state is not None and turn.state != state.phase.value,
        f"NLU was called {calls} times": turn.nlu is not None and turn.nlu != bool(calls),
        _told_handoff(reasons): turn.handoff is not None and turn.handoff != handed,
    }
    return next((what for what, is_wrong in found.items() if is_wrong), "")


def _told_handoff(reasons: list[str]) -> str:
    return f"there was a handoff {' '.join(reasons)}".rstrip() if reasons else "there was no handoff"


def _differs(turn: StoryTurn, talk: DialogueSession) -> bool:
    found = talk.state.slots
    return any(found.get(name) != value for name, value in (turn.slots or {}).items())


# -- Files


def read_stories(path: Path) -> StoryFile:
    """Read a story file. Raises InvalidStories, which lists every problem."""
    from .yaml_positions import read_yaml

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidStories(f"{path} can't be read: {getattr(problem, 'strerror', None) or 'not text'}") from None
    notes = ProblemList(str(path))
    plain = read_yaml(text, notes)
    if plain is None:
        raise InvalidStories("\n".join(map(str, notes.problems)))
    problems: list[str] = []
    made = _Reader(path, plain.value, plain.lines, problems).file()
    if problems or made is None:
        raise InvalidStories("\n".join(problems))
    return made


class _Reader:
    """Checks a story file and reports each problem with its line."""

    def __init__(self, path: Path, data: Any, lines: Mapping[Place, int], problems: list[str]) -> None:
        self._path, self._data, self._lines, self._problems = path, data, lines, problems

    def _line_of(self, place: Place) -> int:
        return self._lines.get(place) or (self._line_of(place[:-1]) if place else 1)

    def _wrong(self, place: Place, what: str) -> None:
        self._problems.append(f"{self._path}:{self._line_of(place)}: {what}")

    def _check_keys(self, place: Place, given: Any, known: tuple[str, ...]) -> bool:
        if not isinstance(given, dict):
            self._wrong(place, "expected a mapping, such as `key: value`")
            return False
        for key in given:
            if key not in known:
                self._wrong((*place, key), f"unknown key {key!r}; known: {', '.join(known)}")
        return True

    def file(self) -> StoryFile | None:
        data = self._data
        if not self._check_keys((), data, ("flows", "actions", "today", "stories")):
            return None
        if not isinstance(data.get("flows"), str):
            self._wrong((), "`flows` is missing: expected the name of a flow file")
            return None
        given = data.get("stories")
        if not isinstance(given, list) or not given:
            self._wrong((), "`stories` is missing: expected a list of stories")
            return None
        today = str(data.get("today") or TODAY)
        try:
            today_of(today)
        except ValueError:
            self._wrong(("today",), f"{today!r} isn't a date such as 2026-03-04 or 2026-03-04T17:20")
        stories = [self._story(("stories", at), item) for at, item in enumerate(given)]
        flows = self._path.parent / data["flows"]
        made = tuple(story for story in stories if story is not None)
        return StoryFile(self._path, flows, str(data.get("actions") or ""), today, made)

    def _story(self, place: Place, given: Any) -> Story | None:
        if not self._check_keys(place, given, ("story", "flow", "turns")):
            return None
        turns = given.get("turns")
        if not isinstance(given.get("story"), str) or not isinstance(turns, list) or not turns:
            self._wrong(place, "a story needs a name (`story: …`) and `turns`")
            return None
        made = [self._turn((*place, "turns", at), item) for at, item in enumerate(turns)]
        read = tuple(turn for turn in made if turn is not None)
        return Story(given["story"], self._line_of(place), read, str(given.get("flow") or ""))

    def _turn(self, place: Place, given: Any) -> StoryTurn | None:
        known = tuple(name for name in StoryTurn.__dataclass_fields__ if name != "line")
        if not self._check_keys(place, given, (*known, "silence")):
            return None
        if ("user" in given) == bool(given.get("silence")):
            self._wrong(place, "a turn needs either `user: …` or `silence: true`")
            return None
        fields = {name: value for name, value in given.items() if name in known}
        for name in ("says", "contains"):
            if name in fields:
                fields[name] = tuple(fields[name]) if isinstance(fields[name], list) else (str(fields[name]),)
        if not isinstance(fields.get("slots", {}), dict):
            self._wrong(place, "`slots` must be a mapping from slot to value")
            return None
        if "user" in fields:
            fields["user"] = str(fields["user"])
        return StoryTurn(self._line_of(place), **fields)


def play_file(file: StoryFile, domain: Domain, registry: Registry, nlu: Nlu) -> list[StoryOutcome]:
    """Play all stories of a file, each in a new dialogue."""

    async def every() -> list[StoryOutcome]:
        return [await play(story, domain, registry, nlu, file.today) for story in file.stories]

    return asyncio.run(every())
