"""Moonshine: few words wrong, nothing heard in noise, no endless loops; a draft changes nothing but the time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from duologue.audio.frames import Samples, UnusableAudio
from duologue.ears.moonshine import NOTHING, Moonshine, Transcription, _loop
from duologue.ears.token_vocabulary import Vocabulary, WrittenWord, read_vocabulary
from duologue.models.cache import ModelMissing
from tests.ears.ears_recordings import BECKETT, TWO_CITIES, noise, recording, seconds, silence, word_errors


@pytest.fixture(scope="module")
def best() -> Samples:
    return seconds(recording("two_cities"), 0.2, 4.1)


# -- Words


@pytest.mark.parametrize(("name", "said"), [("beckett", BECKETT), ("two_cities", TWO_CITIES)])
def test_few_words_of_a_recording_are_wrong(tiny: Moonshine, name: str, said: str) -> None:
    assert word_errors(said, tiny.transcribe(recording(name)).text) <= 0.06


@pytest.mark.parametrize(("name", "said"), [("beckett", BECKETT), ("two_cities", TWO_CITIES)])
def test_the_larger_model_is_better(base: Moonshine, name: str, said: str) -> None:
    assert word_errors(said, base.transcribe(recording(name)).text) <= 0.04


def test_a_transcript_says_how_sure_it_is(tiny: Moonshine, best: Samples) -> None:
    clear = tiny.transcribe(best)
    drowned = tiny.transcribe(best + noise(best.size / 16_000, 0.2))
    assert clear.confidence > 0.9
    assert drowned.confidence < 0.7
    assert clear.text == " ".join(word.text for word in clear.words)
    assert all(0 < word.confidence <= 1 for word in (*clear.words, *drowned.words))
    assert clear.words[-1].ends == len(clear.tokens)


@pytest.mark.parametrize("sound", [silence(0), silence(0.001), silence(2), noise(2, 0.01), noise(2, 0.1)], ids=str)
def test_nothing_is_heard_where_nobody_speaks(tiny: Moonshine, sound: Samples) -> None:
    assert tiny.transcribe(sound) == NOTHING


def test_the_larger_model_hears_nothing_either(base: Moonshine) -> None:
    assert base.transcribe(noise(2, 0.1)) == NOTHING


# -- Drafts


@pytest.mark.parametrize(
    "draft",
    [
        "all",
        "half",
        "longer",
        "one wrong",
        "all wrong",
    ],
)
def test_a_draft_changes_nothing(tiny: Moonshine, best: Samples, draft: str) -> None:
    plain = tiny.transcribe(best)
    tokens = list(plain.tokens)
    if draft == "half":
        tokens = tokens[: len(tokens) // 2]
    elif draft == "longer":
        tokens += tokens
    elif draft == "one wrong":
        tokens[3] = 777
    elif draft == "all wrong":
        tokens = [500 + at for at in range(400)]
    drafted = tiny.transcribe(best, tokens)
    assert drafted.text == plain.text
    assert drafted.confidence == pytest.approx(plain.confidence, abs=0.02)


def test_a_draft_saves_most_runs_of_the_decoder(tiny: Moonshine, best: Samples) -> None:
    plain = tiny.transcribe(best)
    assert len(plain.tokens) > 12
    assert _runs(tiny, best, ()) == len(plain.tokens) + 1
    assert _runs(tiny, best, plain.tokens) == 1


def _runs(model: Moonshine, sound: Samples, draft: tuple[int, ...]) -> int:
    loaded, runs = model._model(), 0
    original = loaded.decoder.run

    class Counting:
        def run(self, *args: object) -> object:
            nonlocal runs
            runs += 1
            return original(*args)  # type: ignore[arg-type]

    object.__setattr__(loaded, "decoder", Counting())
    try:
        model.transcribe(sound, draft)
    finally:
        object.__setattr__(loaded, "decoder", original.__self__)  # type: ignore[attr-defined]
    return runs


def test_conversations_do_not_disturb_each_other(tiny: Moonshine) -> None:
    pieces = [seconds(recording("two_cities"), at, at + 2) for at in range(8)]
    alone = [tiny.transcribe(piece) for piece in pieces]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(tiny.transcribe, pieces)) == alone


# -- Loops


@pytest.mark.parametrize(
    ("tokens", "spare"),
    [
        ([5, 6, 7, 8], 0),
        ([9, 9, 9, 9, 9, 9], 0),  # "no no no no no no"
        ([9] * 7, 6),
        ([1, 2] * 4, 0),
        ([1, 2] * 5, 8),
        ([3, *[4, 5, 6, 7, 8] * 2], 0),
        ([3, *[4, 5, 6, 7, 8] * 3], 10),
    ],
)
def test_what_comes_again_and_again_is_a_loop(tokens: list[int], spare: int) -> None:
    assert _loop(tokens, times_max=100) == spare


def test_in_half_a_second_nobody_says_anything_three_times() -> None:
    assert _loop([1, 2, 1, 2, 1, 2], times_max=2) == 2


@pytest.mark.parametrize("end", [6.2, 6.6, 8.3])
def test_a_transcript_that_goes_round_is_stopped_and_doubted(tiny: Moonshine, end: float) -> None:
    """Here the sound ends in a sentence's first word, and the model says the sentence before for ever."""
    found = tiny.transcribe(seconds(recording("two_cities"), 0.25, end))
    assert found.looped
    assert found.confidence <= 0.5
    assert word_errors(" ".join(TWO_CITIES.split()[: len(found.words)]), found.text) == 0


