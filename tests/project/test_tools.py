"""Every tool can be loaded, so a tool that uses an old name fails here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

TOOLS = sorted((Path(__file__).parent.parent.parent / "tools").glob("*.py"))
FITTING = [f"sklearn{part}" for part in ("", ".decomposition", ".linear_model", ".metrics", ".preprocessing")]
"""Only the tool that fits numbers uses scikit-learn, so a stand-in takes its place here."""


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_a_tool_can_be_loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(path.parent))
    for name in FITTING:
        monkeypatch.setitem(sys.modules, name, MagicMock())
    spec = importlib.util.spec_from_file_location(f"tool_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
