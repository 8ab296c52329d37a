"""Flow files become flat programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from duologue.dialogue.effects import Respond, RunAction
from duologue.dialogue.english import Choice, SlotKind
from duologue.dialogue.events import ActionDone, FlowRequested, UserMessage, WorkFailed
from duologue.dialogue.flow import (
    Assign,
    CallFlow,
    Collect,
    Confirm,
    Domain,
    End,
    Instruction,
    Jump,
    JumpUnless,
    LinkFlow,
    Patterns,
    PerformAction,
    SayText,
)
from duologue.dialogue.machine import step
from duologue.dialogue.state import DialogueState, Phase
from duologue.flows import load_flows, parse_flows

ROOT = Path(__file__).parent.parent.parent


# Without stories such as flights.stories.yaml, which are in the same folder.
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.yaml")) if "." not in path.stem]
SLOTS = """
version: 1
slots:
  amount: {type: number, prompt: "How much?"}
  name: {type: text, prompt: "Who?"}
flows:
  other: {steps: [{say: Hello!}]}
  pay:
    steps:
"""


def program_of(steps: str) -> tuple[Instruction, ...]:
    """The program of a flow with these steps."""
    return domain_of(steps).flows["pay"].program


def domain_of(steps: str) -> Domain:
    lines = [f"      {line}" for line in steps.strip().splitlines()]
    return parse_flows(SLOTS + "\n".join(lines), "pay.yaml")


def brief(program: tuple[Instruction, ...]) -> list[str]:
    """Instructions in short."""
    shown = []
    for at in program:
        match at:
            case Jump():
                shown.append(f"{at.step}: jump {at.to}")
            case JumpUnless():
                shown.append(f"{at.step}: unless {at.condition.text} jump {at.to}")
            case Confirm():
                shown.append(f"{at.step}: confirm, no {at.on_no}")
            case PerformAction():
                shown.append(f"{at.step}: act, failed {at.on_failure}")
            case SayText():
                shown.append(f"{at.step}: say")
            case _:
                shown.append(f"{at.step}: {type(at).__name__.lower()}")
    return shown


def test_every_key_of_a_slot_is_compiled() -> None:
    domain = parse_flows(
        """
version: 1
misses_max: 2
gives_up_by: handoff
slots:
  other: {type: text}
  seat:
    type: choice
    prompt: Where?
    reprompts: [One, Two]
    silence_prompts: ["Hello?"]
    help: Say inside or outside.
    validator: is_free
    normaliser: tidy
    choices: [inside, {value: outside, also: [terrace, garden]}]
    depends_on: [other]
    ask_before_filling: true
    optional: true
    prefers: first
    barge_in: false
    label: place
  time: {type: time, hours: [12, 23]}
  born: {type: date, past: true}
  city: {type: name, open: false, names: [Paris, {value: New York, also: [NYC]}]}
  code: {type: code, reads_back: true}
