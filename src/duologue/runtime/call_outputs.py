"""What goes back to the brain for each way a call can end (L-07, L-11, L-18).

Rule: the output is text that a model can act on; a failure says so in an `error` field.
"""

from __future__ import annotations

import json

from duologue.core.leaves import Outcome
from duologue.workers.results import shorten

RESULT_CHARS_MAX = 4_000


def cut(text: str) -> str:
    """A result that is too long, cut between words, with a notice of how long it was."""
    return shorten(text, RESULT_CHARS_MAX, f" [… cut off: the result had {len(text)} characters]")


def output_of(outcome: Outcome, call: int, result: str, partial: str, error: str, question: str) -> str:
    """The one output of a call."""
    match outcome:
        case Outcome.DONE:
            return result
        case Outcome.FAILED:
            return _json(error=error or "Tool failed")
        case Outcome.TIMED_OUT:
            late = "The work did not end in time and was stopped."
            return _json(error=late, partial_result=partial) if partial else _json(error=late)
        case Outcome.CANCELLED:
            return _json(status="cancelled", partial_result=partial) if partial else _json(status="cancelled")
        case Outcome.REFUSED:
            return _json(error="Too many jobs run at once. Wait for one to end, or cancel one.")
        case Outcome.STARTED:
            return _json(status="started", job=call, note="It goes on; its result will be told later.")
        case Outcome.NEEDS_INPUT:
            return _json(status="needs_input", job=call, question=question)
    raise AssertionError(outcome)


def _json(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)
