"""Measures how much sooner turns end if the brain judges how complete the text of a turn is. The callers are synthetic
voices.

Callers answer an open question of a flow, name a flow to start it, or pause in the middle of a sentence and go on.
Rule: the same sound is heard two times in simulated time: with the brain's judgement of the text, and without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from duologue.audio.frames import Samples, to_samples
from duologue.audio.resample import resample
from duologue.core.settings import with_changes
from duologue.dialogue.completeness import completeness
from duologue.dialogue.events import FlowRequested
from duologue.dialogue.flow import Domain
from duologue.dialogue.machine import guarded_step
from duologue.dialogue.state import DialogueState
from duologue.lab.recordings.busy_clock import run_timed
from duologue.lab.recordings.listener import RATE_HZ, Listener, ListenResult
from duologue.ports.brain import Part, Request, Show
from duologue.ports.history import UserSaid
from duologue.ports.voice import Voice
from duologue.runtime.agent import Agent
from duologue.turns.completeness import Completeness
from duologue.turns.completion import BRAIN_NAMES

TODAY = "2026-03-04"
LEAD_MS = 300  # of silence before the caller speaks
QUIET = 0.01  # of the loudest sample: what is below it isn't speech
UNDERSTOOD = BRAIN_NAMES[Completeness.COMPLETE]  # the reason of an end that the brain has brought forward
VOICES = ("pico", "en-us", "en-gb-scotland", "en-029")  # SVOX Pico, and voices of espeak-ng
ANSWERS = ("Boston", "from New York", "Los Angeles, please", "I'd like to fly from Denver", "Chicago", "San Francisco")
REQUESTS = ("I want to book a flight", "book me a flight", "I'd like a plane ticket", "cancel", "say that again")
# The caller stops after the first part for this long, and goes on with the second.
HOLDS = (
    ("I would like to fly to", 1_400, "Boston"),
    ("I want to fly from", 1_200, "New York to Denver"),
    ("can you find me a flight to", 800, "San Francisco"),
    ("from Boston to", 1_300, "Los Angeles"),
    ("I'd like to book a", 700, "flight"),
    ("I want to go from Chicago to the", 900, "city of Denver"),
)


class SyntheticTurn(NamedTuple):
    """What a caller says: the sound, the time when the voice ends, and the start and end of a pause within the
    sound."""

    voice: str
    kind: str  # answer, request or hold
    samples: Samples
    end_ms: int
    pause: tuple[int, int] | None = None


class UnderstoodTurns(NamedTuple):
    """What was measured, with or without the brain's judgement of the text."""

    judges: bool
    waits_ms: list[int]  # after answers and requests
    understood_ms: list[int]  # of the turns that the brain has understood
    texts: list[str]  # the texts of the turns that it hasn't understood
    cut_ins: int
    pauses: int
    missed: int


@dataclass(frozen=True)
class QuietBrain:
    """A brain that only shows its answers on the screen."""

    async def reply(self, request: Request) -> AsyncIterator[Part]:  # noqa: ARG002
        yield Show("-")


@dataclass(frozen=True)
class KnowingBrain(QuietBrain):
    """A quiet brain that also judges how complete a text is. It knows the domain and the state of its dialogue."""

    domain: Domain
    state: DialogueState

    def completeness(self, conversation: str, said: tuple[UserSaid, ...]) -> Completeness:  # noqa: ARG002
        """How complete these turns are, as the dialogue judges them."""
        text = " ".join(one.text for one in said)
        return Completeness(completeness(self.domain, self.state, text, TODAY))


@dataclass(frozen=True)
class KnowingListener(Listener):
    """A listener whose agent has a `KnowingBrain`."""

    brain: QuietBrain = QuietBrain()

    def agent(self, speaks_ms: int) -> Agent:  # noqa: ARG002
        """The agent that listens."""
        settings = with_changes(self.settings, greets=False, dead_air_ms=0)
        return Agent(self.brain, ears=self.ears, profile=settings, endpoint=self.endpoint)


async def _render(voice: Voice, text: str) -> Samples:
    sounds = [sound async for sound in voice.speak(text)]
    samples = resample(to_samples(b"".join(one.pcm for one in sounds)), sounds[0].rate_hz, RATE_HZ)
    loud = np.flatnonzero(np.abs(samples) > QUIET * np.abs(samples).max())
    return samples[loud[0] : loud[-1] + 1]


