"""The command `duologue` in this process: as a process of its own, each run would import everything again.

`test_entry.py` and `test_serve.py` start processes.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from duologue.cli.entry import main


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def run(*args: str | Path, stdin: str = "", env: dict[str, str] | None = None) -> Done:
    """Run the command with these arguments, this input and these additions to the environment."""
    out, err = _stream(), _stream()
    with (
        mock.patch.object(sys, "argv", ["duologue", *map(str, args)]),
        mock.patch.object(sys, "stdin", _stream(stdin)),
        mock.patch.dict(os.environ, env or {}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = _exit_code()
    return Done(code, _written(out), _written(err))


def _exit_code() -> int:
    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, str):  # what Python does with it when a process ends
            sys.stderr.write(f"{end.code}\n")
            return 1
        return end.code or 0
    return 0


def _stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw = stream.buffer
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode()
