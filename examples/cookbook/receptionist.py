"""An LLM receptionist with two tools and data of its own for each call."""

import os
from dataclasses import dataclass

from duologue import Agent, ChatBrain, Context


@dataclass
class Visit:
    guest: str = ""
    host: str = ""


def find_host(name: str, context: Context[Visit]) -> str:
    """Find a colleague whom the visitor wants to see."""
    context.data.host = name
    return f"{name} is in room 12"


async def sign_in(guest: str, context: Context[Visit]) -> str:
    """Sign the visitor in."""
    context.data.guest = guest
    return f"{guest} is signed in to see {context.data.host or 'no one yet'}"


brain = ChatBrain(
    os.environ.get("LLM_MODEL", "gpt-4o-mini"), base_url=os.environ.get("LLM_URL"), api_key=os.environ.get("LLM_KEY")
)
agent = Agent(brain, instructions="You receive visitors.", tools=[find_host, sign_in], data=Visit)
