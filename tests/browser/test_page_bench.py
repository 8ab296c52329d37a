"""`duologue bench page` measures the right thing. How fast it is, no test asks: that depends on the machine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from duologue.audio.frames import to_pcm
from duologue.audio.wav import write_wav
from duologue.core.settings import profile
from duologue.lab.bench.page import bench_page
from duologue.lab.bench.talk import Expected
from duologue.lab.recordings.listener import Listener
from duologue.turns.endpoint import CombinedEndpoint
from tests.browser import spoken


@pytest.mark.req("C-UI")
@pytest.mark.usefixtures("chromium", "one_at_a_time")
def test_a_recording_is_heard_answered_and_measured_in_the_page(tmp_path: Path, real_ears: Any) -> None:
    said = asyncio.run(spoken.sentence("London."))
    write_wav(tmp_path / "said.wav", to_pcm(said), spoken.RATE_HZ)
    row = Expected("said", tmp_path / "said.wav", said.size * 1000 // spoken.RATE_HZ, ())
    result = bench_page(Listener(real_ears, CombinedEndpoint(), profile("confirm")), [row, row], ("opus",))
    for one in result["recordings"]:
        assert one["page"]["heard_ms"] > 0
        assert one["panel_ms"] > 0
        assert one["line_ms"] is not None
        assert one["replayed_ms"] is not None
    assert result["transports"][0]["recordings"] == 2
