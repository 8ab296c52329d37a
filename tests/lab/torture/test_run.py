"""The plan and the result of a torture run; test_short_runs runs some."""

from __future__ import annotations

import pytest

from duologue.core.errors import DuologueError
from duologue.lab.torture.run import Run, TorturePlan
from duologue.lab.torture.verdict import Finding


@pytest.mark.parametrize(
    ("plan", "command"),
    [
        (TorturePlan(), "duologue torture --nodes 3 --conversations 50 --seed 7 --minutes 2"),
        (
            TorturePlan(nodes=1, conversations=4, seed=11, seconds=15, store="sqlite"),
            "duologue torture --nodes 1 --conversations 4 --seed 11 --minutes 0.25 --store sqlite",
        ),
    ],
)
def test_a_plan_knows_the_command_that_repeats_it(plan: TorturePlan, command: str) -> None:
    assert plan.command == command


def test_the_command_does_not_show_the_password_of_a_store() -> None:
    assert "s3cret" not in TorturePlan(store="postgresql://root:s3cret@host/db").command


@pytest.mark.parametrize("nodes", [0, 13])
def test_a_plan_has_from_one_to_twelve_nodes(nodes: int) -> None:
    with pytest.raises(DuologueError, match=f"--nodes must be from 1 to 12, not {nodes}"):
        TorturePlan(nodes=nodes)


def test_a_file_is_for_one_node() -> None:
    with pytest.raises(DuologueError, match="use --nodes 1 with --store sqlite"):
        TorturePlan(nodes=2, store="sqlite")


def test_a_run_holds_if_nothing_was_found() -> None:
    assert Run(TorturePlan(), {}, []).holds
    assert not Run(TorturePlan(), {}, [Finding("stuck", "c", "no answer")]).holds
