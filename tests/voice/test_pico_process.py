"""The helper processes of the Pico voice: they stop when asked, and a crash or a hang is survived."""

from __future__ import annotations

import os
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from duologue.core.leaves import ErrorClass
from duologue.voice import pico_process
from duologue.voice.pico_process import ENGINES_MAX, PIECE_MS, RATE_HZ, Engines, Levels, PicoFailed, PicoProcess
from tests.limits import WAIT_S
from tests.needs import needs_model

US = "en-US_ta.bin\0en-US_lh0_sg.bin"
PLAIN = Levels(82, 100, 55)
LONG = "and then we went on along the river until the evening came " * 3


@pytest.fixture
def process() -> PicoProcess:
    return PicoProcess(needs_model("svox-pico"))


def say(process: PicoProcess, text: str = "Good morning.") -> int:
    """How many milliseconds of sound a text has."""
    pieces: list[bytes] = []

    def take(pcm: bytes) -> bool:
        pieces.append(pcm)
        return True

    process.speak(text, US, PLAIN, take)
    return sum(map(len, pieces)) * 1000 // (RATE_HZ * 2)


def test_a_text_is_spoken_by_a_process_that_stays(process: PicoProcess) -> None:
    assert 500 < say(process) < 3_000
    assert say(process, LONG) > 5_000
    assert process.starts == 1


def test_a_reader_that_stops_gets_one_piece_and_no_more_is_made(process: PicoProcess) -> None:
    pieces: list[bytes] = []
    process.speak(LONG, US, PLAIN, lambda pcm: bool(pieces.append(pcm)))
    assert len(pieces) == 1
    assert len(pieces[0]) <= RATE_HZ * 2 * PIECE_MS // 1000
    assert say(process) < 3_000, "the next text isn't the rest of the last"


def test_a_process_that_died_between_two_sentences_is_replaced(process: PicoProcess) -> None:
    say(process)
    process.kill()
    assert say(process) > 500
    assert process.starts == 2


def test_a_process_that_dies_in_a_sentence_costs_this_sentence_only(process: PicoProcess) -> None:
    def take(pcm: bytes) -> bool:
        process.kill()
        return True

    with pytest.raises(PicoFailed, match="the Pico engine died and will be started again") as caught:
        process.speak(LONG, US, PLAIN, take)
    assert caught.value.error is ErrorClass.SERVER_ERROR
    assert say(process) > 500


def helper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> PicoProcess:
    """A process that runs this code instead of the engine."""
    script = tmp_path / "engine.py"
    script.write_text(textwrap.dedent(code), encoding="utf-8")
    monkeypatch.setattr(pico_process.pico_engine, "__file__", str(script))
    (tmp_path / "libsvoxpico.so").touch()
    return PicoProcess(tmp_path)


def test_a_process_that_hangs_can_be_ended_from_another_thread(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    process = helper(monkeypatch, tmp_path, "import time; time.sleep(1000)")
    timer = threading.Timer(0.2, process.kill)
    timer.start()
    with pytest.raises(PicoFailed, match="died"):
        say(process)
    timer.join(WAIT_S)


@pytest.mark.parametrize("code", ["1 / 0", "import os; os.abort()", "import sys; sys.stdout.write('nonsense')"])
def test_a_process_that_makes_no_sense_is_a_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    with pytest.raises(PicoFailed):
        say(helper(monkeypatch, tmp_path, code))


def test_a_failure_of_the_engine_names_its_code_and_no_text(process: PicoProcess) -> None:
    with pytest.raises(PicoFailed, match=r"the Pico engine failed \(code -\d+\)"):
        process.speak("Secret.", "none.bin\0none.bin", PLAIN, lambda _: True)
    assert say(process) > 500


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions")
def test_an_interrupt_in_the_terminal_does_not_reach_the_engine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    answers = "import os; c = b'%d' % os.getpgid(0); os.write(1, b'F' + len(c).to_bytes(4, 'little') + c)"
    code = f"{answers}; os.read(0, 1)"  # it reads the request, or sending that would fail first
    with pytest.raises(PicoFailed, match="code") as caught:
        say(helper(monkeypatch, tmp_path, code))
    assert f"code {os.getpgid(0)})" not in str(caught.value), "a terminal interrupts a whole group of processes"


def test_each_thread_has_an_engine_of_its_own_and_there_are_not_too_many() -> None:
    engines = Engines(Path("unused"))
    mine = {engines.threads.submit(engines.mine).result(WAIT_S) for _ in range(20)}
    assert 1 <= len(mine) <= ENGINES_MAX
    assert engines.mine() is engines.mine()
