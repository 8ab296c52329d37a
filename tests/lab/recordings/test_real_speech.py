"""Recordings heard with the real models: words, ends of turns, and no look-ahead."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from duologue.audio.frames import Samples, to_samples
from duologue.audio.resample import resample
from duologue.core.settings import profile
from duologue.ears.local import LocalEars
from duologue.ears.moonshine import Moonshine
from duologue.lab.recordings.listener import AFTER_MS, FRAME_MS, RATE_HZ, Listener
from duologue.lab.recordings.recording_sets import listen_to
from duologue.turns.endpoint import policy
from duologue.turns.words import words_of
from tests.cli.command_line import run
from tests.lab.recordings.made_up_speech import (
    FRAME,
    before,
    hear,
    joined,
    kinds,
    silence,
    wav,
)
from tests.needs import needs_model


def require(*models: str) -> None:
    for model in models:
        needs_model(model)


@pytest.fixture(scope="module")
def real_ears() -> LocalEars:
    require("silero-vad", "moonshine-tiny", "smart-turn")
    ears = LocalEars(Moonshine("tiny"))
    ears.load()
    return ears


SENTENCE = "I would like to book a table for two people on Monday evening."


@pytest.fixture(scope="module")
def sentence() -> Samples:
    """A sentence, said by espeak."""
    require("espeak-ng")
    from duologue.voice.espeak import EspeakVoice

    async def speak() -> Samples:
        pieces = [sound async for sound in EspeakVoice().speak(SENTENCE)]
        spoken = np.concatenate([to_samples(sound.pcm) for sound in pieces])
        return resample(spoken, pieces[0].rate_hz, RATE_HZ)

    return joined(silence(0.4), asyncio.run(speak()), silence(0.2))


def word_errors(said: str, heard: str) -> float:
    wanted, found = words_of(said), words_of(heard)
    row = list(range(len(found) + 1))
    for count, word in enumerate(wanted, 1):
        above, row = row, [count]
        for at, other in enumerate(found):
            row.append(min(above[at] + (word != other), above[at + 1] + 1, row[at] + 1))
    return row[-1] / len(wanted)


def test_a_sentence_that_was_said_is_heard_and_written_down(
    tmp_path: Path, real_ears: LocalEars, sentence: Samples
) -> None:
    file = wav(tmp_path / "said.wav", sentence)
    result = listen_to(Listener(real_ears, policy("combined"), profile("confirm")), file)
    text = " ".join(said.text for said in result.turns)
    assert word_errors(SENTENCE, text) <= 0.4, text
    ends = [made for made in result.decisions if made.kind == "end_of_turn"]
    assert ends
    assert sentence.size * 1000 // RATE_HZ - 400 <= ends[-1].t_ms <= result.duration_ms + AFTER_MS
    assert all(made.reasons and made.confidence is not None for made in ends)


@pytest.mark.parametrize("fault", ["offset", "clipped", "faint"])
def test_a_bad_recording_is_heard_as_well_as_it_can_be(real_ears: LocalEars, sentence: Samples, fault: str) -> None:
    bad = {
        "offset": sentence * np.float32(0.8) + np.float32(0.1),
        "clipped": np.clip(sentence * 8, -1, 1),
        "faint": sentence * np.float32(0.01),
    }[fault]
    result = hear(bad, by=Listener(real_ears, policy("combined"), profile("confirm")))
    assert word_errors(SENTENCE, " ".join(said.text for said in result.turns)) <= 0.4
    assert "end_of_turn" in kinds(result)


@pytest.mark.req("T-02")
def test_real_models_cant_look_ahead_either(real_ears: LocalEars, sentence: Samples) -> None:
    by = Listener(real_ears, policy("combined", 600), profile("confirm"))
    whole = hear(joined(sentence, silence(0.6), sentence), by=by)
    assert whole.decisions
    for made in whole.decisions[:2]:
        frames = -(-made.t_ms // FRAME_MS)
        part = hear(joined(sentence, silence(0.6), sentence)[: frames * FRAME], by=by)
        assert before(part, made.t_ms) == before(whole, made.t_ms)


def test_the_command_hears_a_telephone(tmp_path: Path, real_ears: LocalEars, sentence: Samples) -> None:
    file = wav(tmp_path / "phone.wav", resample(sentence, RATE_HZ, 8_000), 8_000)
    done = run("listen", file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert word_errors(SENTENCE, " ".join(turn["text"] for turn in shown["turns"])) <= 0.5
    assert any(made["kind"] == "end_of_turn" for made in shown["decisions"])
