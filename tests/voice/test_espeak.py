"""espeak-ng as a voice: sound in small pieces, words with their times, and a thread that is never blocked."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from duologue import Agent, Conversation, profile
from duologue.brains.scripted import ScriptedBrain
from duologue.core.leaves import ErrorClass
from duologue.lines.scripted import ScriptedLine
from duologue.models.cache import ModelChanged, ModelMissing, model_path
from duologue.ports import AgentSaid, ServiceError, Sound, Word
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.espeak import (
    FADE_MS,
    PIECE_MS,
    UNSPEAKABLE,
    EspeakManner,
    EspeakVoice,
    Library,
    Mark,
    TimedPieces,
    find_library,
)
from duologue.voice.ledger import Ledger
from duologue.voice.speaking_style import PAUSE_MS
from tests.limits import WAIT_S
from tests.needs import needs_model, needs_package

SENTENCE = "Sure, I can help with that, and your appointment is on Tuesday at 3:30."
LONG = "and then we went on along the river until the evening came " * 6


@pytest.fixture(scope="module")
def library() -> Library:
    needs_model("espeak-ng")
    return find_library(None)


@pytest.fixture
def voice(library: Library) -> EspeakVoice:
    return EspeakVoice()


async def listen(sounds: AsyncIterator[Sound]) -> list[Sound]:
    async with asyncio.timeout(WAIT_S):
        return [sound async for sound in sounds]


def say(text: str, **options: Any) -> list[Sound]:
    return asyncio.run(listen(EspeakVoice(**options).speak(text)))


def ms_of(sounds: list[Sound]) -> int:
    return sum(sound.ms for sound in sounds)


def words_of(sounds: list[Sound]) -> list[Word]:
    """All words, timed from the beginning."""
    words, at_ms = [], 0
    for sound in sounds:
        words += [Word(word.text, word.start_ms + at_ms, word.end_ms + at_ms) for word in sound.words]
        at_ms += sound.ms
    return words


def texts_of(sounds: list[Sound]) -> list[str]:
    return [word.text for word in words_of(sounds)]


def until_idle(library: Library) -> None:
    """Wait until the thread has done all its work."""
    library.thread.submit(lambda: None).result(WAIT_S)


# -- What is said


@pytest.mark.usefixtures("library")
def test_a_sentence_becomes_sound_of_a_likely_length() -> None:
    sounds = say(SENTENCE)
    assert 3_000 < ms_of(sounds) < 8_000
    assert any(max(sound.pcm) for sound in sounds)
    for sound in sounds:
        assert sound.ms in (20, 40, 60)
        assert len(sound.pcm) == sound.rate_hz * sound.ms // 1000 * 2


@pytest.mark.usefixtures("library")
def test_the_words_are_those_of_the_text_in_order() -> None:
    assert texts_of(say(SENTENCE)) == SENTENCE.split()


@pytest.mark.usefixtures("library")
def test_a_word_is_part_of_the_piece_in_which_it_ends() -> None:
    for sound in say(SENTENCE):
        assert all(0 < word.end_ms <= sound.ms for word in sound.words)


@pytest.mark.usefixtures("library")
def test_words_follow_each_other_and_take_their_time() -> None:
    words = words_of(say(SENTENCE))
    assert words[0].start_ms < 60
    for word, following in pairwise(words):
        assert word.start_ms + 30 < word.end_ms <= following.start_ms


@pytest.mark.usefixtures("library")
def test_a_word_ends_where_the_silence_after_it_begins() -> None:
    np = needs_package("numpy", "pip install 'duologue[speech]'")
    sounds = say("Yes, no.")
    samples = np.frombuffer(b"".join(sound.pcm for sound in sounds), "<i2")
    yes, no = words_of(sounds)
    assert no.start_ms - yes.end_ms > 80, "a comma is a pause"

    def loudest(start_ms: int, end_ms: int) -> int:
        rate_hz = sounds[0].rate_hz
        return int(np.abs(samples[start_ms * rate_hz // 1000 : end_ms * rate_hz // 1000].astype(int)).max())

    pause = loudest(yes.end_ms + 15, no.start_ms - 5)
    assert pause * 10 < min(loudest(yes.start_ms, yes.end_ms), loudest(no.start_ms, no.end_ms))


@pytest.mark.usefixtures("library")
def test_a_silent_token_ends_with_the_word_before_it() -> None:
    words = words_of(say("Well — perhaps ... no"))
    assert [word.text for word in words] == ["Well", "—", "perhaps", "...", "no"]
    assert words[1].start_ms == words[1].end_ms == words[0].end_ms


@pytest.mark.usefixtures("library")
def test_the_ledger_can_cut_what_was_heard_at_a_word() -> None:
    text = "One two three four, five six."
    ledger = Ledger()
    ledger.begin(text)
    sounds = say(text)
    for sound in sounds:
        ledger.add(sound)
    ledger.end()
    three = words_of(sounds)[2]
    assert ledger.split(three.end_ms).heard == "One two three"
    assert ledger.split(three.end_ms - 1).heard == "One two"
    assert ledger.split(ms_of(sounds)).heard == text


@pytest.mark.usefixtures("library")
def test_sentences_have_a_pause_between_them() -> None:
    words = words_of(say("It is late. Good night."))
    assert [word.text for word in words] == ["It", "is", "late.", "Good", "night."]
    assert 100 <= words[3].start_ms - words[2].end_ms <= 200


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("text", ["", "  \n ", "\0", "\x01", "\x07", "\ud800"])
def test_a_text_without_words_gives_no_sound(text: str) -> None:
    assert say(text) == []


@pytest.mark.usefixtures("library")
@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
@example("1,234.56 $5 3:30pm e.g. <b>x</b> twenty-one 😀 — naïve")
@example("日本語です。はい、どうぞ")
@example("[[h@l'oU]] <speak>&amp;</speak> {x} \\ % __ ...")
@example("a\0b \ud83d c\x07 \u202e d")
def test_any_text_is_said_and_none_of_its_words_is_lost(text: str) -> None:
    sounds = say(text)
    said = "".join(UNSPEAKABLE.sub("", text).split())
    assert "".join(texts_of(sounds)) == said or (not sounds and not said.isalnum())
    words = words_of(sounds)
    assert all(word.start_ms <= word.end_ms <= ms_of(sounds) for word in words)


@pytest.mark.usefixtures("library")
def test_the_pause_at_the_end_of_a_sentence_and_the_pitch_are_settings() -> None:
    short, long = say("Good night.", sentence_pause_ms=100), say("Good night.", sentence_pause_ms=500)
    assert ms_of(long) - ms_of(short) == 400
    assert say("Good night.", pitch=150) != say("Good night.")
    with pytest.raises(ValueError, match="pitch must be from 50 to 200 percent"):
        EspeakVoice(pitch=20)


@pytest.mark.usefixtures("library")
def test_faster_is_shorter_and_another_voice_is_another_sound() -> None:
    slow, fast = say(SENTENCE, rate_wpm=120), say(SENTENCE, rate_wpm=300)
    assert ms_of(fast) * 1.5 < ms_of(slow)
    assert texts_of(say("Guten Tag, wie geht es?", voice="de")) == ["Guten", "Tag,", "wie", "geht", "es?"]


# -- Stopping


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A slow library: after the first half second of audio it waits until this is set."""
    opened = threading.Event()
    synthesise = Library.synthesise

    def slowly(library: Library, text: str, manner: EspeakManner, take: Callable[[bytes, list[Mark]], bool]) -> None:
        made = 0

        def take_slowly(pcm: bytes, marks: list[Mark]) -> bool:
            nonlocal made
            made += len(pcm)
            goes_on = take(pcm, marks)
            if made >= library.rate_hz:  # 16-bit samples
                opened.wait(WAIT_S)
            return goes_on

        synthesise(library, text, manner, take_slowly)

    monkeypatch.setattr(Library, "synthesise", slowly)
    return opened


