"""What `duologue bench page` needs; tests/browser measures with a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.core.errors import DuologueError
from duologue.core.settings import profile
from duologue.ears.scripted import ScriptedEars
from duologue.lab.recordings.listener import Listener
from duologue.turns.endpoint import FixedSilence
from tests.needs import needs_package


@pytest.fixture
def bench() -> Any:
    needs_package("playwright", "pip install 'duologue[dev]'")
    from duologue.lab.bench import page

    return page


def test_without_a_browser_it_says_what_to_do(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "find_chromium", lambda: "")
    with pytest.raises(DuologueError, match="install it, or set DUOLOGUE_CHROMIUM"):
        bench.bench_page(Listener(ScriptedEars(), FixedSilence(), profile("confirm")), [])
