"""Every tool can at least be loaded: names that have moved are noticed here, not by whoever needs the tool."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

TOOLS = sorted((Path(__file__).parent.parent.parent / "tools").glob("*.py"))


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_a_tool_can_be_loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(path.parent))
    spec = importlib.util.spec_from_file_location(f"tool_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as missing:  # some fit numbers with libraries that nobody else needs
        if str(missing.name).startswith("duologue"):
            raise
        pytest.skip(f"needs {missing.name}")
