"""An agent that calls a telephone menu (IVR), listens, presses keys, and ends the call when its errand is done.

It wants to renew a library card. A model can do the same: `Agent(ChatBrain(…), tools=[press_keys, hang_up])` with
instructions such as "You called a telephone menu. Listen, and press the key that renews card 4711."
"""

import re

from duologue import Agent, LastWords, Phrases, Show, ToolCall
from duologue.core.settings import profile
from duologue.workers.phone_tools import press_keys

GOAL, CARD = "card", "4711"
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
KEYS = {name: str(number) for number, name in enumerate(NUMBERS)} | {str(number): str(number) for number in range(10)}


def key_in(text: str) -> str:
    """The key for the goal; empty if the menu hasn't said it. "For your card, press 5" and "press 5 for your card"."""
    words = re.findall(r"[a-z]+|\d", text.lower())
    goal = next((place for place, word in enumerate(words) if word.startswith(GOAL)), None)
    if goal is None:
        return ""
    after, before = words[goal:], words[:goal]
    if "press" in after:
        return next((KEYS[word] for word in after[after.index("press") :] if word in KEYS), "")
    return next((KEYS[word] for word in reversed(before) if word in KEYS), "") if "press" in before else ""


async def reply(request):
    heard = request.text.lower()
    if request.outputs:
        yield Show(f"keys: {request.outputs[-1].output}")  # nothing is said: the menu goes on by itself
    elif "renewed" in heard or "goodbye" in heard:
        yield LastWords("Thank you. Goodbye.")
    elif "enter" in heard and "number" in heard:
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
