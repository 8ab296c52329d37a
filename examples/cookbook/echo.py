"""The smallest agent: a function that yields what to say."""

from duologue import Agent


async def reply(request):
    yield f"You said: {request.text}"


agent = Agent(reply)
