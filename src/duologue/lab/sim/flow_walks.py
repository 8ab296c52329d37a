"""Lets many random callers talk to the flows of a domain, and finds broken laws and steps that are never reached.

Uses the same callers, workers and laws as the tests of the dialogue machine itself. Rule: a seed reproduces every
finding, and every broken law comes with the shortest dialogue that broke it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from duologue.dialogue.flow import CallFlow, Collect, Confirm, Domain, PerformAction
from duologue.lab.check.dialogue.alphabet import alphabet_of

from .random_dialogues import Dialogue, random_dialogue

PROGRESS_EVERY = 20


@dataclass(slots=True)
class Broken:
    """A broken law, with the shortest dialogue that broke it."""

    law: str
    message: str
    seed: int
    dialogue: list[str]
    times: int = 1


@dataclass(slots=True)
class Walks:
    """The results of all dialogues."""

    dialogues: int = 0
    events: int = 0
    actions: int = 0
    completed: int = 0
    seconds: float = 0.0
    reached: dict[str, list[str]] = field(default_factory=dict)  # by flow: the steps where a dialogue waited
    unreached: dict[str, list[str]] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)


def walk_flows(
    domain: Domain,
    dialogues: int = 1_000,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,  # noqa: ARG005
) -> Walks:
    """Play this many dialogues, and check the laws after every event. The first dialogue has the seed `seed`, the next
    `seed + 1`, and so on."""
    began = time.process_time()
    found, alphabet = Walks(), alphabet_of(domain)
    reached: set[tuple[str, str]] = set()
    for number in range(dialogues):
        played = random_dialogue(domain, seed + number, alphabet=alphabet)
        reached |= played.reached
        found.dialogues += 1
        found.events += len(played.events)
        found.actions += played.actions
        found.completed += played.completed
        _note_broken(found, played)
        if number % PROGRESS_EVERY == 0:
            progress(number)
    for flow in domain.flows.values():
        waits = dict.fromkeys(
            at.step for at in flow.program if isinstance(at, PerformAction | CallFlow | Collect | Confirm)
        )
        found.reached[flow.name] = [step for step in waits if (flow.name, step) in reached]
        found.unreached[flow.name] = [step for step in waits if (flow.name, step) not in reached]
    found.seconds = time.process_time() - began
    return found


def _note_broken(found: Walks, played: Dialogue) -> None:
    for law, message, _ in played.complaints:
        lines = played.described(law)
        known = next((one for one in found.broken if (one.law, one.message) == (law, message)), None)
        if known is None:
            found.broken.append(Broken(law, message, played.seed, lines))
            continue
        known.times += 1
        if len(lines) < len(known.dialogue):
            known.seed, known.dialogue = played.seed, lines