def test_closing_after_the_first_piece_stops_the_library_at_its_next_callback(
    voice: EspeakVoice, library: Library, gate: threading.Event
) -> None:
    async def run() -> int:
        sounds = voice.speak(LONG)
        first = await anext(sounds)
        assert first.ms == 60
        await sounds.aclose()
        return library.callbacks

    callbacks = asyncio.run(run())
    gate.set()
    until_idle(library)
    assert library.callbacks - callbacks <= 1, "a long sentence has some three hundred"


def test_cancelling_the_reader_stops_the_library_too(
    voice: EspeakVoice, library: Library, gate: threading.Event
) -> None:
    async def run() -> int:
        began = asyncio.Event()

        async def read() -> None:
            async for _ in voice.speak(LONG):
                began.set()

        task = asyncio.create_task(read())
        await began.wait()
        task.cancel()
        await asyncio.wait([task])
        return library.callbacks

    callbacks = asyncio.run(run())
    gate.set()
    until_idle(library)
    assert library.callbacks - callbacks <= 1


def test_a_cancelled_sentence_never_starts(voice: EspeakVoice, library: Library) -> None:
    async def run() -> None:
        gate = threading.Event()
        library.thread.submit(gate.wait, WAIT_S)
        task = asyncio.create_task(listen(voice.speak(LONG)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        gate.set()

    callbacks = library.callbacks
    asyncio.run(run())
    until_idle(library)
    assert library.callbacks == callbacks


@pytest.mark.usefixtures("library")
def test_after_a_stop_the_next_sentence_is_whole(voice: EspeakVoice) -> None:
    async def run() -> list[Sound]:
        for _ in range(20):
            sounds = voice.speak(LONG)
            await anext(sounds)
            await sounds.aclose()
        return await listen(voice.speak(SENTENCE))

    assert texts_of(asyncio.run(run())) == SENTENCE.split()


def test_a_loop_that_is_gone_stops_the_library(voice: EspeakVoice, library: Library, gate: threading.Event) -> None:
    loop = asyncio.new_event_loop()
    sounds = voice.speak(LONG)
    loop.run_until_complete(anext(sounds))
    callbacks = library.callbacks
    loop.close()
    gate.set()
    until_idle(library)
    assert library.callbacks - callbacks <= 2, "one to notice, one to stop"


# -- Several at once


@pytest.mark.usefixtures("library")
def test_voices_that_speak_at_once_do_not_mix() -> None:
    texts = [f"This is caller {number}, and no other caller speaks for {number}." for number in range(8)]
    voices = [EspeakVoice("en-us" if number % 2 else "de", 120 + 30 * number) for number in range(8)]

    async def run() -> list[list[Sound]]:
        return await asyncio.gather(*(listen(voice.speak(text)) for voice, text in zip(voices, texts, strict=True)))

    alone = [asyncio.run(listen(voice.speak(text))) for voice, text in zip(voices, texts, strict=True)]
    for text, sounds, expected in zip(texts, asyncio.run(run()), alone, strict=True):
        assert texts_of(sounds) == text.split()
        assert ms_of(sounds) == pytest.approx(ms_of(expected), abs=60)


def test_a_slow_reader_does_not_delay_the_others(voice: EspeakVoice) -> None:
    async def run() -> tuple[list[Sound], list[Sound]]:
        slow = voice.speak(LONG)
        first = await anext(slow)
        other = await listen(voice.speak(SENTENCE))
        return [first, *await listen(slow)], other

    whole, other = asyncio.run(run())
    assert texts_of(whole) == LONG.split()
    assert texts_of(other) == SENTENCE.split()


def test_at_most_one_sentence_is_synthesised_ahead(voice: EspeakVoice, library: Library) -> None:
    async def run() -> None:
        sounds = voice.speak("This is short. " + LONG)
        await anext(sounds)
        await asyncio.get_running_loop().run_in_executor(None, until_idle, library)
        await sounds.aclose()

    callbacks = library.callbacks
    asyncio.run(run())
    assert library.callbacks - callbacks < 40, "only the short one was made"


@pytest.mark.usefixtures("library")
def test_in_simulated_time_a_sentence_is_made_on_the_spot() -> None:
    async def run() -> tuple[list[Sound], float]:
        sounds = [sound async for sound in EspeakVoice().speak(SENTENCE)]
        return sounds, asyncio.get_running_loop().time()

    sounds, passed_s = run_simulated(run())
    assert texts_of(sounds) == SENTENCE.split()
    assert passed_s == 0


def test_in_a_conversation_the_history_keeps_the_words_that_were_heard(library: Library) -> None:
    replies = ["One two three. Four five six seven eight nine ten.", "All right."]

    async def run() -> Conversation:
        agent = Agent(ScriptedBrain(replies), voice=EspeakVoice(), profile=profile("confirm", dead_air_ms=0))
        conversation = Conversation(agent, ScriptedLine(), seats=Seats())
        async with conversation:
            conversation.type("Count, please.")
            await asyncio.sleep(2)
            conversation.interrupt()
            await asyncio.sleep(1)
        return conversation

    heard = next(item.text for item in run_simulated(run()).history if isinstance(item, AgentSaid))
    assert replies[0].startswith(heard)
    assert heard.startswith("One two three. Four")
    assert not heard.endswith("ten.")


# -- What goes wrong


@pytest.mark.usefixtures("library")
def test_an_unknown_voice_is_refused_and_the_others_still_speak() -> None:
    with pytest.raises(ServiceError, match="espeak-ng has no voice 'xx-none'") as caught:
        say("Hello", voice="xx-none")
    assert caught.value.error is ErrorClass.INVALID_ARGS
    assert texts_of(say("Hello there")) == ["Hello", "there"]


@pytest.mark.usefixtures("library")
def test_a_mistake_within_a_callback_reaches_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> list[Sound]:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(TimedPieces, "take", fail)
    with pytest.raises(RuntimeError, match="a mistake"):
        say("Hello")
    monkeypatch.undo()
    assert texts_of(say("Hello")) == ["Hello"]


@pytest.mark.parametrize("rate_wpm", [0, 79, 451])
def test_a_rate_that_espeak_can_not_speak_is_refused(rate_wpm: int) -> None:
    with pytest.raises(ValueError, match="80 to 450 words per minute"):
        EspeakVoice(rate_wpm=rate_wpm)


def test_a_model_that_was_never_pulled_is_reported_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing, match="duologue models pull espeak-ng"):
        EspeakVoice()


def test_a_file_that_is_not_a_library_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="no such file; pass the path of an espeak-ng library"):
        EspeakVoice(library=tmp_path / "none.so")
    (tmp_path / "text.so").write_text("hello")
    with pytest.raises(ServiceError, match=r"text\.so isn't an espeak-ng library"):
        say("Hello", library=tmp_path / "text.so")


