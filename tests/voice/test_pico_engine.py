"""The helper process of the Pico voice, without a process: messages in, answers out."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from duologue.voice import pico_engine
from duologue.voice.pico_engine import AMOUNT, HEADER, LEVELS, EngineFailed, PicoEngine, serve
from tests.limits import WAIT_S
from tests.needs import needs_model

PLAIN = LEVELS.pack(100, 100, 55)
US = b"en-US_ta.bin\0en-US_lh0_sg.bin\0"
GERMAN = b"de-DE_ta.bin\0de-DE_gl0_sg.bin\0"
EVERYTHING = (b"M", AMOUNT.pack(10_000_000))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[PicoEngine]:
    folder = needs_model("svox-pico")
    monkeypatch.chdir(folder / "lang")
    engine = PicoEngine(str(folder / "libsvoxpico.so"))
    yield engine
    engine.close()


def ask(engine: PicoEngine, *messages: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """The answers to these messages, as letters with their content."""
    source = io.BytesIO(b"".join(HEADER.pack(letter, len(payload)) + payload for letter, payload in messages))
    sink = io.BytesIO()
    serve(engine, source, sink)
    answers, data = [], sink.getvalue()
    while data:
        letter, length = HEADER.unpack_from(data)
        answers.append((letter, data[HEADER.size : HEADER.size + length]))
        data = data[HEADER.size + length :]
    return answers


def test_a_text_becomes_sound_piece_by_piece(engine: PicoEngine) -> None:
    more = (b"M", AMOUNT.pack(3_200))
    answers = ask(engine, (b"S", PLAIN + US + b"Good morning."), *[more] * 30)
    assert [letter for letter, _ in answers[:2]] == [b"K", b"D"]
    end = next(number for number, (letter, _) in enumerate(answers) if letter == b"E")
    assert all(len(pcm) >= 3_200 for letter, pcm in answers[1:end])
    assert 16_000 < sum(len(pcm) for _, pcm in answers[1 : end + 1]) < 96_000, "a second or two"
    assert answers[end + 1] == (b"E", b""), "asking for more after the end is harmless"


def test_the_same_text_gives_the_same_sound_whatever_was_said_before(engine: PicoEngine) -> None:
    morning = (b"S", PLAIN + US + b"Good morning.")
    first = ask(engine, morning, EVERYTHING)[-1]
    stopped = ask(engine, (b"S", PLAIN + GERMAN + b"Ein langer Satz, der endet."), (b"M", AMOUNT.pack(10)))
    assert stopped[-1][0] == b"D"
    assert ask(engine, morning, EVERYTHING)[-1] == first


def test_every_voice_can_be_loaded_after_another(engine: PicoEngine) -> None:
    for file in sorted(Path().glob("*_ta.bin")) * 20:
        (sound,) = Path().glob(f"{file.name.removesuffix('ta.bin')}*_sg.bin")
        answers = ask(engine, (b"S", PLAIN + f"{file}\0{sound}\0Ok.".encode()), (b"M", AMOUNT.pack(1)))
        assert [letter for letter, _ in answers] == [b"K", b"D"]


def test_a_failure_is_an_answer_and_the_next_message_is_served(engine: PicoEngine) -> None:
    answers = ask(engine, (b"S", PLAIN + b"none.bin\0none.bin\0a"), EVERYTHING, (b"S", PLAIN + US + b"a"), EVERYTHING)
    assert [letter for letter, _ in answers] == [b"F", b"E", b"K", b"E"]
    assert int(answers[0][1]) < 0
    assert answers[1][1] == b""
    assert answers[3][1] != b""


def test_a_voice_that_is_not_there_is_an_error_with_a_code(engine: PicoEngine) -> None:
    with pytest.raises(EngineFailed, match="-"):
        engine.begin(b"a", [b"none.bin"], 100, 100, 55)


def test_the_process_needs_no_package_and_ends_with_its_input() -> None:
    folder = needs_model("svox-pico")
    command = [sys.executable, "-I", "-S", pico_engine.__file__, str(folder / "libsvoxpico.so"), str(folder / "lang")]
    done = subprocess.run(command, input=b"", capture_output=True, check=False, timeout=WAIT_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
