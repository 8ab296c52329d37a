"""Oracles that are not installed are missed aloud."""

from __future__ import annotations

import importlib.util
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if importlib.util.find_spec("pipecat") is None:
        terminalreporter.write_line("oracles: Pipecat is not installed, its tests were skipped (make oracles)")
