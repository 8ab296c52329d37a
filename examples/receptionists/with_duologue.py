"""The receptionist with Duologue: `duologue serve with_duologue:agent`."""

from dataclasses import dataclass

from duologue import Agent, CartesiaVoice, ChatBrain, Context, DeepgramEars, Phrases


@dataclass
class Visit:
    guest: str = ""
    host: str = ""


def find_host(name: str, context: Context[Visit]) -> str:
    """Find a colleague whom the visitor wants to see."""
    context.data.host = name
    return f"{name} is in room 12"


def sign_in(guest: str, context: Context[Visit]) -> str:
    """Sign the visitor in."""
    context.data.guest = guest
    return f"{guest} is signed in to see {context.data.host or 'no one yet'}"


agent = Agent(
    ChatBrain("gpt-4o-mini"),
    instructions="You receive visitors.",
    tools=[find_host, sign_in],
    data=Visit,
    ears=DeepgramEars(),
    voice=CartesiaVoice("71a7ad14-091c-4e8e-a314-022ece01c121"),
    phrases=Phrases(greeting="Welcome! Whom would you like to see?"),
)
