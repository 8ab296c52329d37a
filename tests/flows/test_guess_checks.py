"""Guesses of the local NLU that are ignored."""

from __future__ import annotations

from duologue.dialogue.commands import Help
from duologue.dialogue.effects import Understand
from duologue.dialogue.state import DialogueState, Instance
from duologue.flows import parse_flows
from duologue.flows.nlu_commands import commands_of
from duologue.nlu.understanding import Guess, Understanding


def test_nlu_must_be_very_sure_of_a_command_at_a_free_text_question() -> None:
    flows = parse_flows("""
version: 1
slots:
  fault: {type: text, prompt: "What is wrong?"}
flows:
  report: {description: report, steps: [collect: fault]}
""")
    asked = Understand(1, "it doesn't work", (), ("fault",), "fault", "What is wrong?")
    for confidence, meant in ((0.7, ()), (0.97, (Help(),))):
        found = Understanding((Guess("help", confidence),), True, 0.99, by="minilm")
        assert commands_of(flows, DialogueState(), asked, found, "2026-03-04") == meant


def test_free_text_about_the_open_task_does_not_ask_for_it_again() -> None:
    flows = parse_flows("""
version: 1
slots:
  fault: {type: text, prompt: "What is wrong?"}
flows:
  report: {description: report, steps: [collect: fault]}
""")
    asked = Understand(1, "my phone is broken", ("report",), ("fault",), "fault", "What is wrong?")
    found = Understanding((Guess("flow report", 0.97),), True, 0.99, by="minilm")
    assert commands_of(flows, DialogueState(stack=(Instance(0, "report"),)), asked, found, "2026-03-04") == ()
