"""Settings of a Realtime session are checked when they are created."""

from __future__ import annotations

import pytest

from duologue.brains.realtime import RealtimeSettings


def test_all_wrong_settings_are_reported_together() -> None:
    with pytest.raises(ValueError, match=r"turn_detection must be one of.*; .*ping_ms must be whole"):
        RealtimeSettings(turn_detection="psychic", ping_ms=0)  # type: ignore[arg-type]
