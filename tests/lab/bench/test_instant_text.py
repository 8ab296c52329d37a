"""The scripted STT says the same at once, whatever it hears."""

from __future__ import annotations

import numpy as np

from duologue.lab.bench.instant_text import SAID, InstantText


def test_everything_is_the_same_text() -> None:
    stt = InstantText()
    stt.load()
    said = stt.transcribe(np.zeros(16_000, np.float32))
    assert said.text == SAID
    assert [word.text for word in said.words] == SAID.split()
