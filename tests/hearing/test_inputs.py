"""Inputs are values."""

from __future__ import annotations

from duologue.hearing import inputs as inp
from duologue.ports.ears import SpeechBegan


def test_inputs_with_the_same_content_are_equal_and_can_be_hashed() -> None:
    one, other = inp.Reported(5, SpeechBegan(1)), inp.Reported(5, SpeechBegan(1))
    assert one == other
    assert len({one, other, inp.Woke(5), inp.EarsStopped(5)}) == 3
