"""Wrong settings are named, all of them at once."""

from __future__ import annotations

import pytest

from duologue.brains.gemini.settings import GeminiSettings


def test_one_error_names_every_problem() -> None:
    with pytest.raises(ValueError, match=r"connect_ms_max .* ping_ms .* voice"):
        GeminiSettings(connect_ms_max=0, ping_ms=1.5, voice="")  # type: ignore[arg-type]
    assert GeminiSettings().voice == "Puck"
