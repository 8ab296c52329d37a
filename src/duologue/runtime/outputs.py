"""What goes back to the brain for each way a call can end (L-07, L-11, L-18).

Rule: the output is text that a model can act on; a failure says so in an `error` field.
"""

from __future__ import annotations

import dataclasses
import json

from duologue.core.leaves import Outcome

RESULT_CHARS_MAX = 4_000
NOTICE = " […] (cut off: the result had {chars} characters)"


def result_text(result: object) -> str:
    """A worker's result as text: text as it is, everything else as JSON where that can be."""
    if isinstance(result, str):
        return result
    if result is None:
        return "done"
    return json.dumps(_plain(result), ensure_ascii=False, default=str)


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else value


def cut(text: str, chars_max: int = RESULT_CHARS_MAX) -> str:
    """A text that is too long, cut between words, with a notice of how long it was."""
    if len(text) <= chars_max:
        return text
    notice = NOTICE.format(chars=len(text))
    room = chars_max - len(notice)
    head = text[:room].rsplit(" ", 1)[0] if " " in text[room // 2 : room] else text[:room]
    return head + notice


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
