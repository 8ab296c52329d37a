"""One agent, two ways to run it: one Realtime model, or a cascade of ears, a chat model and a voice.

    duologue talk examples.realtime_agent:agent            # needs OPENAI_API_KEY
    CASCADE=1 duologue talk examples.realtime_agent:agent  # and `duologue models pull`

The instructions, the tools, the phrases and everything that the machine promises are the same; only who
hears, thinks and speaks differs.
"""

import asyncio
import os
from typing import Any

from duologue import Agent, ChatBrain, Phrases, RealtimeModel, tool


@tool
def opening_hours(day: str) -> str:
    """When the museum is open on a day of the week."""
    return "closed" if day.lower() == "monday" else "from ten to six"


@tool(mode="dispatch")
async def book_tour(people: int, day: str) -> str:
    """Book a guided tour; it takes a while and runs while the conversation goes on."""
    await asyncio.sleep(3)
    return f"booked for {people} on {day}, at eleven"


def museum(brain: Any, **parts: Any) -> Agent:
    """The agent, around any brain."""
    return Agent(
        brain,
        instructions="You answer the phone of a small museum. Say one or two short sentences at a time.",
        tools=[opening_hours, book_tour],
        phrases=Phrases(greeting="The museum of small things, good day!"),
        **parts,
    )


def realtime() -> Agent:
    """A speech-to-speech model. REALTIME_URL may name Azure or any compatible server."""
    model = os.environ.get("REALTIME_MODEL", "gpt-realtime")
    return museum(RealtimeModel(model, url=os.environ.get("REALTIME_URL")))


def cascade() -> Agent:
    """Local ears and a local voice around a chat model."""
    from duologue.ears.local import LocalEars
    from duologue.voice.local import LocalVoice

    return museum(ChatBrain("gpt-4o-mini"), ears=LocalEars(), voice=LocalVoice())


agent = cascade() if os.environ.get("CASCADE") else realtime()