def test_importing_the_voice_loads_neither_numpy_nor_the_library() -> None:
    code = "import sys, duologue.voice.espeak; sys.exit('numpy' in sys.modules or 'duologue.models' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- Cutting, without the library

RATE_HZ = 1_050  # as with espeak-ng, 20 ms are a whole number of samples, and 1 ms isn't
PIECE = RATE_HZ * PIECE_MS // 1000


def cut(text: str, samples: int, marks: list[Mark], at_once: int) -> list[Sound]:
    """The pieces of a text whose sound comes in so many samples at once, with the marks that lie in them."""
    pieces, sounds = TimedPieces(text, RATE_HZ), []
    for start in range(0, samples, at_once):
        end = min(samples, start + at_once)
        arrived = [mark for mark in marks if start <= mark.sample < end]
        sounds += pieces.take(b"ab" * (end - start), arrived)
    return sounds + pieces.rest()


@st.composite
def readings(draw: st.DrawFn) -> tuple[str, int, list[Mark]]:
    """A text and marks in the order of their time, also wrong ones."""
    text = " ".join(draw(st.lists(st.sampled_from(["a", "bc", "—", "def,"]), max_size=8)))
    samples = draw(st.integers(1, 700))
    edges = st.sampled_from([at for edge in range(0, 701, PIECE) for at in (edge, edge + 1) if at < samples])
    times = sorted(draw(st.lists(st.integers(0, samples - 1) | edges, max_size=20)))
    places = st.one_of(st.none(), st.integers(-1, len(text) + 3))
    return text, samples, [Mark(time, draw(places), draw(st.booleans())) for time in times]


