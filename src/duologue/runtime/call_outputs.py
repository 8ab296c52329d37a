"""The text that the brain gets as the output of a tool call, for each outcome of the tool call.

Rule: the output is text that a model can act on. The output of a failed tool call is JSON with an `error` field.
"""

from __future__ import annotations

import json

from duologue.core.leaves import Outcome
from duologue.workers.results import shorten

RESULT_CHARS_MAX = 4_000


def cut(text: str) -> str:
    """Shorten a text that has more than RESULT_CHARS_MAX characters. It is cut between words, and a notice at its end
    says how long the whole text was."""
    return shorten(text, RESULT_CHARS_MAX, f" [… cut off: the result had {len(text)} characters]")


def output_of(outcome: Outcome, call: int, result: str, partial: str, error: str, question: str) -> str:
    """The text that the brain gets for a tool call with this outcome."""
    match outcome:
        case Outcome.DONE:
            return result
        case Outcome.FAILED:
            return _json(error=error or "Tool failed")
        case Outcome.TIMED_OUT:
            late = "The tool did not finish in time and was stopped."
            return _json(error=late, partial_result=partial) if partial else _json(error=late)
        case Outcome.CANCELLED:
            return _json(status="cancelled", partial_result=partial) if partial else _json(status="cancelled")
        case Outcome.REFUSED:
            return _json(error="Too many jobs are running. Wait for one to end, or cancel one.")
        case Outcome.STARTED:
            return _json(status="started", job=call, note="The job is running; its result will arrive later.")
        case Outcome.NEEDS_INPUT:
            return _json(status="needs_input", job=call, question=question)
    raise AssertionError(outcome)


def _json(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False)
