"""A user's own flows, walked by random callers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.dialogue.events import FlowRequested, UserMessage
from duologue.dialogue.flow import Domain
from duologue.flows import load_flows
from duologue.lab.sim import flow_walks
from duologue.lab.sim.flow_walks import walk_flows
from duologue.lab.sim.random_dialogues import Dialogue

MORE = [pytest.param(name, 1_000, marks=pytest.mark.sweep) for name in ("flights", "table", "transfer", "support")]
EXAMPLES = Path(__file__).parents[3] / "examples"
FLOWS = """
version: 1
slots:
  people: {type: number, prompt: "For how many?"}
  name: {type: name, prompt: "What name?"}
  reason: {type: text, prompt: "Why so many?"}
  shoe_size: {type: number, prompt: "What size?"}
flows:
  book:
    description: book a table
    steps:
      - collect: people
      - branch:
          - if: people > 40
            steps: [collect: reason]
      - collect: name
      - branch:
          - if: people > 40 and people < 30
            steps: [collect: shoe_size]
      - action: book
"""


@pytest.fixture
def flows(tmp_path: Path) -> Path:
    path = tmp_path / "flows.yaml"
    path.write_text(FLOWS, encoding="utf-8")
    return path


@pytest.mark.req("D-12")
@pytest.mark.parametrize(
    ("name", "walks"), [("flights", 50), ("table", 300), ("transfer", 50), ("support", 150), *MORE]
)
def test_the_examples_break_no_law_and_every_step_is_reached(name: str, walks: int) -> None:
    found = walk_flows(load_flows(EXAMPLES / f"{name}.yaml"), walks)
    assert found.broken == []
    assert {flow: steps for flow, steps in found.unreached.items() if steps} == {}
    assert found.completed > 20
    assert found.actions > 20


def test_a_step_behind_a_number_is_reached_and_one_behind_a_contradiction_is_not(flows: Path) -> None:
    found = walk_flows(load_flows(flows), 60)
    assert found.unreached == {"book": ["collect_shoe_size"]}
    assert "collect_reason" in found.reached["book"]


def test_the_same_seed_walks_the_same_way(flows: Path) -> None:
    once, again = (walk_flows(load_flows(flows), 20, seed=5) for _ in range(2))
    assert (once.events, once.actions, once.reached) == (again.events, again.actions, again.reached)
    assert walk_flows(load_flows(flows), 20, seed=6).events != once.events


def test_the_command_reports_as_text_and_as_json(flows: Path) -> None:
    done = CliRunner().invoke(app, ["flows", "walk", str(flows), "--dialogues", "60"])
    assert done.exit_code == 0, done.output
    assert "book: 4 of 5 steps reached, never: collect_shoe_size" in done.stdout
    assert "no law was broken" in done.stdout
    shown = json.loads(CliRunner().invoke(app, ["flows", "walk", str(flows), "--dialogues", "9", "--json"]).stdout)
    assert shown["dialogues"] == 9
    assert shown["broken"] == []


def test_what_breaks_a_law_is_shown_by_its_shortest_dialogue(flows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Domain, seed: int, **__: object) -> Dialogue:
        said = [FlowRequested("book", 0), *(UserMessage("two", 0, "2026-03-04") for _ in range(9 - seed))]
        return Dialogue(seed, events=list(said), complaints=[("no slot is lost", "people is gone", len(said))])

    monkeypatch.setattr(flow_walks, "random_dialogue", broken)
    done = CliRunner().invoke(app, ["flows", "walk", str(flows), "--dialogues", "7"])
    assert done.exit_code == 1
    assert "no slot is lost: people is gone (seed 6, 7 times)" in done.stdout
    assert done.stdout.count('"two"') == 3