def _silence(ms: int) -> Samples:
    return np.zeros(ms * RATE_HZ // 1000, np.float32)


def _ms(samples: Samples) -> int:
    return samples.size * 1000 // RATE_HZ


def speak(voices: dict[str, Voice]) -> list[SyntheticTurn]:
    """Synthesise everything that the callers say, in each voice."""
    return [one for name, voice in voices.items() for one in asyncio.run(_speak(name, voice))]


async def _speak(name: str, voice: Voice) -> list[SyntheticTurn]:
    said = []
    for kind, texts in (("answer", ANSWERS), ("request", REQUESTS)):
        for text in texts:
            samples = np.concatenate((_silence(LEAD_MS), await _render(voice, text)))
            said.append(SyntheticTurn(name, kind, samples, _ms(samples)))
    for first, pause_ms, rest in HOLDS:
        begun = np.concatenate((_silence(LEAD_MS), await _render(voice, first)))
        whole = np.concatenate((begun, _silence(pause_ms), await _render(voice, rest)))
        said.append(SyntheticTurn(name, "hold", whole, _ms(whole), (_ms(begun), _ms(begun) + pause_ms)))
    return said


def measure(
    listener: Listener,
    domain: Domain,
    flow: str,
    spoken: list[SyntheticTurn],
    judges: bool,
    progress: Callable[[], object] = lambda: None,
) -> UnderstoodTurns:
    """Let the ears hear everything, with or without the brain's judgement of the text."""
    found = UnderstoodTurns(judges, [], [], [], 0, 0, 0)
    asking, _ = guarded_step(domain, DialogueState(), FlowRequested(flow, 0))
    for one in spoken:
        state = asking if one.kind == "answer" else DialogueState()
        brain = KnowingBrain(domain, state) if judges else QuietBrain()
        hearing = KnowingListener(listener.ears, listener.endpoint, listener.settings, brain)
        found = judge(found, one, run_timed(hearing.listen(one.samples)))
        progress()
    return found


def judge(found: UnderstoodTurns, one: SyntheticTurn, heard: ListenResult) -> UnderstoodTurns:
    """Record in `found` when the ears ended this turn and whether they cut in. Returns the updated `found`."""
    ends = [decision for decision in heard.decisions if decision.kind == "end_of_turn"]
    if one.pause is not None:
        is_cut_in = any(one.pause[0] <= end.t_ms <= one.pause[1] for end in ends)
        return found._replace(cut_ins=found.cut_ins + is_cut_in, pauses=found.pauses + 1)
    end = next((end for end in ends if end.t_ms >= one.end_ms), None)
    if end is None:
        return found._replace(missed=found.missed + 1)
    found.waits_ms.append(end.t_ms - one.end_ms)
    if any(reason.startswith(UNDERSTOOD) for reason in end.reasons):
        found.understood_ms.append(end.t_ms - one.end_ms)
    else:
        found.texts.extend(said.text for said in heard.turns)
    return found


def to_json(found: UnderstoodTurns) -> dict[str, Any]:
    """The measured values, ready for JSON."""
    return {
        "brain_judges": found.judges,
        "turns": len(found.waits_ms),
        "wait_ms_p50": _at(found.waits_ms, 0.5),
        "wait_ms_p90": _at(found.waits_ms, 0.9),
        "understood": len(found.understood_ms),
        "understood_ms_p50": _at(found.understood_ms, 0.5),
        "understood_ms_p90": _at(found.understood_ms, 0.9),
        "cut_ins": found.cut_ins,
        "pauses": found.pauses,
        "missed": found.missed,
    }


def _at(values: list[int], share: float) -> int | None:
    values = sorted(values)
    return values[min(len(values) - 1, round(share * (len(values) - 1)))] if values else None


def report(results: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """The rows of the table, one for each run."""
    return [
        (
            "how complete" if one["brain_judges"] else "nothing",
            str(one["turns"]),
            f"{one['wait_ms_p50']} ms",
            f"{one['wait_ms_p90']} ms",
            str(one["understood"]),
            _ms_of(one["understood_ms_p50"]),
            _ms_of(one["understood_ms_p90"]),
            f"{one['cut_ins']} of {one['pauses']}",
        )
        for one in results
    ]


def _ms_of(wait_ms: int | None) -> str:
    return "-" if wait_ms is None else f"{wait_ms} ms"