@given(readings(), st.sampled_from([1, 7, PIECE, PIECE + 1, 200]))
def test_cutting_loses_neither_sound_nor_words(reading: tuple[str, int, list[Mark]], at_once: int) -> None:
    text, samples, marks = reading
    sounds = cut(text, samples, marks, at_once)
    assert texts_of(sounds) == text.split()
    pcm = b"".join(sound.pcm for sound in sounds).rstrip(b"\0")
    faded = RATE_HZ * FADE_MS // 1000 * 2 + 2
    assert (b"ab" * samples).startswith(pcm[:-faded])
    if not any(mark.silent for mark in marks):
        assert pcm == b"ab" * samples, "only silence is trimmed"
    words = words_of(sounds)
    assert all(word.end_ms + PAUSE_MS <= ms_of(sounds) + 1 for word in words)
    assert all(word.start_ms <= word.end_ms for word in words)
    assert [word.end_ms for word in words] == sorted(word.end_ms for word in words)


@pytest.mark.parametrize("pause_ms", [0, 20, 120, 500])
def test_a_sentence_ends_with_the_pause_that_was_chosen(pause_ms: int) -> None:
    pieces = TimedPieces("a b", RATE_HZ, pause_ms)
    marks = [Mark(0, 0), Mark(100, 2), Mark(210, None, silent=True)]
    sounds = [*pieces.take(b"ab" * 420, marks), *pieces.rest()]
    assert ms_of(sounds) == 200 + pause_ms
    assert [word.end_ms for word in words_of(sounds)] == [96, 200]


