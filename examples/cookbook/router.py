"""Several specialists behind one agent: the conversation stays with one until the user asks for another."""

from duologue import Agent, UserSaid


async def reception(request):
    yield "I can connect you with sales or support. Which one?"


async def sales(request):
    yield f"Sales here. You said: {request.text}."


async def support(request):
    yield f"Support here. You said: {request.text}."


SPECIALISTS = {"sales": sales, "support": support}  # functions here; ChatBrains or FlowBrains work the same way


async def route(request):
    """The newest turn that names a specialist decides. Nothing is stored: the request holds the whole history."""
    chosen = reception
    for item in request.history:
        if isinstance(item, UserSaid):
            chosen = next((SPECIALISTS[name] for name in SPECIALISTS if name in item.text.lower()), chosen)
    async for part in chosen(request):
        yield part


agent = Agent(route)
