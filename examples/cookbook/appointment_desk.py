"""An appointment desk: a flow in YAML asks for what it needs, and an LLM beside it answers everything else."""

import os

from duologue import Agent, ChatBrain, Context, FlowBrain, LocalNlu
from duologue.flows import parse_flows
from duologue.flows.registry import Registry

FLOWS = """
version: 1
slots:
  day:
    type: date
    prompt: On which day would you like to come?
    future: true
  time:
    type: time
    prompt: At what time?
    hours: [8, 18]
flows:
  book_appointment:
    description: book an appointment
    examples: [I need an appointment, can I see the doctor, book an appointment]
    steps:
      - collect: day
      - collect: time
      - confirm: "{day} at {time}. Shall I book it?"
      - action: book
        slots: [day, time]
    completed: "It is booked. We look forward to seeing you."
"""


def book(day, time, key, context: Context | None = None):
    """Book it once: `key` is the same however often this booking is tried."""
    print(f"booked {day} {time} for {context.caller if context else 'a test'}")


model = ChatBrain(
    os.environ.get("LLM_MODEL", "gpt-4o-mini"), base_url=os.environ.get("LLM_URL"), api_key=os.environ.get("LLM_KEY")
)


def desk(beside=model):
    return Agent(
        FlowBrain(parse_flows(FLOWS), Registry([book]), LocalNlu(words_only=True), beside=beside),
        instructions="You answer questions of a doctor's patients in one sentence. Never book anything yourself.",
    )


agent = desk()
