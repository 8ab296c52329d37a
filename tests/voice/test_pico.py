"""SVOX Pico as a voice: six languages, any text, and a stop at any time."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from duologue import Agent, Conversation, profile
from duologue.brains.scripted import ScriptedBrain
from duologue.core.leaves import ErrorClass
from duologue.lines.scripted import ScriptedLine
from duologue.models.cache import ModelMissing
from duologue.ports import AgentSaid, ServiceError, Sound
from duologue.runtime.seats import Seats
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice import sentence_thread
from duologue.voice.pico import GRAIN_MS, LANGUAGES, PicoVoice, voice_language
from duologue.voice.pico_process import PicoFailed, PicoProcess
from duologue.voice.pico_text import speakable
from duologue.voice.sentence_edges import LEAD_MS
from tests.limits import WAIT_S
from tests.needs import needs_model, needs_package

SENTENCE = "Sure, I can help with that, and your appointment is on Tuesday at 3:30."
LONG = "and then we went on along the river until the evening came " * 6


@pytest.fixture(scope="module")
def _pico() -> Iterator[None]:
    """The engine, which may take its time here: a busy machine isn't an engine that hangs."""
    needs_model("svox-pico")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sentence_thread, "LATE_S", WAIT_S)
        yield


async def listen(sounds: AsyncIterator[Sound]) -> list[Sound]:
    async with asyncio.timeout(WAIT_S):
        return [sound async for sound in sounds]


def say(text: str, language: str = "en", **options: Any) -> list[Sound]:
    return asyncio.run(listen(PicoVoice(language, **options).speak(text)))


def ms_of(sounds: list[Sound]) -> int:
    return sum(sound.ms for sound in sounds)


def pcm_of(sounds: list[Sound]) -> bytes:
    return b"".join(sound.pcm for sound in sounds)


# -- What is said


@pytest.mark.usefixtures("_pico")
def test_a_sentence_becomes_sound_of_a_likely_length() -> None:
    sounds = say(SENTENCE)
    assert 3_000 < ms_of(sounds) < 8_000
    for sound in sounds:
        assert sound.ms % GRAIN_MS == 0
        assert (sound.rate_hz, len(sound.pcm)) == (16_000, sound.ms * 32)


@pytest.mark.usefixtures("_pico")
@pytest.mark.parametrize("language", list(LANGUAGES))
def test_each_language_has_its_own_voice(language: str) -> None:
    assert ms_of(say("Hotel Europa, 12.", language)) > 500
    if language != "en-US":
        assert pcm_of(say("Hotel Europa, 12.", language)) != pcm_of(say("Hotel Europa, 12."))


@pytest.mark.usefixtures("_pico")
def test_it_is_not_clipped_and_ends_with_the_pause_that_was_chosen() -> None:
    np = needs_package("numpy", "pip install 'duologue[speech]'")
    for pause_ms in (120, 400):
        samples = np.abs(np.frombuffer(pcm_of(say("Good night.", sentence_pause_ms=pause_ms)), "<i2").astype(int))
        loud = np.nonzero(samples > 150)[0] * 1000 // 16_000
        assert 2_000 < samples.max() < 32_000
        assert loud[0] <= LEAD_MS + 5
        assert pause_ms - 5 <= len(samples) * 1000 // 16_000 - loud[-1] <= pause_ms + GRAIN_MS + 5


@pytest.mark.usefixtures("_pico")
def test_sentences_follow_each_other_without_a_gap_or_a_click() -> None:
    np = needs_package("numpy", "pip install 'duologue[speech]'")
    first, second = say("It is late."), say("Good night.")
    both = np.frombuffer(pcm_of(say("It is late. Good night.")), "<i2").astype(int)
    assert len(both) * 1000 // 16_000 == ms_of(first) + ms_of(second)
    join = ms_of(first) * 16
    assert np.abs(np.diff(both[join - 160 : join + 160])).max() < 150


@pytest.mark.usefixtures("_pico")
def test_rate_and_pitch_are_settings() -> None:
    slow, fast = say(SENTENCE, rate_wpm=120), say(SENTENCE, rate_wpm=240)
    assert ms_of(fast) * 1.5 < ms_of(slow)
    assert pcm_of(say(SENTENCE, pitch=140)) != pcm_of(say(SENTENCE))
    with pytest.raises(ValueError, match="rate_wpm must be from 80 to 450"):
        PicoVoice(rate_wpm=20)


@pytest.mark.usefixtures("_pico")
def test_the_default_speed_is_that_of_a_calm_speaker() -> None:
    text = "The museum opens at nine in the morning and closes at six. On Sundays we open later, and close at five."
    assert 150 < len(text.split()) / (ms_of(say(text)) / 60_000) < 180


@pytest.mark.usefixtures("_pico")
@pytest.mark.parametrize("text", ["", "  \n ", "\0", "😀", "...", "<>", "日本語です。"])
def test_a_text_without_words_gives_no_sound(text: str) -> None:
    assert say(text) == []


@pytest.mark.usefixtures("_pico")
def test_a_command_of_the_engine_in_a_text_is_not_obeyed(tmp_path: Path) -> None:
    marked = f"<genfile file='{tmp_path}/out.wav'>Hello</genfile> <break time='9s'/> <speed level='500'>you</speed>"
    assert pcm_of(say(marked)) == pcm_of(say(speakable(marked)))
    assert not list(tmp_path.iterdir())
    assert ms_of(say("Wait <pause> here")) > ms_of(say("Wait here"))


