"""Explores a machine that is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable

from duologue.dialogue.effects import DialogueEffect
from duologue.dialogue.events import DialogueEvent
from duologue.dialogue.flow import Domain, PerformAction
from duologue.dialogue.state import DialogueState
from duologue.lab.check.core.check import ViolationsMaxReached
from duologue.lab.check.dialogue.alphabet import Alphabet
from duologue.lab.check.dialogue.check import (
    DialogueExplorer,
)
from duologue.lab.check.dialogue.domains import domain, flow

Result = tuple[DialogueState, tuple[DialogueEffect, ...]]
ACTS = Alphabet(domain(flow("acts", PerformAction("ping", "ping"))), meanwhile=(), has_values=False)


class _UntilBroken(DialogueExplorer):
    """An exploration that ends when one law is broken."""

    law = ""

    def report_violation(self, law: str, message: str, number: int, event: DialogueEvent | None = None) -> None:
        super().report_violation(law, message, number, event)
        if law == self.law:
            raise ViolationsMaxReached


def breaks(law: str, scene: Alphabet, stepper: Callable[[Domain, DialogueState, DialogueEvent], Result]) -> bool:
    """Is this law broken? The exploration ends as soon as it is."""
    explorer = _UntilBroken("broken", scene, stepper)
    explorer.law = law
    return any(one.law == law for one in explorer.run(states_max=250).violations)
