"""The views: names for the state of a conversation, taken from the vocabularies of other systems. The names are
computed from the state and never stored.

A view gives every state of the machine a name from one vocabulary. Rule: every step of the machine either keeps the
name or changes it in a way that the vocabulary's own table or one of our amendments to the table allows. The model
checker (`duologue.lab.check`) verifies this.
"""

from __future__ import annotations

from .conversation import CONVERSATION
from .lifecycle import LIFECYCLE
from .orchestrator import ORCHESTRATOR
from .phase import PHASE, PHASES, phase_of
from .phone import PHONE
from .view import Amendment, Impossible, View

VIEWS: dict[str, View] = {view.name: view for view in (LIFECYCLE, CONVERSATION, ORCHESTRATOR, PHONE)}
"""The views that come from specifications, which the model checker verifies."""
EVERY_VIEW: dict[str, View] = {PHASE.name: PHASE, **VIEWS}
"""Every vocabulary for the state of a conversation, the phases first."""

__all__ = [
    "CONVERSATION",
    "EVERY_VIEW",
    "LIFECYCLE",
    "ORCHESTRATOR",
    "PHASE",
    "PHASES",
    "PHONE",
    "VIEWS",
    "Amendment",
    "Impossible",
    "View",
    "phase_of",
]
