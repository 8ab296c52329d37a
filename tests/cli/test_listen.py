"""`duologue listen`: options that don't go together are refused before any model is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from duologue.cli.app import app
from duologue.core.errors import DuologueError


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), "name one recording, or use --labels FILE for a set of recordings"),
        (("call.wav", "--labels", "set.jsonl"), "name one recording, or use --labels FILE for a set of recordings"),
        (("--labels", "set.jsonl"), "--labels also needs --out FILE (where decisions are written) or --record FOLDER"),
        (("call.wav", "--profile", "loud"), "unknown profile 'loud': use one of immediate, confirm, words"),
        (("call.wav", "--model", "huge"), "unknown STT model 'huge': use tiny or base"),
        (
            ("call.wav", "--final-model", "huge"),
            "unknown STT model for final texts 'huge': use one of tiny, doubt, base",
        ),
        (("call.wav", "--policy", "psychic"), "psychic"),
    ],
)
def test_a_wrong_option_is_refused(options: tuple[str, ...], problem: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["listen", *options])
    assert isinstance(done.exception, DuologueError)
    assert problem in str(done.exception)
