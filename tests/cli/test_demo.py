"""The demo in the terminal: it shows every scene, replays its journal, and pauses only on a terminal."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any, TextIO

import pytest
from rich.console import Console

from duologue.cli.demo import run_demo
from duologue.cli.terminal_style import write_ms
from duologue.lab.sim.demo_call import SCRIPTS
from duologue.lab.sim.stage import Stage
from duologue.replay.journal import InvalidJournal, read_journal, replay


@pytest.fixture(autouse=True)
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No test sleeps; what would have been slept is noted."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


def run(tmp_path: Path, width: int = 100, fast: bool = False, **kwargs: Any) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False, **kwargs)
    run_demo(console, tmp_path / "demo.journal", fast)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [100, 72])
def test_every_scene_is_shown_and_every_line_fits(tmp_path: Path, width: int) -> None:
    text = run(tmp_path, width)
    flat = " ".join(text.split())
    for title, caption, _ in SCRIPTS:
        assert title in flat
        assert caption in flat
    assert "user makes a sound → playback held" in flat
    assert "discarded as noise, agent speaks" in flat
    assert max(len(line) for line in text.splitlines()) <= width


def test_the_journal_is_written_replayed_and_its_digests_counted(tmp_path: Path) -> None:
    text = run(tmp_path)
    with (tmp_path / "demo.journal").open(encoding="utf-8") as lines:
        records = list(replay(read_journal(lines)))
    assert f"All {len(records)} digests agree" in text
    assert f"{write_ms(records[-1].event.at)} of conversation took" in text
    assert str(tmp_path / "demo.journal") in "".join(line.strip() for line in text.splitlines())


def test_a_journal_that_does_not_replay_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Stage.write_journal

    def write_with_a_wrong_digest(stage: Stage, out: TextIO) -> None:
        draft = io.StringIO()
        write(stage, draft)
        lines = draft.getvalue().splitlines(keepends=True)
        lines[50] = lines[50].replace('"digest":"', '"digest":"0')
        out.writelines(lines)

    monkeypatch.setattr(Stage, "write_journal", write_with_a_wrong_digest)
    console = Console(file=io.StringIO(), width=100)
    with pytest.raises(InvalidJournal, match="line 51"):
        run_demo(console, tmp_path / "demo.journal", fast=True)
    assert isinstance(console.file, io.StringIO)
    assert "agree" not in console.file.getvalue()


def test_it_pauses_between_scenes_only_on_a_terminal(tmp_path: Path, naps: list[float]) -> None:
    run(tmp_path)
    run(tmp_path, fast=True, force_terminal=True)
    assert naps == []
    run(tmp_path, force_terminal=True)
    assert len(naps) == len(SCRIPTS)
