"""An LLM with a tool: the model calls a Python function and tells the user what it returned."""

import os

from duologue import Agent, ChatBrain, tool

HOURS = {"saturday": "ten to four", "sunday": "closed"}


@tool
def opening_hours(day: str) -> str:
    """The opening hours of the shop on a day of the week."""
    return HOURS.get(day.lower(), "nine to six")


agent = Agent(
    ChatBrain(
        os.environ.get("LLM_MODEL", "gpt-4o-mini"),
        base_url=os.environ.get("LLM_URL"),
        api_key=os.environ.get("LLM_KEY"),
    ),
    instructions="You answer for a small shop. Look up the opening hours before you name them.",
    tools=[opening_hours],
)