@given(readings(), st.sampled_from([1, 7, PIECE, PIECE + 1, 200]))
def test_words_are_reported_where_they_end_however_the_audio_arrives(
    reading: tuple[str, int, list[Mark]], at_once: int
) -> None:
    sounds = cut(*reading, at_once)
    assert words_of(sounds) == words_of(cut(*reading, 10_000))
    at_ms = 0
    for sound in sounds:
        assert all((word.end_ms > 0 or at_ms == 0) and word.end_ms <= sound.ms for word in sound.words)
        at_ms += sound.ms


@pytest.mark.usefixtures("library")
def test_a_changed_library_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library runs in this process: one changed byte of the same file size is noticed before it is loaded."""
    shutil.copytree(model_path("espeak-ng"), tmp_path / "models" / "espeak-ng", symlinks=True)
    monkeypatch.setenv("DUOLOGUE_CACHE", str(tmp_path))
    file = next((tmp_path / "models" / "espeak-ng").glob("libespeak-ng.*"))
    library = bytearray(file.read_bytes())
    library[len(library) // 2] ^= 1
    file.write_bytes(bytes(library))
    with pytest.raises(ModelChanged, match=r"the model espeak-ng can't be used: .*libespeak-ng"):
        find_library(None)
    with pytest.raises(ModelMissing):
        find_library(None)