# -- Garbage


@pytest.mark.parametrize(
    ("garbage", "why"),
    [
        (np.full(16_000, np.nan, np.float32), "no numbers"),
        (np.zeros(16_000, np.int16), "not int16"),
        (np.zeros((2, 16_000), np.float32), "mono"),
        (silence(31), "31 s at once"),
    ],
)
def test_garbage_is_refused_in_one_line(tiny: Moonshine, garbage: Samples, why: str) -> None:
    with pytest.raises(UnusableAudio, match=why) as refusal:
        tiny.transcribe(garbage)
    assert "\n" not in str(refusal.value)


def test_a_missing_model_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing, match="duologue models pull moonshine-base"):
        Moonshine("base")


# -- The vocabulary

PIECES = ["<unk>", "<s>", "</s>", "▁Hello", ",", "▁wor", "ld", ".", "▁♪", "▁“", "▁"]


def test_tokens_make_words_that_are_as_sure_as_their_least_sure_letters() -> None:
    vocabulary = Vocabulary([piece.encode() for piece in PIECES])
    tokens, sure = (3, 4, 5, 6, 7, 2), (0.9, 0.1, 0.8, 0.6, 0.2, 1.0)
    assert vocabulary.words(tokens, sure) == (WrittenWord("Hello,", 0.9, 2), WrittenWord("world.", 0.6, 6))
    assert vocabulary.words((), ()) == ()


def test_music_quotation_marks_and_signs_in_a_row_are_no_words() -> None:
    vocabulary = Vocabulary([piece.encode() for piece in PIECES])
    assert vocabulary.text((8, 9, 3, 4, 7, 8)) == "Hello,"
    assert vocabulary.words((8, 8, 10, 7), (0.9,) * 4) == ()


def test_a_letter_may_be_spread_over_tokens(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.bin"
    long = b"x" * 130
    path.write_bytes(b"\x01\xc3\x01\xa9" + bytes([0x80 | 130 & 0x7F, 130 >> 7]) + long)
    vocabulary = read_vocabulary(path)
    assert len(vocabulary) == 3
    assert vocabulary.text((0, 1)) == "é"
    assert vocabulary.text((0,)) == ""
    assert vocabulary.text((2,)) == long.decode()


def test_both_forms_of_the_vocabulary_are_the_same(tiny: Moonshine, base: Moonshine) -> None:
    one, other = tiny._model().vocabulary, base._model().vocabulary
    assert len(one) == len(other) == 32_768
    assert all(one.text((token,)) == other.text((token,)) for token in range(len(one)))


def test_nothing_is_nothing() -> None:
    assert Transcription("", 0.0) == NOTHING
