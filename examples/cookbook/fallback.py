"""Two LLMs: if the first one fails before it has said anything, the second one answers."""

import os

from duologue import Agent, ChatBrain, ServiceError


class Fallback:
    """A brain that asks several brains, one after the other."""

    def __init__(self, *brains):
        self.brains = brains

    async def reply(self, request):
        for brain in self.brains:
            has_spoken = False
            try:
                async for part in brain.reply(request):
                    has_spoken = True
                    yield part
                return
            except ServiceError:
                if has_spoken or brain is self.brains[-1]:
                    raise


agent = Agent(
    Fallback(
        ChatBrain("large", base_url=os.environ.get("FIRST_URL"), api_key=os.environ.get("LLM_KEY")),
        ChatBrain("small", base_url=os.environ.get("SECOND_URL"), api_key=os.environ.get("LLM_KEY")),
    )
)
