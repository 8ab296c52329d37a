"""Chromium is found where the environment says, and only if it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.lab.bench.chromium import find_chromium


def test_the_environment_names_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "browser"
    named.touch()
    monkeypatch.setenv("DUOLOGUE_CHROMIUM", str(named))
    assert find_chromium() == str(named)


def test_a_browser_that_is_not_there_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOLOGUE_CHROMIUM", str(tmp_path / "none"))
    assert find_chromium() != str(tmp_path / "none")


def test_the_search_path_is_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "chromium"
    program.touch(0o755)
    monkeypatch.delenv("DUOLOGUE_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    usual = Path("/usr/bin/chromium")
    assert find_chromium() == str(usual if usual.exists() else program)
