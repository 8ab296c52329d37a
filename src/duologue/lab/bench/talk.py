"""Measures how long people wait for an answer: plays recordings to a whole agent whose brain and voice have known
speeds.

The clock is simulated, and the models of the ears take their CPU time. Rule: only the answer ends a wait. The wait is
measured from the end of the person's speech, as labelled in the recording, to the first sound of the answer.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from duologue.core import effects as fx
from duologue.lab.recordings.busy_clock import run_timed
from duologue.lab.recordings.listener import DECISIONS, Decision, Listener, read
from duologue.ports.brain import Part, Request
from duologue.runtime.agent import Agent
from duologue.voice.scripted import ScriptedVoice

EARLY_MS = 150  # a label may be this much later than the end of the voice
ANSWER = "Of course."
SPEEDS = ((350, 150), (700, 250))  # the first token of the brain, then the first sound of the voice, in milliseconds
MODES = ("off", "cautious", "eager")


class Expected(NamedTuple):
    """One recording, and the time when its person has finished speaking. An answer within one of the spans in
    `forbidden` would interrupt the person: a cut-in."""

    id: str
    wav: Path
    end_ms: int
    forbidden: tuple[tuple[int, int], ...]


class Talked(NamedTuple):
    """The result for one recording."""

    wait_ms: int | None  # None: the answer never came
    is_cut_in: bool
    early: int  # requests before the turn was certain to be over


@dataclass(frozen=True)
class TimedBrain:
    """A brain whose first token comes after `first_ms`. It adds every request to `asked`."""

    first_ms: int
    asked: list[int]
    can_guess: ClassVar[bool] = True

    async def reply(self, request: Request) -> AsyncIterator[Part]:
        self.asked.append(request.reply)
        await asyncio.sleep(self.first_ms / 1000)
        yield ANSWER


@dataclass(frozen=True)
class Talker(Listener):
    """An agent that answers the recordings."""

    brain_ms: int = 0
    voice_ms: int = 0
    speculation: str = "cautious"
    asked: list[int] = field(default_factory=list)
    kinds: ClassVar[Mapping[type[fx.Effect], str]] = {
        **DECISIONS,
        fx.StartPlayback: "speaks",
        fx.GuessReply: "asks_early",
    }

    def agent(self, speaks_ms: int) -> Agent:  # noqa: ARG002
        """The agent that answers."""
        return Agent(
            TimedBrain(self.brain_ms, self.asked),
            ears=self.ears,
            voice=ScriptedVoice(first_ms=self.voice_ms),
            profile=self.settings,
            endpoint=self.endpoint,
            speculation=self.speculation,
        )


def read_expected(path: Path) -> list[Expected]:
    """Those recordings of a set in which the agent is silent and an end of turn is expected."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row: Any = json.loads(line) if line.strip() else {}
        ends = [one["at_ms"] for one in row.get("expected", ()) if one["kind"] == "end_of_turn"]
        if ends and not row.get("agent_wav"):
            spans = tuple((one["from_ms"], one["to_ms"]) for one in row["forbidden"] if one["kind"] == "end_of_turn")
            found.append(Expected(row["id"], path.parent / row["wav"], ends[0], spans))
    return found


def judge(expected: Expected, decisions: tuple[Decision, ...]) -> Talked:
    """Read the result for one recording from the agent's decisions: how long the person waited, whether the agent cut
    in, and how many requests were early."""
    speaks = [one.t_ms for one in decisions if one.kind == "speaks"]
    after = [at for at in speaks if at >= expected.end_ms - EARLY_MS]
    return Talked(
        max(0, after[0] - expected.end_ms) if after else None,
        any(first <= at <= last for at in speaks for first, last in expected.forbidden),
        sum(one.kind == "asks_early" for one in decisions),
    )


def measure(
    talker: Talker, recordings: list[Expected], progress: Callable[[], object] = lambda: None
) -> dict[str, Any]:
    """Play these recordings to the talker. Returns statistics of the waits, the cut-ins and the requests."""
    talked = []
    for one in recordings:
        result = run_timed(talker.listen(read(one.wav)))
        talked.append(judge(one, result.decisions))
        progress()
    waits = sorted(one.wait_ms for one in talked if one.wait_ms is not None)
    return {
        "speculation": talker.speculation,
        "brain_ms": talker.brain_ms,
        "voice_ms": talker.voice_ms,
        "recordings": len(talked),
        "wait_ms_p50": _at(waits, 0.5),
        "wait_ms_p90": _at(waits, 0.9),
        "wait_ms_mean": round(statistics.mean(waits)) if waits else None,
        "unanswered": sum(one.wait_ms is None for one in talked),
        "cut_in_pct": round(100 * sum(one.is_cut_in for one in talked) / len(talked), 1),
        "requests_per_turn": round(len(talker.asked) / len(talked), 2),
        "early": sum(one.early for one in talked),
    }


def _at(values: list[int], share: float) -> int | None:
    return values[min(len(values) - 1, round(share * (len(values) - 1)))] if values else None


def report(results: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of the table, one for each mode and speed."""
    return [
        (
            f"{one['brain_ms']} + {one['voice_ms']} ms",
            one["speculation"],
            f"{one['wait_ms_p50']} ms",
            f"{one['wait_ms_p90']} ms",
            f"{one['cut_in_pct']} %",
            f"{one['requests_per_turn']}",
            str(one["unanswered"]),
        )
        for one in results
    ]
