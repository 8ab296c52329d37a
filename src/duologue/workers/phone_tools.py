"""Tools with which a brain acts on a telephone call: `tools=[transfer_to(billing="+4930123456"), press_keys]`.

Rule: the program gives a name to each telephone number, and the brain chooses one of the names. The brain never sees a
number, and can't make one up.
"""

from __future__ import annotations

from typing import Any

from duologue.core.leaves import ErrorClass
from duologue.ports.context import NotPossible, TransferFailed
from duologue.ports.failure import ServiceError
from duologue.ports.worker import Job, Mode, Tool

from .function_tools import tool


class TransferTool:
    """The tool that `transfer_to` returns. The brain chooses one of the telephone numbers by its name."""

    def __init__(self, numbers: dict[str, str], with_briefing: bool) -> None:
        self._numbers = numbers
        self._with_briefing = with_briefing
        names = list(numbers)
        properties: dict[str, Any] = {"to": {"type": "string", "enum": names}}
        how = "The caller is connected as soon as your words were heard."
        if with_briefing:
            properties["briefing"] = {"type": "string", "description": "What the person who takes over must know."}
            how = "The caller waits with music while the person hears the briefing. If no one takes over, you go on."
        self._tool = Tool(
            "transfer",
            f"Pass this telephone call on to: {', '.join(names)}. Say first that you do. {how}",
            {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False},
            mode=Mode.DELEGATE,
        )

    @property
    def tool(self) -> Tool:
        return self._tool

    async def run(self, arguments: dict[str, Any], job: Job) -> object:
        name, briefing = arguments.get("to"), str(arguments.get("briefing", ""))
        if name not in self._numbers or job.context is None:
            raise ServiceError(ErrorClass.INVALID_ARGS, f"`to` must be one of {', '.join(self._numbers)}")
        if self._with_briefing and not briefing.strip():
            raise ServiceError(
                ErrorClass.INVALID_ARGS, "`briefing` is empty: write what the person who answers has to know"
            )
        try:
            await job.context.transfer(self._numbers[str(name)], briefing=briefing)
        except TransferFailed as failure:
            return f"not transferred, {failure.outcome}: {failure}. Tell the caller, and offer something else."
        except NotPossible as refusal:
            return f"not transferred: {refusal}"
        return f"transferred to {name}"


def transfer_to(*, briefing: bool = False, **numbers: str) -> TransferTool:
    """A tool that transfers the telephone call to one of these numbers: `transfer_to(billing="+4930123456")`. With
    `briefing`, the brain also writes a text. It is read to the person who answers, before that person takes over."""
    if not numbers:
        raise TypeError("transfer_to needs at least one number with a name: transfer_to(billing='+4930123456')")
    return TransferTool(numbers, briefing)


@tool
async def press_keys(keys: str, job: Job) -> str:
    """Press keys of the telephone, such as in a menu that says "press 1 for sales". `keys` are 0 to 9, * and #; w is a
    short pause."""
    if job.context is None:
        return "there is no call"
    try:
        await job.context.send_digits(keys)
    except NotPossible as refusal:
        return f"not pressed: {refusal}"
    return "pressed"
