"""The intents that NLU may choose from."""

from __future__ import annotations

from duologue.dialogue.commands import Cancel, StartFlow
from duologue.dialogue.effects import Understand
from duologue.dialogue.state import DialogueState
from duologue.flows.intents import scope_of
from duologue.flows.nlu_commands import commands_of
from tests.flows.guessed_intents import DOMAIN, understood

ASKED = Understand(1, "please", ("book_table", "cancel"), ())


def test_the_prefix_of_flow_intents_is_in_no_phrase() -> None:
    scope = scope_of(DOMAIN, ASKED, is_confirming=True)
    words = {word for intent in scope.intents for phrase in intent.phrases for word in phrase.split()}
    assert "flow" not in words
    assert scope.intents[0].phrases == ("a table please", "book a table", "book table")


def test_a_flow_and_a_command_with_the_same_name_are_two_intents() -> None:
    scope = scope_of(DOMAIN, ASKED, is_confirming=False)
    flow, command = (intent.name for intent in scope.intents if "cancel" in intent.name)
    assert commands_of(DOMAIN, DialogueState(), ASKED, understood(flow), "2026-03-04") == (StartFlow("cancel"),)
    assert commands_of(DOMAIN, DialogueState(), ASKED, understood(command), "2026-03-04") == (Cancel(),)
