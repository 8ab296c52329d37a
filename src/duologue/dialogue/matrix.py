"""Which phase may follow which (D-12).

The moves of the source, and those that it lacks, each with the reason. Rule: a test compares what the explorer
saw with this table, both ways.
"""

from __future__ import annotations

from .state import Phase

P = Phase

SOURCE: tuple[tuple[Phase, Phase], ...] = (
    (P.IDLE, P.UNDERSTANDING),
    (P.UNDERSTANDING, P.WAITING_FOR_SLOT),
    (P.UNDERSTANDING, P.EXECUTING_ACTION),
    (P.UNDERSTANDING, P.IDLE),
    (P.WAITING_FOR_SLOT, P.VALIDATING_SLOT),
    (P.WAITING_FOR_SLOT, P.UNDERSTANDING),
    (P.VALIDATING_SLOT, P.WAITING_FOR_SLOT),
    (P.VALIDATING_SLOT, P.UNDERSTANDING),
    (P.VALIDATING_SLOT, P.EXECUTING_ACTION),
    (P.EXECUTING_ACTION, P.COMPLETED),
    (P.EXECUTING_ACTION, P.WAITING_FOR_SLOT),
    (P.EXECUTING_ACTION, P.CONFIRMING),
    (P.CONFIRMING, P.EXECUTING_ACTION),
    (P.CONFIRMING, P.COMPLETED),
    (P.CONFIRMING, P.UNDERSTANDING),
    (P.COMPLETED, P.IDLE),
    (P.ERROR, P.UNDERSTANDING),
    (P.ERROR, P.IDLE),
    *((phase, P.ERROR) for phase in P if phase is not P.ERROR),
)

AMENDED: dict[tuple[Phase, Phase], str] = {
    (P.UNDERSTANDING, P.VALIDATING_SLOT): "a message that starts a flow may bring values, and those are checked too",
    (P.UNDERSTANDING, P.CONFIRMING): "after a correction, a question or a digression the confirmation is asked again",
    (P.UNDERSTANDING, P.COMPLETED): "a flow may consist of words alone, and one may be cancelled",
    (P.VALIDATING_SLOT, P.CONFIRMING): "the last slot may be followed by a confirmation",
    (P.VALIDATING_SLOT, P.COMPLETED): "the last slot may be the end of a flow",
    (P.CONFIRMING, P.WAITING_FOR_SLOT): "a no may lead to another question",
    (P.COMPLETED, P.WAITING_FOR_SLOT): "a digression returns to the open question",
    (P.COMPLETED, P.CONFIRMING): "a digression returns to the open confirmation",
    (P.COMPLETED, P.EXECUTING_ACTION): "a called flow returns to an action",
    (P.WAITING_FOR_SLOT, P.COMPLETED): "a question that nobody answers is given up",
    (P.IDLE, P.WAITING_FOR_SLOT): "the program may start a flow",
    (P.IDLE, P.VALIDATING_SLOT): "the program may start a flow with values, and those are checked too",
    (P.IDLE, P.EXECUTING_ACTION): "the program may start a flow that acts at once",
    (P.IDLE, P.CONFIRMING): "the program may start a flow that asks for a yes at once",
    (P.IDLE, P.COMPLETED): "the program may start a flow of words alone",
    (P.ERROR, P.WAITING_FOR_SLOT): "a retry returns to where it was (D-11)",
    (P.ERROR, P.VALIDATING_SLOT): "a retry checks the value again",
    (P.ERROR, P.EXECUTING_ACTION): "a retry runs the action again, with the same key",
    (P.ERROR, P.CONFIRMING): "a retry asks for the yes again",
    (P.ERROR, P.COMPLETED): "a flow may be cancelled in an error",
}

MATRIX = frozenset((*SOURCE, *AMENDED))
