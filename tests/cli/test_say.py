"""`duologue say`: a WAV file and the times of its words; a problem is one line."""

from __future__ import annotations

import json
import wave
from pathlib import Path

import pytest

from duologue.models.added import add_voice
from duologue.models.cache import cache_folder
from tests.cli.command_line import Done
from tests.cli.command_line import run as run_command
from tests.needs import needs_model
from tests.voice.onnx_by_hand import piper_model


@pytest.fixture
def _espeak() -> None:
    needs_model("espeak-ng")


def run(*args: str | Path, models: Path | None = None) -> Done:
    return run_command("say", *args, env={"DUOLOGUE_MODELS": str(models or cache_folder())})


def length_ms(file: Path) -> float:
    with wave.open(str(file)) as sound:
        assert (sound.getnchannels(), sound.getsampwidth()) == (1, 2)
        return sound.getnframes() * 1000 / sound.getframerate()


@pytest.mark.usefixtures("_espeak")
def test_a_text_becomes_a_file(tmp_path: Path) -> None:
    file = tmp_path / "hello.wav"
    done = run("Hello there, Anna.", "--out", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{file}: ")
    assert done.stdout.endswith(" s, 3 words\n")
    assert 800 < length_ms(file) < 3_000


@pytest.mark.usefixtures("_espeak")
def test_json_contains_the_words_and_their_times(tmp_path: Path) -> None:
    file = tmp_path / "hello.wav"
    text = "Good morning. It is 3:30 — time for tea."
    done = run(text, "--out", file, "--json", "--rate", "200")
    result = json.loads(done.stdout)
    assert result["file"] == str(file)
    assert result["ms"] == pytest.approx(length_ms(file), abs=1)
    assert [word["text"] for word in result["words"]] == text.split()
    ends = [word["end_ms"] for word in result["words"]]
    assert ends == sorted(ends)
    assert 0 < ends[-1] <= result["ms"]


@pytest.mark.usefixtures("_espeak")
def test_voice_and_rate_are_those_of_the_options(tmp_path: Path) -> None:
    for name, *options in (("slow", "--rate", "100"), ("fast", "--rate", "300"), ("de", "--voice", "de")):
        assert run("Good morning to everybody.", "--out", tmp_path / f"{name}.wav", *options).returncode == 0
    assert length_ms(tmp_path / "slow.wav") > 1.5 * length_ms(tmp_path / "fast.wav")
    assert (tmp_path / "de.wav").read_bytes() != (tmp_path / "slow.wav").read_bytes()


@pytest.mark.usefixtures("_espeak")
@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ("Hello", ("--voice", "nobody"), "error: espeak-ng has no voice 'nobody'; try en-us or de\n"),
        (" ", (), "error: the text is empty: there is nothing to speak\n"),
    ],
)
def test_a_problem_is_one_line_and_leaves_no_file(
    tmp_path: Path, text: str, options: tuple[str, ...], error: str
) -> None:
    done = run(text, "--out", tmp_path / "x.wav", *options)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", error)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_espeak")
def test_a_place_that_can_not_be_written_is_one_line(tmp_path: Path) -> None:
    done = run("Hello", "--out", tmp_path / "none" / "x.wav")
    assert (done.returncode, done.stderr) == (1, f"error: {tmp_path / 'none' / 'x.wav'}: No such file or directory\n")


def test_without_the_model_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    done = run("Hello", "--out", tmp_path / "x.wav", models=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "error: the model espeak-ng is missing; run `duologue models pull espeak-ng`\n"


def test_a_rate_beyond_what_espeak_can_speak_is_refused(tmp_path: Path) -> None:
    assert run("Hello", "--out", tmp_path / "x.wav", "--rate", "1000").returncode == 2


def test_an_added_voice_speaks_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime", reason="pip install 'duologue[speech]'")
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))
    (tmp_path / "anna.onnx").write_bytes(piper_model())
    letters = {letter: [number] for number, letter in enumerate("_^$ ,.abcdefghijklmnopqrstuvwxyz")}
    config = {"audio": {"sample_rate": 16_000}, "phoneme_type": "text", "phoneme_id_map": letters}
    (tmp_path / "anna.onnx.json").write_text(json.dumps(config))
    add_voice("anna", tmp_path / "anna.onnx", language="en")
    done = run("hello there", "--voice", "anna", "--out", tmp_path / "x.wav", models=tmp_path / "models")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(", 2 words\n")
    assert length_ms(tmp_path / "x.wav") > 100
