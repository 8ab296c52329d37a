"""Flow charts for Mermaid follow the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError
from duologue.flows import FlowFile, read_text
from duologue.flows.drawing import arrows_from, draw_flows, reached

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = [ROOT / "examples" / f"{name}.yaml" for name in ("flights", "table", "transfer", "support")]
SMALL = """\
version: 1
slots:
  amount: {type: number, prompt: "How \\"much\\" <now>?"}
flows:
  pay:
    steps:
      - collect: amount
      - while: amount > 10
        steps: [{set: {amount: null}}, {collect: amount}]
      - confirm: Send {amount}?
        on_no: [{set: {amount: null}}, {collect: amount}]
      - action: send
        on_failure: [{say: Sorry.}]
      - link: other
  other: {description: something else, steps: [{say: Hello!}]}
"""


def small() -> FlowFile:
    return read_text(SMALL, "small.yaml")


def test_a_mermaid_chart_follows_the_program() -> None:
    drawn = draw_flows(small(), "pay")
    lines = [line.strip() for line in drawn.splitlines()]
    assert lines[:4] == ["---", 'title: "pay"', "---", "flowchart TD"]
    assert 'n0_1{"amount #62; 10"}' in lines
    assert 'n0_5{{"confirm<br/>Send #123;amount#125;?"}}' in lines
    for arrow in ('n0_1 -->|"yes"| n0_2', 'n0_1 -->|"no"| n0_5', "n0_3 --> n0_1", 'n0_5 -->|"no"| n0_7'):
        assert arrow in lines
    assert 'n0_10 -->|"fails"| n0_12' in lines
    assert 'n0_14(["link other"])' in lines


def test_jumps_and_what_is_never_reached_are_not_drawn() -> None:
    flow = small().domain.flows["pay"]
    assert len(flow.program) - 1 not in reached(flow), "the end behind a link"
    drawn = {arrow.target for place in reached(flow) for arrow in arrows_from(flow, place)}
    assert drawn <= set(reached(flow))


def test_all_flows_in_one_mermaid_chart_are_framed_and_joined() -> None:
    drawn = draw_flows(small())
    assert drawn.count("subgraph") == 2
    assert "n0_14 -.-> flow1" in drawn


def test_mermaids_special_characters_are_escaped() -> None:
    for label in re.findall(r'"([^"]*)"', draw_flows(small())):
        assert not set(label.replace("<br/>", "")) & set('<>{}|"')


def test_unknown_names_are_reported() -> None:
    with pytest.raises(DuologueError, match="unknown flow 'pya'; did you mean 'pay'"):
        draw_flows(small(), "pya")
    with pytest.raises(DuologueError, match="unknown format 'png'; known: mermaid, svg"):
        draw_flows(small(), format="png")


def test_the_command_draws_to_a_file_or_to_the_terminal(tmp_path: Path) -> None:
    file, out = str(EXAMPLES[0]), tmp_path / "flights.svg"
    shown = CliRunner().invoke(app, ["flows", "draw", file])
    assert shown.exit_code == 0
    assert shown.stdout.startswith("---\ntitle")
    done = CliRunner().invoke(
        app, ["flows", "draw", file, "--flow", "book_flight", "--format", "svg", "--out", str(out)]
    )
    assert (done.exit_code, done.stdout) == (0, "")
    assert out.read_text(encoding="utf-8").startswith("<svg")
    lost = CliRunner().invoke(app, ["flows", "draw", file, "--out", str(tmp_path / "none" / "x.svg")])
    assert isinstance(lost.exception, DuologueError)
