"""The table of phase changes: which phase may follow which.

SOURCE holds the phase changes of the original specification. AMENDED holds the changes that were added later, each with
its reason. Rule: every phase change that happens is in one of the two tables. A test runs many dialogues to check this.
It also checks that every change in the tables really happens, except for a few in SOURCE that are impossible.
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
    (P.UNDERSTANDING, P.COMPLETED): "a flow may end at once: it only says something, or it is cancelled",
    (P.VALIDATING_SLOT, P.CONFIRMING): "the last slot may be followed by a confirmation",
    (P.VALIDATING_SLOT, P.COMPLETED): "the last slot may be the end of a flow",
    (P.CONFIRMING, P.WAITING_FOR_SLOT): "a no may lead to another question",
    (P.COMPLETED, P.WAITING_FOR_SLOT): "a digression returns to the open question",
    (P.COMPLETED, P.CONFIRMING): "a digression returns to the open confirmation",
    (P.COMPLETED, P.EXECUTING_ACTION): "a called flow returns to an action",
    (P.COMPLETED, P.UNDERSTANDING): "a called flow returns to a step that searches the FAQ",
    (P.EXECUTING_ACTION, P.UNDERSTANDING): "after an action, the next step may search the FAQ",
    (P.COMPLETED, P.VALIDATING_SLOT): "after an item of a list, the values of the next one are checked",
    (P.WAITING_FOR_SLOT, P.COMPLETED): "a question that the user doesn't answer is given up",
    (P.IDLE, P.WAITING_FOR_SLOT): "the program may start a flow",
    (P.IDLE, P.VALIDATING_SLOT): "the program may start a flow with values, and those are checked too",
    (P.IDLE, P.EXECUTING_ACTION): "the program may start a flow that begins with an action",
    (P.IDLE, P.CONFIRMING): "the program may start a flow that begins with a confirmation",
    (P.IDLE, P.COMPLETED): "the program may start a flow that only says something",
    (P.ERROR, P.WAITING_FOR_SLOT): "a retry returns to the open question",
    (P.ERROR, P.VALIDATING_SLOT): "a retry checks the value again",
    (P.ERROR, P.EXECUTING_ACTION): "a retry runs the action again, with the same key",
    (P.ERROR, P.CONFIRMING): "a retry asks for the confirmation again",
    (P.ERROR, P.COMPLETED): "a flow may be cancelled in an error",
}

MATRIX = frozenset((*SOURCE, *AMENDED))
