"""A task without an LLM: slots, corrections and confirmation from a flow in YAML."""

from duologue import Agent, FlowBrain, LocalNlu
from duologue.flows import parse_flows
from duologue.flows.registry import Registry

FLOWS = """
version: 1
slots:
  people:
    type: number
    prompt: For how many people?
  time:
    type: time
    prompt: At what time?
    hours: [17, 23]  # "at seven" is in the evening
flows:
  book_table:
    description: book a table
    examples: [I would like a table, can I book a table, a table please]
    steps:
      - collect: people
      - collect: time
      - confirm: "A table for {people} at {time}. Is that right?"
      - action: book
        slots: [people, time]
        outputs: [number]
    completed: "It is booked. Your table is number {number}."
"""


def book(people, time, key):
    """Book it once: `key` is the same however often this booking is tried."""
    return {"number": 7}


agent = Agent(FlowBrain(parse_flows(FLOWS), Registry([book]), LocalNlu(words_only=True)))
