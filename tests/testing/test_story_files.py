"""Every story of a `*.stories.yaml` file is a test, and a failed one is reported with its line."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.testing.test_plugin import run_pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def copied(folder: Path) -> Path:
    for name in ("flights.yaml", "flights.py", "cities.txt", "flights.stories.yaml"):
        shutil.copy(EXAMPLES / name, folder / name)
    return folder / "flights.stories.yaml"


def test_the_stories_of_an_example_pass(tmp_path: Path) -> None:
    stories = copied(tmp_path).read_text().count("- story:")
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{stories} passed" in done.stdout


def test_a_failed_story_names_its_line_without_a_traceback(tmp_path: Path) -> None:
    file = copied(tmp_path)
    wanted = "says: Where would you like to fly from?"
    line = 1 + file.read_text().splitlines().index(f"        {wanted}")
    file.write_text(file.read_text().replace(wanted, "says: Who are you?", 1))
    done = run_pytest(tmp_path)
    assert done.returncode == 1
    assert any(f"flights.stories.yaml:{near}: " in done.stdout for near in (line - 2, line - 1, line)), done.stdout
    assert "Traceback" not in done.stdout


def test_an_invalid_file_is_one_problem_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.stories.yaml").write_text("flows: nowhere.yaml\nstories: 5\n")
    done = run_pytest(tmp_path)
    assert done.returncode != 0
    assert "a.stories.yaml" in done.stdout
    assert "Traceback" not in done.stdout