flows:
  go: {description: go out, examples: [let's go], steps: [{collect: seat}]}
patterns: {cancelled: "Fine."}
""",
        "seats.yaml",
    )
    seat = domain.slots["seat"]
    assert (seat.kind, seat.prompt, seat.help, seat.label) == (
        SlotKind.CHOICE,
        "Where?",
        "Say inside or outside.",
        "place",
    )
    assert (seat.reprompts, seat.silence_prompts) == (("One", "Two"), ("Hello?",))
    assert (seat.validator, seat.normaliser, seat.depends_on) == ("is_free", "tidy", ("other",))
    assert seat.choices == (Choice("inside"), Choice("outside", ("terrace", "garden")))
    assert (seat.ask_before_filling, seat.is_optional, seat.prefers, seat.barge_in) == (True, True, "first", False)
    assert domain.slots["time"].hours == (12, 23)
    assert domain.slots["born"].is_past
    assert domain.slots["code"].reads_back
    city = domain.slots["city"]
    assert not city.is_open
    assert city.names is not None
    assert dict(city.names.values) == {("paris",): "Paris", ("new", "york"): "New York", ("nyc",): "New York"}
    assert domain.slots["other"].prompt == "What is the other?", "an action may want it, even if no step asks"
    assert (domain.misses_max, domain.gives_up_by) == (2, "handoff")
    assert domain.patterns == Patterns(cancelled="Fine.")
    assert (domain.flows["go"].description, domain.flows["go"].examples) == ("go out", ("let's go",))


def test_every_pattern_can_be_replaced() -> None:
    words = {name: f"Words {number}." for number, name in enumerate(Patterns.__slots__) if name != "completed"}
    domain = parse_flows(yaml.safe_dump({**yaml.safe_load(SLOTS + "    - say: x"), "patterns": words}), "x.yaml")
    assert domain.patterns == Patterns(**words)


def test_steps_become_instructions_with_unique_names() -> None:
    program = program_of("""
- collect: amount
- collect: name
  prompt: Or {proposed}?
  proposed: amount
- id: greet
  say: Hello {name}
  barge_in: false
- say: Bye
- set: {amount: null, name: Ada}
- action: send
  slots: [amount]
  outputs: [reference]
  waiting: One moment.
- action: send
  outputs: {ref: reference}
- confirm: Sure?
- call: other
  gives: {amount: name}
  takes: [name]
- link: other
""")
    assert program == (
        Collect("collect_amount", "amount"),
        Collect("collect_name", "name", "Or {proposed}?", "amount"),
        SayText("greet", "Hello {name}", barge_in=False),
        SayText("say_1", "Bye"),
        Assign("set_1", (("amount", None), ("name", "Ada"))),
        PerformAction("send", "send", ("amount",), (("reference", "reference"),), "One moment."),
        PerformAction("send_2", "send", (), (("ref", "reference"),)),
        Confirm("confirm_1", "Sure?"),
        CallFlow("call_other", "other", (("amount", "name"),), (("name", "name"),)),
        LinkFlow("link_other", "other"),
        End("end"),
    )


def test_a_branch_becomes_tests_and_jumps() -> None:
    program = program_of("""
- branch:
    - if: amount > 500
      steps: [{say: much}]
    - if: amount > 100
      steps: [{say: some}, {say: more}]
    - else: [{say: little}]
- say: done
""")
    assert brief(program) == [
        "branch_1: unless amount > 500 jump 3",
        "say_1: say",
        "branch_1.over_1: jump 8",
        "branch_1.if_2: unless amount > 100 jump 7",
        "say_2: say",
        "say_3: say",
        "branch_1.over_2: jump 8",
        "say_4: say",
        "say_5: say",
        "end: end",
    ]


def test_a_branch_without_else_continues_after_it() -> None:
    program = program_of("- branch: [{if: amount, steps: [{say: x}]}]")
    assert brief(program) == ["branch_1: unless amount jump 2", "say_1: say", "end: end"]


def test_a_loop_tests_before_every_round() -> None:
    program = program_of("""
- id: until_small
  while: amount > 10
  steps:
    - set: {amount: null}
    - collect: amount
""")
    assert brief(program) == [
        "until_small: unless amount > 10 jump 4",
        "set_1: assign",
        "collect_amount: collect",
        "until_small.again: jump 0",
        "end: end",
    ]


@pytest.mark.parametrize(
    ("then", "after"),
    [
        ("", ["confirm_1.again: jump 1"]),
        ("again", ["confirm_1.again: jump 1"]),
        ("end", ["confirm_1.end: end"]),
        ("go_on", []),
        ("ask", ["confirm_1.then: jump 0"]),
    ],
)
def test_the_on_no_block_follows_the_question(then: str, after: list[str]) -> None:
    program = program_of(f"""
- id: ask
  collect: amount
- confirm: Send {{amount}}?
  on_no: [{{set: {{amount: null}}}}]
  {f"then: {then}" if then else "barge_in: true"}
- say: sent
""")
    behind = 4 + len(after)
    assert brief(program) == [
        "ask: collect",
        "confirm_1: confirm, no 3",
        f"confirm_1.over: jump {behind}",
        "set_1: assign",
        *after,
        "say_1: say",
        "end: end",
    ]


def test_a_failure_ends_the_flow_by_default() -> None:
    steps = "- action: send\n  on_failure: [{say: Sorry.}]\n- say: sent"
    assert brief(program_of(steps)) == [
        "send: act, failed 2",
        "send.over: jump 4",
        "say_1: say",
        "send.end: end",
        "say_2: say",
        "end: end",
    ]


def test_an_end_may_have_a_text() -> None:
    program = program_of("- branch:\n    - {if: amount, steps: [{end: Bye.}]}\n    - {else: [{end: true}]}")
    assert brief(program) == [
        "branch_1: unless amount jump 4",
        "end_1: say",
        "end_1.end: end",
        "branch_1.over_1: jump 5",
        "end_2: end",
        "end: end",
    ]


def test_every_instruction_has_a_place_by_its_name() -> None:
    for path in EXAMPLES:
        for flow in load_flows(path).flows.values():
            assert [flow.places[at.step] for at in flow.program] == list(range(len(flow.program)))


def test_names_stay_when_steps_are_added_elsewhere() -> None:
    before = program_of("- collect: amount\n- action: send\n- call: other")
    after = program_of("- say: Welcome!\n- collect: name\n- collect: amount\n- say: x\n- action: send\n- call: other")
    assert {at.step for at in before} <= {at.step for at in after}


def test_the_closing_text_is_said_at_the_last_step_only() -> None:
    domain = parse_flows(
        "version: 1\nflows:\n  a: {steps: [{say: x}], completed: Done.}\n  b: {steps: [{say: x}]}\n"
        "patterns: {completed: 'Anything else?'}",
        "x.yaml",
    )
    assert domain.flows["a"].program[1] == SayText("completed", "Done.")
    assert domain.flows["b"].program[1] == SayText("completed", "Anything else?")
    assert domain.patterns.completed == ""


def said(effects: tuple[Any, ...]) -> list[str]:
    return [effect.text for effect in effects if isinstance(effect, Respond)]


def test_after_a_no_the_question_is_asked_again() -> None:
    domain = domain_of("""
- collect: amount
- confirm: Send {amount}?
  on_no: [{set: {amount: null}}, {collect: amount}]
- action: send
""")
    state, _ = step(domain, DialogueState(), FlowRequested("pay", 0))
    heard = []
    for turn in ("5", "no", "7", "yes"):
        state, effects = step(domain, state, UserMessage(turn, 1, "2025-12-01"))
        heard.append(said(effects))
    assert heard == [["Send 5?"], ["How much?"], ["Send 7?"], []]
    assert any(isinstance(effect, RunAction) for effect in effects)


def test_a_failed_action_never_falls_through() -> None:
    domain = parse_flows(
        "version: 1\nflows:\n  pay:\n    completed: It is sent.\n"
        "    steps: [{action: send, on_failure: [{say: Sorry.}]}, {say: Sent.}]",
        "x.yaml",
    )
    state, _ = step(domain, DialogueState(), FlowRequested("pay", 0))
    failed, effects = step(domain, state, WorkFailed(state.pending, "OSError", "gone", 1))
    assert (said(effects), failed.phase) == (["Sorry."], Phase.IDLE)
    done, effects = step(domain, state, ActionDone(state.pending, (), 1))
    assert (said(effects), done.phase) == (["Sent.", "It is sent."], Phase.IDLE)
