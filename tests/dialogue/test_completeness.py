"""How complete a text is as a reply: read by the grammars, without NLU and without any effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.dialogue.completeness import completeness
from duologue.dialogue.events import FlowRequested, UserMessage
from duologue.dialogue.flow import Domain
from duologue.dialogue.machine import guarded_step
from duologue.dialogue.state import DialogueState, Phase
from duologue.flows import load_flows, parse_flows

EXAMPLES = Path(__file__).parents[2] / "examples"
TODAY = "2026-03-04"
FLIGHTS = load_flows(EXAMPLES / "flights.yaml")
COFFEE = load_flows(EXAMPLES / "coffee.yaml")
ROOM = parse_flows("""
version: 1
slots:
  nights: {type: number, prompt: "How many nights?"}
  pin: {type: code, prompt: "What is your PIN?"}
  guest: {type: name, prompt: "Which name?"}
  quiet: {type: yes_no, prompt: "Would you like a quiet room?"}
flows:
  book_room:
    description: book a room
    examples: [I need a room]
    steps:
      - collect: nights
      - collect: pin
      - collect: guest
      - collect: quiet
      - confirm: "{nights} nights. Is that right?"
      - end: Done.
""")


def asking(domain: Domain, flow: str, *answers: str) -> DialogueState:
    """The state after the flow has begun and these answers were given."""
    state, _ = guarded_step(domain, DialogueState(), FlowRequested(flow, 0))
    for text in answers:
        state, _ = guarded_step(domain, state, UserMessage(text, 0, TODAY))
    return state


@pytest.mark.req("H-17")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Boston", "complete"),
        ("from New York, please", "complete"),
        ("I'd like to fly from Boston to Denver", "complete"),
        ("cancel", "complete"),
        ("I would like to fly from", "open"),
        ("from Boston to", "open"),
        ("from Boston to, um", "open"),
        ("well I guess", "unknown"),
        ("somewhere I was told about last week", "unknown"),
        ("", "unknown"),
        ("What is that for", "unknown"),  # a question may end like this
    ],
)
def test_an_answer_to_the_open_question(text: str, found: str) -> None:
    assert completeness(FLIGHTS, asking(FLIGHTS, "book_flight"), text, TODAY) == found


@pytest.mark.req("H-17")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I'd like a large latte with a little bit of skim milk and brown sugar", "complete"),
        ("can I get a latte", "complete"),  # an example of the flow
        ("a large latte", "unknown"),  # milk and sugar may follow
        ("I'd like a large latte with", "open"),
        ("goodbye", "complete"),
        ("hello", "unknown"),  # a request usually follows
    ],
)
def test_a_request(text: str, found: str) -> None:
    assert completeness(COFFEE, DialogueState(), text, TODAY) == found


@pytest.mark.parametrize(
    ("answers", "text", "found"),
    [
        ((), "three", "complete"),
        ((), "twenty", "unknown"),  # "twenty-five"?
        (("three",), "four seven one", "unknown"),  # no grammar knows how long a code is
        (("three", "4711"), "Ann", "unknown"),  # a last name may follow
        (("three", "4711", "Ann Miller"), "yes", "complete"),
        (("three", "4711", "Ann Miller"), "I'd like to", "complete"),
        (("three", "4711", "Ann Miller", "yes"), "yes", "complete"),
        (("three", "4711", "Ann Miller", "yes"), "no", "unknown"),  # what is wrong usually follows
    ],
)
def test_whether_a_value_may_go_on_depends_on_what_was_asked(answers: tuple[str, ...], text: str, found: str) -> None:
    assert completeness(ROOM, asking(ROOM, "book_room", *answers), text, TODAY) == found


def test_nothing_is_said_about_a_text_while_a_request_is_running() -> None:
    busy, _ = guarded_step(FLIGHTS, DialogueState(), UserMessage("hmm something else", 0, TODAY))
    assert busy.phase is Phase.UNDERSTANDING
    assert completeness(FLIGHTS, busy, "Boston", TODAY) == "unknown"
