"""A neural voice, with small models made here: sound, exact word times, aborting, and what is refused."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="pip install 'duologue[speech]'")
pytest.importorskip("onnxruntime", reason="pip install 'duologue[speech]'")

from duologue.models.added import add_voice  # noqa: E402
from duologue.models.onnx_sessions import UnusableModel, forget_sessions  # noqa: E402
from duologue.ports.sound import Sound, Word  # noqa: E402
from duologue.voice import neural as neural_module  # noqa: E402
from duologue.voice.local import LocalVoice  # noqa: E402
from duologue.voice.neural import GRAIN_MS, NeuralVoice  # noqa: E402
from tests.needs import needs_model  # noqa: E402
from tests.voice.onnx_by_hand import FRAME, kokoro_model, piper_model  # noqa: E402

RATE_HZ = 16_000
FRAME_MS = FRAME * 1000 / RATE_HZ
LETTERS = {letter: [number] for number, letter in enumerate("_^$ ,.abcdefghijklmnopqrstuvwxyz")}
PIPER = {"audio": {"sample_rate": RATE_HZ}, "phoneme_type": "text", "phoneme_id_map": LETTERS}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path / "models"))
    forget_sessions()


def add(tmp_path: Path, config: dict[str, Any] | None = None, model: bytes = b"", name: str = "anna") -> None:
    file = tmp_path / "voice.onnx"
    file.write_bytes(model or piper_model())
    (tmp_path / "voice.onnx.json").write_text(json.dumps(config or PIPER))
    add_voice(name, file)


def say(voice: NeuralVoice | LocalVoice, text: str) -> list[Sound]:
    async def all_of() -> list[Sound]:
        return [sound async for sound in voice.speak(text)]

    return asyncio.run(all_of())


def words_of(sounds: list[Sound]) -> list[Word]:
    found, at_ms = [], 0
    for sound in sounds:
        found += [Word(word.text, word.start_ms + at_ms, word.end_ms + at_ms) for word in sound.words]
        at_ms += sound.ms
    return found


def test_a_sentence_has_sound_and_the_exact_times_of_its_words(tmp_path: Path) -> None:
    add(tmp_path)
    sounds = say(NeuralVoice("anna", sentence_pause_ms=100), "Ab, cde.")
    words = words_of(sounds)
    assert [word.text for word in words] == ["Ab,", "cde."]
    # ^ and two letters and a comma, each with a pad, are 8 ids; three letters and a stop with pads, and $, are 9.
    assert [word.end_ms for word in words] == [round(8 * FRAME_MS), round(17 * FRAME_MS)]
    assert words[1].start_ms == words[0].end_ms
    assert all(sound.ms % GRAIN_MS == 0 and len(sound.pcm) == RATE_HZ * sound.ms // 1000 * 2 for sound in sounds)
    spoken_ms = 17 * FRAME_MS + 100
    assert spoken_ms <= sum(sound.ms for sound in sounds) < spoken_ms + GRAIN_MS
    assert max(np.abs(np.frombuffer(sounds[0].pcm, "<i2"))) > 100


@pytest.mark.req("T-08")
def test_a_long_sentence_is_made_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path)
    runs = []
    voice = NeuralVoice("anna")
    make = voice.model.synthesise
    monkeypatch.setattr(voice.model, "synthesise", lambda ids, run: (runs.append(len(ids.ids)), make(ids, run))[1])
    text = " ".join(["word"] * 40) + "."
    assert [word.text for word in words_of(say(voice, text))] == text.split()
    assert len(runs) > 1
    assert runs[0] < runs[1]


def test_a_closed_stream_ends_the_run_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path, model=piper_model(work=100))
    voice = NeuralVoice("anna")
    started, ended, made = threading.Event(), threading.Event(), []
    run = voice.model.synthesise

    def synthesise(ids: Any, one: Any) -> Any:
        started.set()
        made.append(run(ids, one))
        ended.set()
        return made[-1]

    monkeypatch.setattr(voice.model, "synthesise", synthesise)

    async def interrupted() -> None:
        stream = voice.speak("Some words.")
        reader = asyncio.ensure_future(anext(stream))
        await asyncio.to_thread(started.wait)
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
        await stream.aclose()

    asyncio.run(interrupted())
    assert ended.wait(60)
    assert len(made[0][0]) == 0  # the model was stopped before it had made a sample


def test_closing_a_stream_does_not_wait_for_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is held in the middle of its run until the stream has closed: waiting for it would never end."""
    add(tmp_path)
    voice = NeuralVoice("anna")
    started, closed = threading.Event(), threading.Event()
    run = voice.model.synthesise

    def synthesise(ids: Any, one: Any) -> Any:
        started.set()
        assert closed.wait(60)
        return run(ids, one)

    monkeypatch.setattr(voice.model, "synthesise", synthesise)
    made: list[Sound] = []

    async def interrupted() -> None:
        stream = voice.speak("Some words.")

        async def read() -> None:
            async for sound in stream:
                made.append(sound)

        reader = asyncio.ensure_future(read())
        await asyncio.to_thread(started.wait)
        reader.cancel()
        async with asyncio.timeout(30):  # far more than a busy machine needs
            await asyncio.gather(reader, return_exceptions=True)
            await stream.aclose()
        closed.set()

    asyncio.run(interrupted())
    assert not made


