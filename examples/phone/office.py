"""An office that knows who calls and why, is recorded, and reaches its colleagues through its own PBX by SIP.

The greeting uses the caller's number and the parameter `campaign` of the webhook's address. 1 records the call. 2 asks
for a card number, which isn't recorded. 3 transfers the caller to a SIP address. The stories `inbound_parameters`,
`recording_control` and `sip_transfer` play it.
"""

from duologue import Agent, ToolCall, TransferFailed, profile
from duologue.ports.context import Context
from duologue.workers.collect import CollectDigits

BILLING = "sip:billing@pbx.example.com"
CUSTOMERS = {"+4930555001": "Ann"}
MENU = "Press 1 to record this call, 2 to pay by card, or 3 for billing."


async def record(context: Context) -> str:
    """Let the carrier record the call."""
    await context.record()
    return f"This call is recorded now. {MENU}"


async def pay(context: Context) -> str:
    """Ask for a card number. The recording pauses meanwhile."""
    await context.record(False)
    try:
        card = await context.run(CollectDigits("Please enter your card number, and then the hash key.", hidden=True))
    finally:
        await context.record()
    return f"Thank you. The card that ends in {card[-2:]} is charged."


async def transfer(context: Context) -> str:
    """Pass the caller on to billing."""
    try:
        await context.transfer(BILLING, ring_s=20)
    except TransferFailed as failure:
        return f"Billing can't take the call: {failure.outcome}."
    return "The call was passed on."


TOOLS = {"1": "record", "2": "pay", "3": "transfer"}


async def reply(request, context):
    if request.outputs:
        yield request.outputs[-1].output
    elif not request.text:  # the greeting
        name = CUSTOMERS.get(context.info.caller, "and welcome")
        campaign = context.info.parameters.get("campaign", "")
        about = f" You are calling about the {campaign} offer." if campaign else ""
        yield f"Hello {name}, this is the office.{about} {MENU}"
    elif (key := request.text.strip(" .#")) in TOOLS:
        yield "One moment, please."
        yield ToolCall(TOOLS[key], {})
    else:
        yield f"Sorry, that is not a choice. {MENU}"


agent = Agent(reply, name="office", tools=[record, pay, transfer], profile=profile("words", greets=True))
