"""An LLM that starts a flow as a tool: the flow asks its own questions, and the model gets what was filled in."""

import os

from duologue import Agent, ChatBrain, LocalNlu
from duologue.flows import parse_flows
from duologue.flows.registry import Registry
from duologue.flows.tool import FlowTool

FLOWS = """
version: 1
slots:
  meter:
    type: number
    prompt: What does your meter show?
flows:
  report_meter:
    description: report what the electricity meter shows
    examples: [I want to report my meter]
    steps:
      - collect: meter
      - confirm: "{meter}. Is that right?"
    completed: "Thank you, I have noted it."
"""


def flow_tool():
    return FlowTool(parse_flows(FLOWS), Registry(), LocalNlu(words_only=True), "report_meter")


model = ChatBrain(
    os.environ.get("LLM_MODEL", "gpt-4o-mini"), base_url=os.environ.get("LLM_URL"), api_key=os.environ.get("LLM_KEY")
)
agent = Agent(model, instructions="You work for an electricity company.", tools=[flow_tool()])