@pytest.mark.usefixtures("_pico")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=60), st.sampled_from(list(LANGUAGES)))
@example("1,234.56 $5 3:30pm e.g. <b>x</b> twenty-one 😀 — naïve", "en-US")
@example("bcdfghjklmnpqrstvwxz" * 10, "de-DE")
@example("0123456789" * 12 + " http://a.b/c?d=e&f=g me@example.org", "it-IT")
@example("<speed level='5'> </voice> <usesig file='/etc/passwd'> &lt;", "fr-FR")
def test_any_text_is_said_or_sounds_as_nothing(text: str, language: str) -> None:
    sounds = say(text, language)
    assert bool(sounds) <= bool(speakable(text))


@pytest.mark.usefixtures("_pico")
def test_ten_thousand_characters_are_said_to_the_end() -> None:
    text = ("the quick brown fox jumps over the lazy dog " * 228)[:10_000]
    assert ms_of(say(text, rate_wpm=450)) > 150_000


# -- Stopping and failing


@pytest.mark.usefixtures("_pico")
def test_after_a_stop_the_next_sentence_is_whole() -> None:
    voice = PicoVoice()

    async def run() -> list[Sound]:
        for _ in range(20):
            async with aclosing(voice.speak(LONG)) as sounds:
                await anext(sounds)
        return await listen(voice.speak(SENTENCE))

    assert pcm_of(asyncio.run(run())) == pcm_of(say(SENTENCE))


@pytest.mark.usefixtures("_pico")
def test_voices_that_speak_at_once_do_not_mix() -> None:
    texts = [f"This is caller {number}, and no other one." for number in range(8)]
    voices = [PicoVoice(language) for language in (*LANGUAGES, "en", "de")]

    async def run() -> list[list[Sound]]:
        return await asyncio.gather(*(listen(voice.speak(text)) for voice, text in zip(voices, texts, strict=True)))

    alone = [asyncio.run(listen(voice.speak(text))) for voice, text in zip(voices, texts, strict=True)]
    assert [pcm_of(sounds) for sounds in asyncio.run(run())] == [pcm_of(sounds) for sounds in alone]


@pytest.mark.usefixtures("_pico")
def test_a_part_that_the_engine_can_not_take_is_said_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    speak, said = PicoProcess.speak, []

    def fail_if_long(process: PicoProcess, text: str, *more: Any) -> None:
        if len(text) > 40:
            raise PicoFailed(ErrorClass.SERVER_ERROR)
        said.append(text)
        speak(process, text, *more)

    monkeypatch.setattr(PicoProcess, "speak", fail_if_long)
    assert ms_of(say(SENTENCE)) > 3_000
    assert " ".join(said) == SENTENCE


@pytest.mark.usefixtures("_pico")
def test_what_can_not_be_said_at_all_is_a_failure_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise PicoFailed(ErrorClass.SERVER_ERROR, "the Pico engine failed (code -200)")

    monkeypatch.setattr(PicoProcess, "speak", fail)
    with pytest.raises(ServiceError, match="the Pico engine failed"):
        say(SENTENCE)


@pytest.mark.usefixtures("_pico")
def test_in_simulated_time_a_sentence_is_made_on_the_spot() -> None:
    async def run() -> tuple[int, float]:
        sounds = [sound async for sound in PicoVoice().speak(SENTENCE)]
        return ms_of(sounds), asyncio.get_running_loop().time()

    assert run_simulated(run()) == (ms_of(say(SENTENCE)), 0)


@pytest.mark.usefixtures("_pico")
def test_in_a_conversation_the_history_keeps_the_words_that_were_heard() -> None:
    replies = ["One two three. Four five six seven eight nine ten.", "All right."]

    async def run() -> Conversation:
        agent = Agent(ScriptedBrain(replies), voice=PicoVoice(), profile=profile("confirm", dead_air_ms=0))
        conversation = Conversation(agent, ScriptedLine(), seats=Seats())
        async with conversation:
            conversation.type("Count, please.")
            await asyncio.sleep(2.5)
            conversation.interrupt()
            await asyncio.sleep(1)
        return conversation

    heard = next(item.text for item in run_simulated(run()).history if isinstance(item, AgentSaid))
    assert replies[0].startswith(heard)
    assert heard.startswith("One two three. Four")
    assert not heard.endswith("ten.")


# -- Making one


@pytest.mark.parametrize(
    ("language", "voice"),
    [
        *(("en", "en-US"), ("en-AU", "en-GB"), ("en_GB", "en-GB"), ("de-AT", "de-DE"), ("FR", "fr-FR")),
        *(("es-MX", "es-ES"), ("it", "it-IT"), ("pl", ""), ("", ""), ("deu", "")),
    ],
)
def test_the_language_picks_the_voice(language: str, voice: str) -> None:
    assert voice_language(language) == voice


def test_a_language_that_it_does_not_speak_is_refused() -> None:
    with pytest.raises(ValueError, match="Pico doesn't speak 'pl', only en-US, en-GB, de-DE"):
        PicoVoice("pl")


def test_a_model_that_was_never_pulled_is_reported_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    with pytest.raises(ModelMissing, match="duologue models pull svox-pico"):
        PicoVoice()
    with pytest.raises(ServiceError, match="isn't the folder of the model svox-pico"):
        PicoVoice(folder=tmp_path)


def test_importing_the_voice_starts_nothing_and_loads_no_numpy() -> None:
    code = (
        "import sys; sys.addaudithook(lambda event, _: event.startswith('subprocess') and sys.exit(event))\n"
        "import duologue.voice.local; sys.exit('numpy' in sys.modules or 'duologue.models' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
