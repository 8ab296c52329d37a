"""Rendering by name: the same bytes every time, and one clear line for an unknown name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from duologue.core.errors import DuologueError
from duologue.draw import FORMATS, machine_mermaid, machine_svg, names, render

SMALL = ("user", "voice", "jobs", "link", "orchestrator", "phone")
RENDER = f"""
from pathlib import Path
from sys import argv
from duologue.draw import FORMATS, render
for name in {SMALL}:
    for format in FORMATS:
        Path(argv[1], name + "." + format).write_text(render(name, format), encoding="utf-8")
"""


def test_the_same_bytes_come_out_under_any_hash_seed(tmp_path: Path) -> None:
    """The drawings in docs/ are compared in every run, each with a random seed; here is a seed that is known."""
    environment = {**os.environ, "PYTHONHASHSEED": "2718"}
    subprocess.run([sys.executable, "-c", RENDER, str(tmp_path)], env=environment, check=True)
    for name in SMALL:
        for form in FORMATS:
            assert (tmp_path / f"{name}.{form}").read_text(encoding="utf-8") == render(name, form), name


def test_no_name_draws_the_whole_machine() -> None:
    assert render(None, "svg") == machine_svg()
    assert render(None, "mermaid") == render("machine", "mermaid") == machine_mermaid()


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DuologueError) as caught:
        render("nonsense", "svg")
    message = str(caught.value)
    assert "\n" not in message
    assert all(name in message for name in ("nonsense", *names()))


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DuologueError) as caught:
        render(None, "gif")
    message = str(caught.value)
    assert "\n" not in message
    assert all(name in message for name in ("gif", *FORMATS))
