"""The edges of a sentence: silence is trimmed, sound isn't, and the end is a pause of the chosen length."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from duologue.voice.sentence_edges import BLOCK_MS, FADE_MS, LEAD_MS, SentenceEdges, faded_in, faded_out

RATE_HZ = 1_000  # one sample is a millisecond


def pcm_of(samples: list[int]) -> bytes:
    return array("h", samples).tobytes()


def samples_of(pcm: bytes) -> list[int]:
    return array("h", pcm).tolist()


def trim(samples: list[int], pause_ms: int = 100, at_once: int = 7) -> list[int]:
    edges, out = SentenceEdges(RATE_HZ, pause_ms), b""
    for start in range(0, len(samples), at_once):
        out += edges.take(pcm_of(samples[start : start + at_once]))
    return samples_of(out + edges.rest())


def test_silence_before_and_after_the_sound_is_trimmed() -> None:
    out = trim([0] * 200 + [9_000] * 50 + [0] * 400)
    assert out == [0] * LEAD_MS + [9_000] * 50 + [0] * 100


def test_a_short_end_is_made_as_long_as_the_pause() -> None:
    assert trim([9_000] * 50 + [0] * 10) == [9_000] * 50 + [0] * 100


def test_a_pause_within_the_sentence_stays() -> None:
    said = [9_000] * 50 + [0] * 300 + [-9_000] * 50
    assert trim(said)[:400] == said


def test_a_quiet_end_fades_and_is_not_cut_off() -> None:
    out = trim([9_000] * 50 + [100] * 400)
    tail = out[50:]
    assert len(tail) == 100
    assert tail[: 100 - FADE_MS] == [100] * (100 - FADE_MS)
    assert tail[-FADE_MS:] == sorted(tail[-FADE_MS:], reverse=True)
    assert tail[-1] == 0


def test_a_sentence_without_sound_gives_nothing() -> None:
    assert trim([0] * 500) == []
    assert trim([]) == []


@given(st.lists(st.integers(-32_768, 32_767), max_size=400), st.integers(0, 200), st.integers(1, 90))
def test_however_the_audio_comes_no_loud_sample_is_lost(samples: list[int], pause_ms: int, at_once: int) -> None:
    out = trim(samples, pause_ms, at_once)
    assert out == trim(samples, pause_ms, 10_000)
    whole_blocks = samples[: len(samples) // BLOCK_MS * BLOCK_MS]
    loud = [sample for sample in whole_blocks if abs(sample) > 150]
    assert [sample for sample in out if abs(sample) > 150][: len(loud)] == loud
    assert not loud or len(out) >= pause_ms


@given(st.lists(st.integers(-32_768, 32_767), max_size=30), st.integers(0, 40))
def test_fades_only_make_quieter_and_keep_the_length(samples: list[int], count: int) -> None:
    for fade in (faded_in, faded_out):
        out = samples_of(fade(pcm_of(samples), count))
        assert len(out) == len(samples)
        assert all(abs(after) <= abs(before) for before, after in zip(samples, out, strict=True))
