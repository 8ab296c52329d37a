"""The command line as a whole: results on standard output, a problem in one line with exit code 1."""

from __future__ import annotations

import pytest

from tests.cli.command_line import run


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("check", "--profile", "loud"), "unknown profile 'loud': use one of immediate, confirm, words"),
        (("diagram", "--view", "nothing"), "nothing"),
        (("diagram", "--format", "png"), "png"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(args: tuple[str, ...], says: str) -> None:
    done = run(*args)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr
