"""A message that was only partly understood, while a question of a visit is open."""

from __future__ import annotations

from duologue.dialogue.commands import Command
from duologue.dialogue.effects import Understand
from duologue.dialogue.state import DialogueState, Instance
from duologue.flows import parse_flows
from duologue.flows.nlu_commands import commands_of
from duologue.nlu.understanding import Understanding

VISIT = """
version: 1
slots:
  people: {type: number, prompt: "How many?"}
  day: {type: date, prompt: "Which day?"}
  time: {type: time, prompt: "What time?"}
  nickname: {type: text, prompt: "What are you called?"}
  is_member: {type: yes_no, prompt: "Are you a member?"}
flows:
  visit:
    description: see the castle
    examples: [we want to see the castle]
    steps: [collect: people, collect: day, collect: time, collect: nickname, collect: is_member]
  hours:
    description: opening hours
    examples: [when are you open]
    steps: [say: "From nine to five."]
"""


def heard_in_part(text: str, found: Understanding, waiting_for: str = "people") -> tuple[Command, ...]:
    domain = parse_flows(VISIT)
    state = DialogueState(stack=(Instance(1, "visit"),), waiting_for=waiting_for)
    asked = Understand(1, text, ("visit", "hours"), (), waiting_for=waiting_for)
    return commands_of(domain, state, asked, found, "2026-03-04")
