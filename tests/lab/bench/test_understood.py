"""How the bench of synthetic callers judges what the ears decided."""

from __future__ import annotations

import numpy as np

from duologue.lab.bench import understood as u
from duologue.lab.recordings.listener import Decision, ListenResult, TurnWords


def heard(*ends: Decision) -> ListenResult:
    return ListenResult(3_000, ends, (TurnWords(2_000, 1, "boston", True),))


def spoken(kind: str, pause: tuple[int, int] | None = None) -> u.SyntheticTurn:
    return u.SyntheticTurn("pico", kind, np.zeros(16, np.float32), 1_000, pause)


def test_the_wait_is_counted_from_the_end_of_the_voice_and_apart_if_the_brain_has_understood() -> None:
    found = u.UnderstoodTurns(True, [], [], [], 0, 0, 0)
    found = u.judge(found, spoken("answer"), heard(Decision(1_300, "end_of_turn", ("understood+3.0",))))
    found = u.judge(found, spoken("answer"), heard(Decision(2_000, "end_of_turn", ("comma-1.0",))))
    found = u.judge(found, spoken("answer"), heard(Decision(900, "noise")))
    data = u.to_json(found)
    assert (found.waits_ms, found.understood_ms, found.texts) == ([300, 1_000], [300], ["boston"])
    assert (data["turns"], data["understood"], data["missed"]) == (2, 1, 1)
    assert u.report([data])[0][-3:] == ("300 ms", "300 ms", "0 of 0")


def test_an_end_within_the_pause_is_a_cut_in() -> None:
    found = u.UnderstoodTurns(False, [], [], [], 0, 0, 0)
    found = u.judge(found, spoken("hold", (400, 900)), heard(Decision(899, "end_of_turn")))
    found = u.judge(found, spoken("hold", (400, 900)), heard(Decision(1_400, "end_of_turn")))
    assert (found.cut_ins, found.pauses, found.waits_ms) == (1, 2, [])
    assert u.report([u.to_json(found)])[0][-1] == "1 of 2"
