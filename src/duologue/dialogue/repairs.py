"""Repairs: flows for occasions that can come up in every flow, written by the author of a flow file. The occasions are
a reply that wasn't understood, silence, a cancellation, a request for help or for a person, and a correction.

A repair runs on top of the open flow. If the user wanted a cancellation or a handover, it takes place when the repair
has ended, unless the repair ends with `end` or with a no to its confirmation. After a repair for any other occasion,
the agent asks the open question again. Rule: a repair is never interrupted by another repair, and the failed attempts
at the open question stay counted.
"""

from __future__ import annotations

from .draft import DialogueDraft
from .flow import Collect
from .prompts import has_failed_too_often
from .records import changed
from .run_flow import open_flow
from .stack import keep_slots
from .state import Filled, Slots

NO_MATCH, NO_INPUT, CANCEL, HELP, HANDOFF, CORRECTION = (
    "no_match",
    "no_input",
    "cancel",
    "help",
    "handoff",
    "correction",
)


def leave_for_question(d: DialogueDraft) -> bool:
    """Leave the open repair and return True, so that the reply can answer the question that the repair interrupted.
    Call this if the reply doesn't answer the repair's own question. Change nothing and return False if the open flow
    isn't a repair that can be left, or if the interrupted question wasn't for a slot."""
    if len(d.s.stack) < 2 or d.top.repairs not in (NO_MATCH, NO_INPUT, HELP):
        return False
    ended, below = d.top, d.s.stack[-2]
    at = d.domain.flows[below.flow].program[below.at]
    if not isinstance(at, Collect) or below.filled(at.slot) is not None:
        return False
    keep_slots(d, ended)
    misses, silences, tries = ended.counts
    d.set(stack=d.s.stack[:-1], waiting_for=at.slot, last_question="", unproposed=False)
    d.set(misses=misses, silences=silences, tries=tries)
    d.question = (below.id, below.at, at.slot)
    d.note("repair_left", flow=ended.flow)
    return True


def open_repair(d: DialogueDraft, occasion: str, **given: str) -> bool:
    """Open the repair flow for this occasion and return True. If there is no such flow, or if it can't be opened now,
    return False; the caller then says the built-in text. `given` holds values for the gaps in the texts of the repair
    flow."""
    flow = d.domain.repairs.get(occasion)
    if flow is None or d.s.reading_back or d.s.among or d.s.values:
        return False
    if any(one.repairs or one.flow == flow for one in d.s.stack):
        return False
    if d.s.stack and has_failed_too_often(d, d.s.waiting_for):
        return False
    counts = (d.s.misses, d.s.silences, d.s.tries)
    held: Slots = d.s.stack[-1].slots if d.s.stack else ()
    told = tuple((name, changed(filled, {"source": "flow", "confirmed": False})) for name, filled in held)
    asked = frozenset(d.domain.flows[flow].slots)
    slots = (
        *((name, one) for name, one in told if name not in asked),
        *((name, Filled(text)) for name, text in given.items()),
    )
    if open_flow(d, flow, slots, called=bool(d.s.stack)):
        d.set_top(repairs=occasion, counts=counts)
    return True
