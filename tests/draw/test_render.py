"""Rendering by name: the same bytes every time, and one clear line for an unknown name."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from duologue.core.errors import DuologueError
from duologue.draw import FORMATS, machine_mermaid, machine_svg, names, render

DIGEST = """
from hashlib import sha256
from duologue.draw import FORMATS, names, render
for name in names():
    for format in FORMATS:
        print(name, format, sha256(render(name, format).encode()).hexdigest())
"""


def test_the_same_bytes_come_out_under_any_hash_seed() -> None:
    command = [sys.executable, "-c", DIGEST]
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2718")]
    runs = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for env in seeds]
    first, second = (run.communicate()[0] for run in runs)
    assert first.count("\n") == len(names()) * len(FORMATS)
    assert first == second


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
