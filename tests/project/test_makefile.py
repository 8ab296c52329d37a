"""The Makefile and `make test-pythons`, with scripts in place of the programs that they start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs_program_in_path

ROOT = Path(__file__).parents[2]
# A Python that says that it is 3.8.
OLD_PYTHON = f"""
[ "$1" = --version ] && echo "Python 3.8.1" && exit 0
exec {sys.executable} -c 'import sys; sys.version_info = (3, 8, 1); exec(sys.argv[1])' "$2"
"""
# What `make test` does for these tests: it notes the Python, and fails for one of them.
MAKE = 'echo "$@" >> "$NOTES"\ncase "$*" in *"$FAILS"*) exit 2;; esac\n'


def write_program(path: Path, code: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{code}", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the files of a clone that `make` reads before it installs anything."""
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = needs_program_in_path("make", "apt install make")
    given = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTHON"))}
    return subprocess.run([program, *arguments], cwd=clone, env=given, capture_output=True, text=True, check=False)


# -- make


@pytest.mark.parametrize("target", ["demo", "test"])
def test_an_old_python_is_refused_with_what_to_type(clone: Path, target: str) -> None:
    old = write_program(clone / "programs" / "python3.8", OLD_PYTHON)
    done = make(clone, target, f"PYTHON={old}")
    assert done.returncode == 2
    assert done.stdout.splitlines()[-1] == (
        f"Duologue needs Python 3.11 or newer; {old} is Python 3.8.1. Try: make {target} PYTHON=python3.11"
    )
    assert not list(clone.glob(".venv*"))


def test_the_demo_is_served_on_the_port_that_is_given(clone: Path) -> None:
    assert "duologue serve --open --port 8765\n" in make(clone, "--dry-run", "demo").stdout
    assert "duologue serve --open --port 9123\n" in make(clone, "--dry-run", "demo", "PORT=9123").stdout


# -- make test-pythons


class Pythons:
    """`tools/test_pythons.sh` on a machine that has only the Pythons that are made here."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone
        self.notes = clone / "notes"
        self.programs = clone / "programs"
        self.programs.mkdir()
        (clone / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "test_pythons.sh", clone / "tools")
        for name in ("sh", "dirname"):
            found = needs_program_in_path(name, f"install {name}")
            (self.programs / name).symlink_to(found)
        write_program(self.programs / "make", MAKE)

    def test(self, fails: str = "no Python fails") -> subprocess.CompletedProcess[str]:
        env = {"PATH": str(self.programs), "HOME": str(self.clone), "NOTES": str(self.notes), "FAILS": fails}
        command = ["sh", str(self.clone / "tools" / "test_pythons.sh")]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    def tested(self) -> list[str]:
        return self.notes.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def pythons(clone: Path) -> Pythons:
    return Pythons(clone)


def test_every_python_that_is_installed_is_tested(pythons: Pythons) -> None:
    write_program(pythons.programs / "python3.11", "exit 0\n")
    in_pyenv = write_program(pythons.clone / ".pyenv" / "versions" / "3.13.1" / "bin" / "python3.13", "exit 0\n")
    done = pythons.test()
    assert done.returncode == 0
    assert pythons.tested() == ["test PYTHON=python3.11", f"test PYTHON={in_pyenv}"]
    assert "== python3.12 is not installed: skipped" in done.stdout
    assert done.stdout.splitlines()[-1] == "== passed: python3.11 python3.13"


def test_after_a_failure_the_other_pythons_are_tested_and_the_exit_code_is_1(pythons: Pythons) -> None:
    for name in ("python3.11", "python3.12", "python3.13"):
        write_program(pythons.programs / name, "exit 0\n")
    done = pythons.test(fails="python3.11")
    assert done.returncode == 1
    assert len(pythons.tested()) == 3
    assert done.stdout.splitlines()[-1] == "== failed: python3.11"


def test_without_any_python_the_exit_code_is_1(pythons: Pythons) -> None:
    done = pythons.test()
    assert done.returncode == 1
    assert "nothing was tested" in done.stdout
