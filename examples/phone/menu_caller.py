"""An agent that calls a telephone menu (IVR), listens, presses keys, and ends the call when its errand is done.

It wants to renew a library card. A model can do the same: `Agent(ChatBrain(…), tools=[press_keys, hang_up])` with
instructions such as "You called a telephone menu. Listen, and press the key that renews card 4711."
"""

import re

from duologue import Agent, LastWords, Phrases, Show, ToolCall
from duologue.core.settings import profile
from duologue.workers.phone_tools import press_keys

GOAL = ("renew", "card")
CARD = "4711"
OPTION = re.compile(r"(?:for|to) ([^.,]+), (?:please )?press (\w+)|press (\w+) (?:for|to) ([^.,]+)", re.IGNORECASE)
DIGITS = {"zero": "0", "one": "1", "two": "2", "to": "2", "too": "2", "three": "3", "four": "4", "for": "4", "five": "5"}


def key_in(text: str) -> str:
    """The key of the option that serves the goal; empty if the menu hasn't said it."""
    for what, key, other_key, other_what in OPTION.findall(text):
        if any(word in (what or other_what).lower() for word in GOAL):
            name = (key or other_key).lower()
            return DIGITS.get(name, name)
    return ""


async def reply(request):
    heard = request.text.lower()
    if request.outputs:
        yield Show(f"keys: {request.outputs[-1].output}")  # nothing is said: the menu goes on by itself
    elif "renewed" in heard or "goodbye" in heard:
        yield LastWords("Thank you. Goodbye.")
    elif "number" in heard and ("enter" in heard or "hash" in heard):
        yield ToolCall("press_keys", {"keys": f"{CARD}#"})
    elif key := key_in(request.text):
        yield ToolCall("press_keys", {"keys": key})
    else:
        yield Show("waits until the menu repeats")


# It says nothing at first, because the menu speaks; and it waits longer than the menu before it asks who is there.
agent = Agent(
    reply,
    name="menu caller",
    tools=[press_keys],
    profile=profile("words", greets=False, dead_air_ms=30_000),
    phrases=Phrases(greeting=""),
)
