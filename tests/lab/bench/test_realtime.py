"""The bench of the Realtime model measures what it says; its numbers are for people, not for tests."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.lab.bench.realtime import BUDGETS


def test_the_bench_measures_every_number_that_has_a_budget() -> None:
    done = CliRunner().invoke(app, ["bench", "realtime", "--turns", "4", "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert all(result[budget.key] > 0 for budget in BUDGETS)
    assert set(result["within_budget"]) == {budget.key for budget in BUDGETS}
