"""The state machine of a telephone call: `step(policy, state, input) -> (state, effects)`.

Pure: no clock, no await, no network. Rule: if no row of the table fits an input, or if the input answers an older
request, `step` returns the same state and no effects.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from . import inputs as on
from .effects import CallEffect
from .rows import CALL_ROWS, CallDone, CallRow
from .state import CallPolicy, CallStage, CallState


class CallMachine:
    """The rows of the call's table (the module `rows`), indexed by stage and type of input."""

    def __init__(self, rows: Iterable[CallRow] = CALL_ROWS) -> None:
        self._table: dict[tuple[CallStage, type], list[CallRow]] = {}
        for row in rows:
            for source in row.sources:
                self._table.setdefault((source, row.on), []).append(row)

    def row_for(self, policy: CallPolicy, state: CallState, given: on.CallInput) -> CallRow | None:
        """The first row that fits the state and the input. None if no row fits, or if the input answers an older
        request."""
        if _is_stale(state, given):
            return None
        for row in self._table.get((state.stage, type(given)), ()):
            if row.when is None or row.when(policy, state, given):
                return row
        return None

    def step(self, policy: CallPolicy, state: CallState, given: on.CallInput) -> CallDone:
        """Return the state after this input, and the effects to carry out now, in order."""
        row = self.row_for(policy, state, given)
        if row is None:
            return state, ()
        after, effects = state, list[CallEffect]()
        for action in row.do:
            after, more = action(after, given)
            effects += more
        begins = after.since if row.counts_since else given.at
        due = begins + int(getattr(policy, row.limit)) if row.limit else 0
        return replace(after, stage=row.target, due=due), tuple(effects)


def _is_stale(state: CallState, given: on.CallInput) -> bool:
    match given:
        case on.CarrierAgreed() | on.CarrierRefused():
            return given.request != state.request
        case on.TakerAnswered() | on.TakerAccepted() | on.TakerLost():
            return not state.taker or given.taker != state.taker
        case on.DeadlineReached():
            return not state.due or given.at < state.due
    return False


MACHINE = CallMachine()
step = MACHINE.step
