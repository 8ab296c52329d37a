"""How waits are counted from recordings, and what an early request costs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from duologue.audio.frames import to_pcm
from duologue.audio.wav import write_wav
from duologue.core.settings import profile
from duologue.ears.scripted import ScriptedEars
from duologue.lab.bench.talk import Expected, Talker, judge, measure, read_expected, report
from duologue.lab.recordings.listener import Decision
from duologue.turns.endpoint import FixedSilence

END_MS = 2_000
ROW = Expected("one", Path("one.wav"), END_MS, ((0, 1_850),))


def said(*decisions: tuple[int, str]) -> tuple[Decision, ...]:
    return tuple(Decision(at, kind) for at, kind in decisions)


def test_the_wait_is_counted_from_the_end_of_the_speech_to_the_first_sound() -> None:
    assert judge(ROW, said((2_400, "end_of_turn"), (2_700, "speaks"))).wait_ms == 700


def test_an_answer_in_a_pause_is_a_cut_in_and_no_answer_to_the_end() -> None:
    talked = judge(ROW, said((1_500, "speaks"), (2_900, "speaks")))
    assert talked.is_cut_in
    assert talked.wait_ms == 900


def test_an_answer_that_never_comes_is_counted_as_such() -> None:
    assert judge(ROW, said((2_400, "end_of_turn"))).wait_ms is None


def test_early_requests_are_counted() -> None:
    assert judge(ROW, said((1_900, "asks_early"), (2_200, "asks_early"), (2_700, "speaks"))).early == 2


def test_only_recordings_in_which_the_agent_is_silent_and_a_turn_ends_are_played(tmp_path: Path) -> None:
    turn = {"kind": "end_of_turn", "at_ms": 900}
    rows = [
        {
            "id": "a",
            "wav": "a.wav",
            "expected": [turn],
            "forbidden": [{"kind": "end_of_turn", "from_ms": 1, "to_ms": 2}],
        },
        {"id": "b", "wav": "b.wav", "agent_wav": "x.wav", "expected": [turn], "forbidden": []},
        {"id": "c", "wav": "c.wav", "expected": [], "forbidden": []},
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert read_expected(tmp_path / "labels.jsonl") == [Expected("a", tmp_path / "a.wav", 900, ((1, 2),))]


@pytest.mark.parametrize("speculation", ["off", "cautious"])
def test_a_recording_without_a_voice_is_not_answered(tmp_path: Path, speculation: str) -> None:
    silence = np.zeros(16_000, np.float32)
    write_wav(tmp_path / "one.wav", to_pcm(silence), 16_000)
    row = Expected("one", tmp_path / "one.wav", 500, ())
    talker = Talker(ScriptedEars(), FixedSilence(), profile("confirm"), 350, 150, speculation)
    result = measure(talker, [row])
    assert (result["unanswered"], result["requests_per_turn"], result["wait_ms_p50"]) == (1, 0, None)
    assert report([result])[0][1] == speculation