ABORT_MS_MAX = 20


def test_after_a_stop_the_model_computes_for_less_than_20_ms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in CPU time of the thread that runs the model, so a busy machine changes nothing. The model computes for
    at least half a second if it isn't stopped, in nodes of some milliseconds, as Piper's largest ones are."""
    add(tmp_path, model=piper_model(work=200))
    voice = NeuralVoice("anna")
    begun, ended_ms = threading.Event(), list[float]()
    thread: list[int] = []
    run = voice.model.synthesise

    def synthesise(ids: Any, one: Any) -> Any:
        thread.append(threading.get_ident())
        begun.set()
        made = run(ids, one)
        ended_ms.append(time.thread_time() * 1000)
        return made

    monkeypatch.setattr(voice.model, "synthesise", synthesise)

    def used_ms() -> float:
        return time.clock_gettime(time.pthread_getcpuclockid(thread[0])) * 1000

    def wait_for_work(ms: float) -> None:
        start_ms = used_ms()
        while used_ms() < start_ms + ms and not ended_ms:
            threading.Event().wait(0.001)

    async def interrupted() -> float:
        stream = voice.speak("Some words.")
        reader = asyncio.ensure_future(anext(stream))
        await asyncio.to_thread(begun.wait)
        await asyncio.to_thread(wait_for_work, 60)
        at_ms = used_ms()
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
        return at_ms

    at_ms = asyncio.run(interrupted())
    for _ in range(60_000):
        if ended_ms:
            break
        threading.Event().wait(0.001)
    assert ended_ms[0] - at_ms < ABORT_MS_MAX

    async def whole() -> None:
        await anext(voice.speak("Some words."))

    begin_ms = used_ms()
    asyncio.run(whole())
    assert ended_ms[1] - begin_ms > 500, "otherwise the model had ended by itself"


def test_espeak_gives_the_phonemes_of_a_model_that_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUOLOGUE_MODELS")
    needs_model("espeak-ng")
    from duologue.voice.espeak import find_library

    library = find_library(None)
    assert "h" in library.phonemes("hello there", "en-us")
    assert library.phonemes("hello there", "en-us") != library.phonemes("hello there", "de")
    assert library.phonemes("", "en-us") == ""


def test_kokoro_speaks_with_the_style_of_its_speaker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, speakers = tmp_path / "kokoro.onnx", tmp_path / "speakers.npz"
    model.write_bytes(kokoro_model())
    vocabulary = {letter: number for number, letter in enumerate(" .abcdefghijklmnopqrstuvwxyz", start=1)}
    (tmp_path / "kokoro.onnx.json").write_text(json.dumps({"vocab": vocabulary}))
    np.savez(speakers, anna=np.zeros((9, 1, 4)), ben=np.ones((9, 1, 4)))
    add_voice("kokoro", model, speakers=speakers)
    monkeypatch.setattr(neural_module, "phonemizer", lambda voice: None)
    sounds = say(NeuralVoice("kokoro", speaker="ben"), "abc de.")
    assert [word.text for word in words_of(sounds)] == ["abc", "de."]
    assert sounds[0].rate_hz == 24_000
    with pytest.raises(ValueError, match="kokoro has no speaker 'carl', only anna, ben"):
        NeuralVoice("kokoro", speaker="carl")


def test_a_speaker_or_a_model_that_is_not_there_is_refused(tmp_path: Path) -> None:
    add(tmp_path, {**PIPER, "num_speakers": 2, "speaker_id_map": {"ann": 0, "ben": 1}})
    assert NeuralVoice("anna", speaker="ben").model is not None
    with pytest.raises(ValueError, match="anna has no speaker 'carl'; its speakers are ann, ben"):
        NeuralVoice("anna", speaker="carl")
    add(tmp_path, model=kokoro_model(), name="other")
    with pytest.raises(UnusableModel, match="isn't a Piper model"):
        NeuralVoice("other")


def test_the_local_voice_is_an_added_voice_of_its_language(tmp_path: Path) -> None:
    add(tmp_path, {**PIPER, "language": {"code": "en_US"}})
    assert isinstance(LocalVoice("en").engine, NeuralVoice)
    assert isinstance(LocalVoice("en-US").engine, NeuralVoice)


def test_nothing_is_said_for_a_text_without_words(tmp_path: Path) -> None:
    add(tmp_path)
    assert say(NeuralVoice("anna"), " … ") == []
