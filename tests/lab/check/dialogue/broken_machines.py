"""Explores a machine that is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable

from duologue.dialogue.effects import DialogueEffect
from duologue.dialogue.events import DialogueEvent
from duologue.dialogue.flow import Domain, PerformAction
from duologue.dialogue.state import DialogueState
from duologue.lab.check.dialogue.alphabet import Alphabet
from duologue.lab.check.dialogue.check import (
    DialogueExplorer,
)
from duologue.lab.check.dialogue.domains import domain, flow

Result = tuple[DialogueState, tuple[DialogueEffect, ...]]
ACTS = Alphabet(domain(flow("acts", PerformAction("ping", "ping"))), meanwhile=(), has_values=False)


def laws_broken(scene: Alphabet, stepper: Callable[[Domain, DialogueState, DialogueEvent], Result]) -> set[str]:
    found = DialogueExplorer("broken", scene, stepper).run(states_max=250)
    return {one.law for one in found.violations}
