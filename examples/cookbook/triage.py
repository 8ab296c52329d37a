"""Triage: the first agent hands the call over to one of three specialists, and they hand it back."""

import os

from duologue import Agent, ChatBrain, Phrases, hand_over_to

model = ChatBrain(
    os.environ.get("LLM_MODEL", "gpt-4o-mini"), base_url=os.environ.get("LLM_URL"), api_key=os.environ.get("LLM_KEY")
)
BACK = "Hand over to triage when the caller wants something else."


def team(brain=model):
    billing = Agent(
        brain,
        name="billing",
        instructions=f"You answer questions about bills. {BACK}",
        tools=[hand_over_to("triage")],
        phrases=Phrases(greeting="Billing, what can I do for you?"),
    )
    repairs = Agent(
        brain,
        name="repairs",
        instructions=f"You take down what is broken. {BACK}",
        tools=[hand_over_to("triage")],
        phrases=Phrases(greeting="Repairs here. What is broken?"),
    )
    moving = Agent(  # it has no greeting, so the model speaks first, and knows what was said
        brain,
        name="moving",
        instructions=f"You help people who move to another address. {BACK}",
        tools=[hand_over_to("triage")],
    )
    return Agent(
        brain,
        name="triage",
        instructions="Find out whether the call is about a bill, a repair or a move, and hand it over.",
        tools=[hand_over_to(billing, repairs, moving)],
        agents=(billing, repairs, moving),
        phrases=Phrases(greeting="Hello! How can we help?"),
    )


agent = team()
