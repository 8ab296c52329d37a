"""A desk whose numbers for transfers are wrong: the caller hears the agent again, and the log names what to check.

1: the carrier refuses the number. 2: the number can't be dialled, because its country code is missing.
"""

from duologue import Agent, NotPossible, Phrases, ToolCall, TransferFailed
from duologue.ports.context import Context

NUMBERS = {"1": "+4930999999", "2": "030 555"}


async def transfer(context: Context, key: str) -> str:
    """Pass the caller on, with a briefing."""
    try:
        await context.transfer(NUMBERS[key], briefing="A caller asks about invoice 17.")
    except (TransferFailed, NotPossible):
        return "I can't pass you on right now. Can I help you myself?"
    return "The call was passed on."


async def reply(request):
    if request.outputs:
        yield request.outputs[-1].output
    elif (key := request.text.strip(" .#")) in NUMBERS:
        yield "One moment, please."
        yield ToolCall("transfer", {"key": key})
    else:
        yield "Press 1 or 2."


agent = Agent(
    reply, name="desk", tools=[transfer], profile="words", phrases=Phrases(greeting="Hello. Press 1 or 2 for a colleague.")
)
