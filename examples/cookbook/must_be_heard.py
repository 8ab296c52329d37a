"""A sentence that can't be interrupted, between sentences that can."""

from duologue import Agent, Firm


async def reply(request):
    if "agree" in request.text:
        yield "Thank you."
    else:
        yield Firm("This call is recorded. Say that you agree, or hang up.")


agent = Agent(reply)
