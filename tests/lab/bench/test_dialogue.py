"""The bench of task dialogues measures what it says; its numbers are for people, not for tests."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.dialogue.english import Direct, SlotKind, read
from duologue.lab.bench.dialogue import BUDGETS, REPLIES, TODAY, plain_replies


def test_the_bench_measures_every_number_that_has_a_budget() -> None:
    done = CliRunner().invoke(app, ["bench", "dialogue", "--dialogues", "2", "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert all(result[budget.key] > 0 for budget in BUDGETS)
    assert set(result["within_budget"]) == {budget.key for budget in BUDGETS}


def test_what_it_times_is_understood() -> None:
    assert len(list(plain_replies())) == sum(map(len, REPLIES.values()))
    for asked, said in plain_replies():
        assert isinstance(read(asked, said, TODAY), Direct), said
    assert set(REPLIES) == set(SlotKind) - {SlotKind.TEXT, SlotKind.LIST}
