"""Files of flows: what they say, and the programs that they become."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from duologue.dialogue.effects import Respond, RunAction
from duologue.dialogue.english import Choice, SlotKind
from duologue.dialogue.events import ActionDone, FlowRequested, UserSaid, WorkFailed
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
from duologue.flows import InvalidFlows, flow_schema, load_flows, parse_flows, read_flows
from duologue.flows.schema import STEP_MODELS, FileEntry

ROOT = Path(__file__).parent.parent.parent
# Stories such as flights.stories.yaml lie beside them.
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
    """Instructions in short, as one would tell them."""
    told = []
    for at in program:
        match at:
            case Jump():
                told.append(f"{at.step}: jump {at.to}")
            case JumpUnless():
                told.append(f"{at.step}: unless {at.condition.text} jump {at.to}")
            case Confirm():
                told.append(f"{at.step}: confirm, no {at.on_no}")
            case PerformAction():
                told.append(f"{at.step}: act, failed {at.on_failure}")
            case SayText():
                told.append(f"{at.step}: say")
            case _:
                told.append(f"{at.step}: {type(at).__name__.lower()}")
    return told


# -- Examples


@pytest.mark.req("D-03")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_loads_without_a_warning(path: Path) -> None:
    file = read_flows(path)
    assert file.warnings == ()
    assert file.domain.offered


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_its_functions_beside_it(path: Path) -> None:
    file = read_flows(path)
    tree = ast.parse(path.with_suffix(".py").read_text(encoding="utf-8"))
    functions = {
        node.name: {argument.arg for argument in node.args.args}
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert {*file.actions, *file.validators, *file.normalisers} <= set(functions)
    known = {*file.domain.slots, *_outputs(file.domain), "key"}
    for name in {*file.actions, *file.validators, *file.normalisers}:
        assert functions[name] <= known, name


def _outputs(domain: Domain) -> set[str]:
    programs = [flow.program for flow in domain.flows.values()]
    return {ours for program in programs for at in program if isinstance(at, PerformAction) for _, ours in at.outputs}


@pytest.mark.req("D-16")
def test_the_flight_asks_as_the_source_does() -> None:
    domain = load_flows(ROOT / "examples" / "flights.yaml")
    flow = domain.flows["book_flight"]
    assert [at.step for at in flow.program] == [
        "collect_origin",
        "collect_destination",
        "collect_date",
        "search_flights",
        "completed",
        "end",
    ]
    assert [domain.slots[slot].prompt for slot in flow.slots] == [
        "Where would you like to fly from?",
        "Where would you like to fly to?",
        "When would you like to depart?",
    ]
    assert flow.program[4] == SayText("completed", "Your flight is booked! Booking reference: {booking_ref}")
    assert domain.slots["origin"].names is not None
    assert domain.slots["departure_date"].prefers == "last"


# -- Slots and the rest


def test_a_slot_keeps_all_that_is_said_of_it() -> None:
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


def test_names_come_from_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "cities.txt").write_text("# cities\nParis\nNew York | NYC | Big Apple\n\n", encoding="utf-8")
    file = tmp_path / "trip.yaml"
    slots = "city: {type: name, prompt: x, names: cities.txt}"
    file.write_text(f"version: 1\nslots:\n  {slots}\nflows: {{go: {{steps: [{{collect: city}}]}}}}\n", encoding="utf-8")
    names = load_flows(file).slots["city"].names
    assert names is not None
    assert sorted(names.values.values()) == ["New York", "New York", "New York", "Paris"]


def test_every_pattern_can_be_replaced() -> None:
    words = {name: f"Words {number}." for number, name in enumerate(Patterns.__slots__) if name != "completed"}
    domain = parse_flows(yaml.safe_dump({**yaml.safe_load(SLOTS + "    - say: x"), "patterns": words}), "x.yaml")
    assert domain.patterns == Patterns(**words)


def test_texts_that_yaml_1_1_would_change_stay_texts() -> None:
    program = program_of("- set: {name: no}\n- set: {name: 12:30}\n- set: {name: 007}\n- set: {amount: 1.5}")
    values = [at.values[0][1] for at in program if isinstance(at, Assign)]
    assert values == ["no", "12:30", "007", 1.5]


# -- Programs


def test_steps_become_instructions_with_names_of_their_own() -> None:
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


def test_a_branch_without_else_goes_on_behind_it() -> None:
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
def test_what_follows_a_no_stands_behind_the_question(then: str, after: list[str]) -> None:
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


def test_a_failure_ends_the_flow_unless_it_is_told_otherwise() -> None:
    steps = "- action: send\n  on_failure: [{say: Sorry.}]\n- say: sent"
    assert brief(program_of(steps)) == [
        "send: act, failed 2",
        "send.over: jump 4",
        "say_1: say",
        "send.end: end",
        "say_2: say",
        "end: end",
    ]


def test_an_end_may_have_words() -> None:
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


def test_what_is_said_at_the_end_is_only_said_there() -> None:
    domain = parse_flows(
        "version: 1\nflows:\n  a: {steps: [{say: x}], completed: Done.}\n  b: {steps: [{say: x}]}\n"
        "patterns: {completed: 'Anything else?'}",
        "x.yaml",
    )
    assert domain.flows["a"].program[1] == SayText("completed", "Done.")
    assert domain.flows["b"].program[1] == SayText("completed", "Anything else?")
    assert domain.patterns.completed == ""


# -- Run


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
        state, effects = step(domain, state, UserSaid(turn, 1, "2025-12-01"))
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


# -- The schema, for editors


def fits(value: Any, schema: Any, root: Any) -> bool:
    """Does a value fit a JSON schema? Only the words that ours uses."""
    if "$ref" in schema:
        return fits(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    for word in ("anyOf", "oneOf"):
        if word in schema and sum(fits(value, each, root) for each in schema[word]) != 1:
            return False
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    wanted = schema.get("type", [])
    names = wanted if isinstance(wanted, list) else [wanted]
    is_kind = any(value is None if name == "null" else isinstance(value, kinds[name]) for name in names)
    if names and not is_kind:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        return False
    if isinstance(value, list):
        return len(value) >= schema.get("minItems", 0) and all(
            fits(item, schema.get("items", {}), root) for item in value
        )
    return not isinstance(value, dict) or _entries_fit(value, schema, root)


def _entries_fit(value: dict[str, Any], schema: Any, root: Any) -> bool:
    if not set(schema.get("required", ())) <= set(value):
        return False
    for key, entry in value.items():
        known = [schema["properties"][key]] if key in schema.get("properties", {}) else []
        known += [each for pattern, each in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
        if not known and schema.get("additionalProperties") is False:
            return False
        if not all(fits(entry, each, root) for each in known):
            return False
    return True


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_fits_the_schema_for_editors(path: Path) -> None:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    schema = flow_schema()
    assert fits(data, schema, schema)
    assert FileEntry.model_validate(data)
    flow = next(iter(data["flows"].values()))
    flow["steps"][0]["colect"] = "x"
    assert not fits(data, schema, schema)


def test_the_schema_knows_every_step() -> None:
    schema = flow_schema()
    assert {model.__name__ for model in STEP_MODELS.values()} <= set(schema["$defs"])
    assert schema["required"] == ["version", "flows"]


# -- The page


def test_the_examples_in_the_page_load() -> None:
    page = (ROOT / "docs" / "flows.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    whole = [block for block in blocks if block.startswith("version: 1")]
    assert whole
    domain = parse_flows(whole[0], "docs/flows.md")
    assert "order_pizza" in domain.flows
    for block in blocks:
        assert yaml.safe_load(block), block


def test_the_page_names_every_key() -> None:
    page = (ROOT / "docs" / "flows.md").read_text(encoding="utf-8")
    schema = flow_schema()
    keys = {key for model in schema["$defs"].values() for key in model.get("properties", ())}
    missing = sorted(key for key in {*keys, *schema["properties"]} if f"`{key}`" not in page and f"`{key}:" not in page)
    assert missing == []


# -- Anything at all

WORDS = ["version", "slots", "flows", "steps", "collect", "say", "set", "branch", "if", "else", "while", "action"]
WORDS += ["confirm", "on_no", "on_failure", "then", "call", "link", "end", "id", "type", "prompt", "choices", "names"]
WORDS += ["patterns", "depends_on", "outputs", "gives", "takes", "hours", "number", "text", "a", "b", "a > 1", "{a}"]
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.sampled_from(WORDS), st.text(max_size=8)
)
keys = st.one_of(st.sampled_from(WORDS), st.text(max_size=4))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=20,
)


def loads_or_complains(text: str) -> None:
    try:
        parse_flows(text, "any.yaml")
    except InvalidFlows as error:
        lines = str(error).split("\n")
        assert lines
        assert all(line.startswith(("any.yaml", "and ")) for line in lines)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(values)
def test_any_structure_loads_or_complains(value: Any) -> None:
    loads_or_complains(yaml.safe_dump(value, allow_unicode=True))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(EXAMPLES), st.data())
def test_any_change_to_an_example_loads_or_complains(path: Path, data: st.DataObject) -> None:
    whole = yaml.safe_load(path.read_text(encoding="utf-8").replace("cities.txt", "[Paris]"))
    for _ in range(data.draw(st.integers(1, 3))):
        part = whole
        while True:
            places = list(part) if isinstance(part, dict) else list(range(len(part)))
            if not places:
                break
            place = data.draw(st.sampled_from(places))
            if isinstance(part[place], dict | list) and part[place] and data.draw(st.integers(0, 4)):
                part = part[place]
                continue
            if data.draw(st.booleans()):
                part[place] = data.draw(values)
            else:
                del part[place]
            break
    loads_or_complains(yaml.safe_dump(whole))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"%@`#,? \n\t\\x0U1\u2028\x00é")))
def test_any_text_loads_or_complains(text: str) -> None:
    loads_or_complains(text)
