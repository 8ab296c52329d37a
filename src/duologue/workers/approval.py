"""Asks the user before a tool runs: `@tool(confirm="Shall I send {amount} euros to {to}?")`.

Only the user can answer the question, never the model. A yes counts only if the user has heard or read the question.
Rule: without a clear yes, the tool doesn't run, and the model is told why.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from string import Formatter
from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, ServiceError

# Added to the description of the tool, so that the model doesn't ask the same question.
FOR_THE_MODEL = "The user is asked to confirm before this runs: call it without asking for a confirmation."
ASKED_CHARS_MAX = 500  # a longer question can't be remembered by a user who only hears it


def check_question(question: str, parameters: Collection[str], tool: str) -> None:
    """Raise TypeError if this question can't be asked: it is empty, or has a field that isn't a parameter of the
    tool."""
    if not question.strip():
        raise TypeError(f"`confirm` of the tool {tool} is empty: write a question that is answered with yes or no")
    try:
        fields = _fields(question)
    except ValueError as problem:
        raise TypeError(
            f"`confirm` of the tool {tool} isn't a valid text with fields: {problem}; write {{{{ for a brace"
        ) from None
    if unknown := sorted(fields - set(parameters)):
        known = ", ".join(parameters) or "none"
        raise TypeError(
            f"`confirm` of the tool {tool} has the field {unknown[0]!r}, but the tool's parameters are: {known}"
        )


async def refusal(question: str, arguments: Mapping[str, Any], job: Job) -> str | None:
    """Ask the user this question, filled in with the arguments. Returns None after a yes. Otherwise returns a text that
    tells the model that the tool did not run, and why."""
    from .collect import CollectConfirmation, NotCollected  # late: a tool without `confirm` needs no language packs

    if job.context is None:
        raise ServiceError(ErrorClass.TOOL_ERROR, "this tool asks the user first, so it runs only in a conversation")
    asked = _asked(question, arguments)
    try:
        agreed = await job.context.run(CollectConfirmation(asked))
    except NotCollected as failure:
        return f"The tool did not run: the user was asked {asked!r}, but {failure}."
    return None if agreed else f"The tool did not run: the user was asked {asked!r} and said no."


def _fields(question: str) -> set[str]:
    """The names of the fields in this question, including those in format specifications, such as
    `{amount:{width}}`."""
    names: set[str] = set()
    for _, name, specification, _ in Formatter().parse(question):
        if name is not None:
            names |= {name} | _fields(specification or "")
    return names


def _asked(question: str, arguments: Mapping[str, Any]) -> str:
    """The question with the arguments filled in, in one line. Raises ServiceError if an argument doesn't fit the format
    that the question gives for it, or if the question is too long to be said."""
    try:
        asked = " ".join(question.format(**arguments).split())
    except (TypeError, ValueError) as problem:  # a format such as `{amount:.2f}` doesn't fit the value
        raise ServiceError(
            ErrorClass.TOOL_ERROR, f"the arguments don't fit the question in `confirm`: {problem}"
        ) from None
    if len(asked) > ASKED_CHARS_MAX:
        line = "the user must confirm these arguments, but they are too long to be said: shorten them to"
        raise ServiceError(ErrorClass.INVALID_ARGS, f"{line} {ASKED_CHARS_MAX} characters in all")
    return asked
