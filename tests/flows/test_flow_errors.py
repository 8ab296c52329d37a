"""What is wrong with a file of flows is told at once, each with its line and what was probably meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.flows import InvalidFlows, load_flows, parse_flows, read_text

HEAD = """\
version: 1
slots:
  origin: {type: name, prompt: From where}
  day: {type: date, prompt: When, depends_on: [origin]}
  seat: {type: choice, prompt: Which seat, choices: [aisle, window]}
  note: {type: text}
flows:
  book:
    steps:
"""
SAY = "flows: {a: {steps: [{say: x}]}}"


def problems_of(text: str) -> list[str]:
    """What is told about a text, without the name of the file; warnings too."""
    try:
        found = read_text(text, "f.yaml").warnings
    except InvalidFlows as error:
        found = error.problems
    return [str(problem).removeprefix("f.yaml:") for problem in found]


# -- Steps: each of these is what follows the head, so the first line is line 10.

STEPS = [
    ("- collect: orgin", "10: flows.book.steps[0]: no slot 'orgin'; did you mean 'origin'?"),
    ("- collect: note", "10: flows.book.steps[0]: needs a prompt: the slot 'note' has none"),
    ("- {collect: day, proposed: dya}", "10: flows.book.steps[0]: no slot 'dya'; did you mean 'day'?"),
    ("- say: Hi\n- colect: day", "11: flows.book.steps[1]: no step 'colect'; did you mean 'collect'?"),
    ("- say: Hi\n  colect: day", "11: flows.book.steps[0]: no key 'colect' here; there are id, say, barge_in"),
    ("- collect: day\n  promt: x", "11: flows.book.steps[0]: no key 'promt' here; did you mean 'prompt'?"),
    (
        "- say: Hi\n  collect: day",
        "11: flows.book.steps[0]: say and collect are two steps: each needs an item of its own",
    ),
    ("- say", "10: flows.book.steps[0]: a step must be a mapping, such as say: Hello!, not 'say'"),
    ("- {}", "10: flows.book.steps[0]: a step must be a mapping, such as say: Hello!, not nothing"),
    ("- say: 5", "10: flows.book.steps[0].say: must be a text, not 5: put it in quotes"),
    ("- say: [a]", "10: flows.book.steps[0].say: must be a text, not a list"),
    ('- say: " "', "10: flows.book.steps[0].say: is empty"),
    ("- {say: Hi, barge_in: never}", "10: flows.book.steps[0].barge_in: must be true or false, not 'never'"),
    ('- say: "Hi {nme}"', "10: flows.book.steps[0]: no slot 'nme'; there are origin, day, seat, note"),
    ('- say: "Hi {day"', "10: flows.book.steps[0]: '{day' is no gap: write {name} or {name:spelled}"),
    ('- say: "Hi {day of}"', "10: flows.book.steps[0]: '{day of}' is no gap: write {name} or {name:spelled}"),
    (
        '- {collect: day, prompt: "{proposed}?"}',
        "10: flows.book.steps[0].prompt: no slot 'proposed'; there are origin, day, seat, note",
    ),
    ("- set: {orgin: x}", "10: flows.book.steps[0]: no slot 'orgin'; did you mean 'origin'?"),
    ("- set: {seat: isle}", "10: flows.book.steps[0]: seat has no choice 'isle'; did you mean 'aisle'?"),
    (
        "- set: {day: [1]}",
        "10: flows.book.steps[0].set.day: must be a text, a number, true, false or null, not a list",
    ),
    ("- set: {}", "10: flows.book.steps[0].set: is empty: at least one is needed"),
    ("- action: two words", "10: flows.book.steps[0].action: 'two words' is no name: letters, digits and _, not more"),
    ("- {action: go, slots: [dya]}", "10: flows.book.steps[0]: no slot 'dya'; did you mean 'day'?"),
    ("- {action: go, outputs: ref}", "10: flows.book.steps[0].outputs: must be a list, not 'ref'"),
    ("- {action: go, outputs: [value]}", "1: nothing can be called 'value' here: the word has a meaning of its own"),
    ("- {action: go, on_failure: []}", "10: flows.book.steps[0].on_failure: is empty: at least one is needed"),
    (
        "- {action: go, then: end}",
        "10: flows.book.steps[0]: then says what comes after on_failure, and there is none",
    ),
    (
        "- {action: go, on_failure: [{say: x}], then: again}",
        "10: flows.book.steps[0]: would try for ever: 'then: again' needs a question in on_failure",
    ),
    (
        "- {id: ask, confirm: x, on_no: [{say: x}], then: aks}",
        "10: flows.book.steps[0]: no step has the id 'aks'; did you mean 'ask'?",
    ),
    ("- call: bok", "10: flows.book.steps[0]: no flow 'bok'; did you mean 'book'?"),
    ("- link: bok", "10: flows.book.steps[0]: no flow 'bok'; did you mean 'book'?"),
    ("- {call: book, gives: {dya: day}}", "10: flows.book.steps[0]: no slot 'dya'; did you mean 'day'?"),
    ("- {call: book, takes: {dya: day}}", "10: flows.book.steps[0]: no slot 'dya'; did you mean 'day'?"),
    ("- {id: a, say: x}\n- {id: a, say: x}", "11: flows.book.steps[1]: the id 'a' is here twice; first in line 10"),
    ("- {id: end, say: x}", "10: flows.book.steps[0]: no step can be called 'end': the word has a meaning of its own"),
    ("- {end: false}", "10: flows.book.steps[0].end: must be true, not false"),
    ("- while: day\n  steps: []", "11: flows.book.steps[0].steps: is empty: at least one is needed"),
    ("- while: day", "10: flows.book.steps[0]: needs 'steps'"),
    (
        "- while: dya is None\n  steps:\n    - collect: day",
        "10: flows.book.steps[0]: no slot 'dya'; did you mean 'day'?",
    ),
    (
        "- branch:\n    - if: seat == aisle\n      steps: [{say: x}]",
        "11: flows.book.steps[0].branch[0]: no slot 'aisle'; a text needs quotes",
    ),
    (
        "- branch:\n    - if: seat =\n      steps: [{say: x}]",
        "11: flows.book.steps[0].branch[0]: 'seat =' is no condition",
    ),
    (
        "- branch:\n    - if: len(seat)\n      steps: [{say: x}]",
        "11: flows.book.steps[0].branch[0]: 'len(seat)': only slots, values, and, or, not and comparisons are known",
    ),
    ("- branch:\n    - else: [{say: x}]", "11: flows.book.steps[0].branch[0]: a branch begins with an if"),
    (
        "- branch:\n    - {if: day, steps: [{say: x}]}\n    - else: [{say: x}]\n    - {if: seat, steps: [{say: x}]}",
        "12: flows.book.steps[0].branch[1]: else comes last, and once",
    ),
    ("- branch:\n    - when: day", "11: flows.book.steps[0].branch[0]: no case 'when'; there are if, else"),
    (
        "- branch:\n    - if: day\n      steps: [{say: x}]\n      else: [{say: x}]",
        "13: flows.book.steps[0].branch[0]: if and else are two cases: each needs an item of its own",
    ),
]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("amount > 500", "amount holds an amount with its currency: to compare it, give it a normaliser that makes it"),
        ('count > "5"', "count holds a number and is never '5'"),
        ("count == true", "count holds a number and is never true"),
        ("sure == 1", "sure holds true or false and is never 1"),
        ("day > 5", "day holds a text and is never 5"),
        ('seat == "isle"', "seat has no choice 'isle'; did you mean 'aisle'?"),
        ('seat in ["window", "isle"]', "seat has no choice 'isle'; did you mean 'aisle'?"),
        ("1 < count < -5 and sure == true and not amount", ""),
        ('seat == "aisle" or seat == "dontcare" or day is None', ""),
        ('free == "anything" and given > 5', ""),
    ],
)
def test_a_condition_that_never_holds_is_told(condition: str, expected: str) -> None:
    slots = {"amount": "money", "count": "number", "sure": "yes_no", "day": "date", "free": "number", "given": "text"}
    lines = ["version: 1", "slots:", *(f"  {name}: {{type: {kind}, prompt: x}}" for name, kind in slots.items())]
    lines += ["  seat: {type: choice, prompt: x, choices: [aisle, window]}", "flows:", "  a:", "    steps:"]
    lines += ["      - action: go", "        outputs: [free]", "      - set: {given: 5}", "      - branch:"]
    found = problems_of("\n".join([*lines, f"          - if: {condition}", "            steps: [{say: x}]"]))
    place = "17: flows.a.steps[2].branch[0]: "
    assert [line.startswith(place + expected) for line in found] == ([True] if expected else []), found


@pytest.mark.parametrize(("steps", "expected"), STEPS, ids=[steps for steps, _ in STEPS])
def test_a_wrong_step_is_told_with_its_line(steps: str, expected: str) -> None:
    indented = "\n".join(f"      {line}" for line in steps.splitlines())
    found = [line for line in problems_of(HEAD + indented) if ": warning: " not in line]
    assert found
    assert found[0].startswith(expected), found


# -- Slots and the file

FILES = [
    ("version: 2\n" + SAY, "1: version: must be 1, not 2"),
    ('version: "1"\n' + SAY, "1: version: must be 1, not '1'"),
    (SAY, "1: needs 'version: 1'"),
    ("version: 1", "1: needs 'flows'"),
    ("version: 1\nflows: {}", "2: flows: is empty: at least one is needed"),
    ("version: 1\nflows: [a]", "2: flows: must be a mapping, not a list"),
    ("version: 1\nflows:\n  a: {}", "3: flows.a: needs 'steps'"),
    ("version: 1\nflows:\n  a: {steps: []}", "3: flows.a.steps: is empty: at least one is needed"),
    ("version: 1\nflows:\n  a-b: {steps: [{say: x}]}", "3: flows.a-b: 'a-b' is no name: letters, digits and _, not"),
    (f"version: 1\n{SAY}\nslot: {{}}", "3: no key 'slot' here; did you mean 'slots'?"),
    (f"version: 1\n{SAY}\nmisses_max: 0", "3: misses_max: must be at least 1, not 0"),
    (f"version: 1\n{SAY}\ntime_zone: Vienna", "3: time_zone: no time zone 'Vienna'; did you mean 'Europe/Vienna'?"),
    (f"version: 1\n{SAY}\ntime_zone: ../passwd", "3: time_zone: no time zone '../passwd'; there is Europe/Vienna, for"),
    (
        f"version: 1\n{SAY}\ngives_up_by: crying",
        "3: gives_up_by: 'crying' is not known here; there are cancel, handoff",
    ),
    (f"version: 1\n{SAY}\npatterns: {{helpp: x}}", "3: patterns: no key 'helpp' here; did you mean 'help'?"),
    (f"version: 1\n{SAY}\npatterns: {{help: '{{flow}}'}}", "3: patterns.help: no slot 'flow'; did you mean 'flows'?"),
    (f"version: 1\n{SAY}\nversion: 1", "3: 'version' is here twice; first in line 1"),
    (f"version: 1\n{SAY}\nslots:\n  a: 5", "4: slots.a: must be a mapping, not 5"),
    (f"version: 1\n{SAY}\nslots:\n  a: {{prompt: x}}", "4: slots.a: needs 'type'"),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: dat}}",
        "4: slots.a.type: 'dat' is not known here; did you mean 'date'?",
    ),
    (f"version: 1\n{SAY}\nslots:\n  a: {{type: choice}}", "4: slots.a: type choice needs 'choices'"),
    (f"version: 1\n{SAY}\nslots:\n  a: {{type: choice, choices: [1]}}", "4: slots.a.choices[0]: must be a text, not 1"),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: choice, choices: [x, {{value: y, also: [X]}}]}}",
        "4: slots.a.choices: 'x' is here twice",
    ),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: date, choices: [x]}}",
        "4: slots.a.choices: belongs to type choice, not",
    ),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: date, reads_back: true}}",
        "4: slots.a.reads_back: belongs to type code",
    ),
    (f"version: 1\n{SAY}\nslots:\n  a: {{type: name, open: false}}", "4: slots.a.open: a list that is not open needs"),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: date, past: true, future: true}}",
        "4: slots.a.future: a day that lies in",
    ),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: text, future: true}}",
        "4: slots.a.future: belongs to type date or",
    ),
    (f"version: 1\n{SAY}\nslots:\n  a: {{type: time, hours: [9]}}", "4: slots.a.hours: must have 2 items, not 1"),
    (f"version: 1\n{SAY}\nslots:\n  a: {{type: time, hours: [20, 8]}}", "4: slots.a.hours: 20 to 8 are no hours of"),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: text, depends_on: [b]}}",
        "4: slots.a.depends_on: no slot 'b'; there is",
    ),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: text, depends_on: [b]}}\n  b: {{type: text, depends_on: [a]}}",
        "4: slots.a.depends_on: a circle: a depends on b depends on a",
    ),
    (f"version: 1\n{SAY}\nslots:\n  key: {{type: text}}", "4: slots.key: nothing can be called 'key' here"),
    (f"version: 1\n{SAY}\nslots:\n  from: {{type: text}}", "4: slots.from: nothing can be called 'from' here"),
    (
        f"version: 1\n{SAY}\nslots:\n  a: {{type: text, prompt: '{{b}}'}}",
        "4: slots.a.prompt: no slot 'b'; there is only",
    ),
    (f"version: 1\n{SAY}\nslots:\n  a: {{type: name, names: x.txt}}", "4: slots.a.names: there is no file beside this"),
    (
        "version: 1\nflows:\n  a:\n    examples: ['go {b}']\n    steps: [{say: x}]",
        "4: flows.a.examples: 'go {b}' has a",
    ),
]


@pytest.mark.parametrize(("text", "expected"), FILES, ids=[expected for _, expected in FILES])
def test_a_wrong_file_is_told_with_its_line(text: str, expected: str) -> None:
    found = problems_of(text)
    assert found
    assert found[0].startswith(expected), found


# -- What isn't a file of flows at all

BOMB = "a: &a [x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 8)}]\n" for before, name in zip("abcdefg", "bcdefgh", strict=True)
)
NOT_FLOWS = [
    ("", "1: empty: a file of flows has 'version: 1', slots and flows"),
    ("# nothing\n", "1: empty: a file of flows has 'version: 1', slots and flows"),
    ("just words", "1: not a mapping: a file of flows has 'version: 1', slots and flows"),
    ("- a\n- b", "1: not a mapping: a file of flows has 'version: 1', slots and flows"),
    (
        "version: 1\n\tflows: x",
        "2: not YAML: while scanning for the next token, found character '\\t' that cannot start",
    ),
    (
        "version: 1\nsay: Hi: you",
        "2: not YAML: mapping values are not allowed here (a text with ': ' in it needs quotes)",
    ),
    ("version: [1", "1: not YAML: "),
    ("version: 1\n---\nversion: 1", "2: not YAML: expected a single document in the stream"),
    ("a\x00b", "1: not YAML: the character 0 has no place in a text"),
    ('a: "\\U99999999"', "1: not YAML: an escape that stands for no character"),
    ("a: &a [*a]", "1: nested too deeply: more than 40 levels"),
    ("[" * 100_000, "1: nested too deeply: more than 40 levels"),
    (BOMB, "1: too large: more than 20,000 values, with its aliases"),
    ("- a\n" * 30_000, "20001: too large: more than 20,000 values"),
    ("a: " + "x" * 1_000_000, " too large: more than 1,000,000 characters"),
]


@pytest.mark.parametrize(("text", "expected"), NOT_FLOWS, ids=[expected for _, expected in NOT_FLOWS])
def test_what_is_no_file_of_flows_is_refused_in_one_line(text: str, expected: str) -> None:
    found = problems_of(text)
    assert len(found) == 1, found
    assert found[0].startswith(expected)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe\x00binary", "not a text file in UTF-8"),
        (b"x" * 1_000_001, "too large: more than 1,000,000 bytes"),
    ],
)
def test_a_file_that_is_no_text_is_refused_in_one_line(content: bytes, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(content)
    with pytest.raises(InvalidFlows) as caught:
        load_flows(file)
    assert str(caught.value) == f"{file}: {expected}"


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for file in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(DuologueError, match="directory"):
            load_flows(file)


def test_strange_tags_and_halves_of_characters_are_refused() -> None:
    assert problems_of(f"version: 1\n{SAY}\nslots: !!python/object:os.system {{}}") == [
        "3: the tag 'tag:yaml.org,2002:python/object:os.system' means nothing here"
    ]
    text = 'version: 1\nflows: {a: {steps: [{say: "\\uD800"}]}}'
    assert problems_of(text) == ["2: half a character in '?'"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("none.txt", "'none.txt' can't be read: No such file or directory"),
        ("../secret.txt", "'../secret.txt' is not beside this file"),
        ("/etc/passwd", "'/etc/passwd' is not beside this file"),
        ("empty.txt", "'empty.txt' has no names in it"),
        ("binary.txt", "'binary.txt' is not a text file in UTF-8"),
    ],
)
def test_a_list_of_names_that_cannot_be_read_is_told(names: str, expected: str, tmp_path: Path) -> None:
    folder = tmp_path / "flows"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("Paris", encoding="utf-8")
    (folder / "empty.txt").write_text("# nothing\n", encoding="utf-8")
    (folder / "binary.txt").write_bytes(b"\xff\xfe")
    file = folder / "f.yaml"
    file.write_text(f"version: 1\n{SAY}\nslots:\n  city: {{type: name, names: {names}}}", encoding="utf-8")
    with pytest.raises(InvalidFlows) as caught:
        load_flows(file)
    assert str(caught.value) == f"{file}:4: slots.city.names: {expected}"


# -- All at once, and warnings


def test_all_problems_are_told_at_once_from_top_to_bottom() -> None:
    found = problems_of(
        "version: 3\nslots:\n  day: {type: date, promt: When}\nflows:\n  a:\n    steps:\n"
        "      - collect: dya\n      - set: {day: {}}\n      - link: b"
    )
    assert [line.split(":")[0] for line in found] == ["1", "3", "7", "8", "9"]


def test_the_message_is_one_line_for_each_problem() -> None:
    with pytest.raises(InvalidFlows) as caught:
        parse_flows("version: 3\nflow: 5", "f.yaml")
    assert str(caught.value) == "\n".join(map(str, caught.value.problems))
    assert len(caught.value.problems) == 3


def test_no_more_problems_are_told_than_anybody_reads() -> None:
    steps = "\n".join("      - collect: nothing" for _ in range(300))
    with pytest.raises(InvalidFlows) as caught:
        parse_flows(f"version: 1\nflows:\n  a:\n    steps:\n{steps}", "f.yaml")
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[-1]) == (101, "and 200 more problems")


WARNINGS = [
    (
        "flows:\n  a:\n    steps:\n      - while: x > 3\n        steps: [{collect: x}]\n"
        "slots: {x: {type: number, prompt: x}}",
        "5: warning: flows.a.steps[0]: can never be left: what is filled is not asked for again, so set it to null "
        "first",
    ),
    (
        "flows:\n  a:\n    steps:\n      - while: x\n        steps: [{say: Hello}]\nslots: {x: {type: text}}",
        "5: warning: flows.a.steps[0]: can never be left: nothing in it asks, acts or changes its condition",
    ),
    (
        "flows:\n  a: {steps: [{say: x}]}\n  b: {hidden: true, steps: [{say: x}]}",
        "4: warning: flows.b: is never reached: hidden, and no flow calls it",
    ),
    (
        "flows:\n  a:\n    steps:\n      - end: Bye\n      - say: More",
        "6: warning: flows.a.steps[1]: is never reached: end before it leaves the flow",
    ),
    (
        "flows:\n  a: {steps: [{call: b}]}\n  b: {steps: [{call: a}]}",
        "3: warning: flows.a: a circle: a calls b calls a",
    ),
    (
        "flows:\n  a: {examples: [go], steps: [{say: x}]}\n  b: {examples: [Go], steps: [{say: x}]}",
        "4: warning: flows.b.examples: 'Go' is an example of 'a' as well",
    ),
]


@pytest.mark.parametrize(("text", "expected"), WARNINGS, ids=[expected for _, expected in WARNINGS])
def test_what_only_looks_wrong_is_a_warning(text: str, expected: str) -> None:
    assert problems_of(f"version: 1\n{text}") == [expected]


@pytest.mark.parametrize(
    ("condition", "body"),
    [
        ("x is None", "{collect: x}"),
        ("x > 3", "{set: {x: null}}, {collect: x}"),
        ("x", "{action: y}"),
        ("x", "{set: {x: null}}"),
        ("x", "{link: a}"),
        ("x", "{end: true}"),
        ("x", "{confirm: Sure}"),
    ],
)
def test_a_loop_that_can_be_left_is_fine(condition: str, body: str) -> None:
    head = "version: 1\nslots: {x: {type: number, prompt: x}}\n"
    assert problems_of(f"{head}flows: {{a: {{steps: [{{while: {condition}, steps: [{body}]}}]}}}}") == []


# -- The commands


def test_check_says_what_is_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(HEAD + "      - collect: day\n      - action: search", encoding="utf-8")
    done = CliRunner().invoke(app, ["flows", "check", str(file)])
    assert done.exit_code == 0
    told = " ".join(done.stdout.split())
    assert "1 flow, 4 slots flows book" in told
    assert "day (date)" in told
    assert "actions search" in told


def test_check_tells_every_problem_of_every_file(tmp_path: Path) -> None:
    good, bad, worse = tmp_path / "good.yaml", tmp_path / "bad.yaml", tmp_path / "worse.yaml"
    good.write_text(f"version: 1\n{SAY}", encoding="utf-8")
    bad.write_text(HEAD + "      - collect: orgin", encoding="utf-8")
    worse.write_text("", encoding="utf-8")
    done = CliRunner().invoke(app, ["flows", "check", str(good), str(bad), str(worse)])
    assert done.exit_code == 1
    assert f"{bad}:10: flows.book.steps[0]: no slot 'orgin'; did you mean 'origin'?" in done.stdout
    assert f"{worse}:1: empty" in done.stdout
    done = CliRunner().invoke(app, ["flows", "check", "--json", str(good), str(bad)])
    assert done.exit_code == 1
    first, second = json.loads(done.stdout)["files"]
    assert (first["valid"], first["flows"][0]["steps"], first["problems"]) == (True, ["say_1", "end"], [])
    assert (second["valid"], second["problems"][0]["line"], second["problems"][0]["level"]) == (False, 10, "error")


def test_the_schema_is_json() -> None:
    done = CliRunner().invoke(app, ["flows", "schema"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["properties"]["version"]["const"] == 1
