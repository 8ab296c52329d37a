"""A telephone desk: keys transfer the caller, put the caller on hold, or ask for a number.

1 or "billing": cold transfer. 2 or "a person": transfer with a briefing. 3 or "wait": hold with music. 4: a PIN by
keys. The stories in this folder play it: `duologue phone --simulate cold_transfer.yaml`.
"""

import asyncio

from duologue import Agent, Phrases, ToolCall
from duologue.ports.context import Context, TransferFailed
from duologue.workers.collect import CollectDigits

DESK = "+4930555222"
MENU = "Press 1 for billing, 2 for a person, 3 to wait, or 4 to enter your PIN."


async def transfer(context: Context) -> str:
    """Pass the caller on to billing."""
    try:
        await context.transfer(DESK, ring_s=20)
    except TransferFailed as failure:
        return f"Billing can't take the call: {failure.outcome}."
    return "The call was passed on."


async def transfer_with_briefing(context: Context) -> str:
    """Tell a colleague what it is about, and connect both."""
    try:
        await context.transfer(DESK, briefing="A caller asks about invoice 17.", ring_s=20)
    except TransferFailed as failure:
        return f"My colleague can't take the call: {failure.outcome}."
    return "The call was passed on."


async def hold(context: Context) -> str:
    """Let the caller wait with music for five seconds."""
    await context.hold()
    await asyncio.sleep(5)
    await context.hold(False)
    return "Thank you for waiting."


async def ask_pin(context: Context) -> str:
    """Ask for a PIN of four keys."""
    pin = await context.run(CollectDigits("Please enter your PIN, and then the hash key.", pause_ms=3_000))
    return "Thank you, that is right." if pin == "4711" else "That is not the right PIN."


CHOICES = {
    "1": ("transfer", "I'm passing you on to billing."),
    "billing": ("transfer", "I'm passing you on to billing."),
    "2": ("transfer_with_briefing", "I'm asking a colleague. One moment."),
    "person": ("transfer_with_briefing", "I'm asking a colleague. One moment."),
    "3": ("hold", "One moment, please."),
    "wait": ("hold", "One moment, please."),
    "4": ("ask_pin", ""),
}


async def reply(request):
    if request.outputs:
        yield request.outputs[-1].output
        return
    words = request.text.lower().strip(" .!?#").split()
    choice = next((CHOICES[word] for word in words if word in CHOICES), None)
    if choice is None:
        yield f"Sorry, that is not a choice. {MENU}"
        return
    tool, words = choice
    if words:
        yield words
    yield ToolCall(tool, {})


agent = Agent(
    reply,
    name="desk",
    tools=[transfer, transfer_with_briefing, hold, ask_pin],
    profile="words",
    phrases=Phrases(greeting=f"Hello, this is the desk. {MENU}"),
)
