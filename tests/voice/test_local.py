"""The local voice: the language picks it, the agent's language too, and a stand-in is named in one line."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from duologue import Agent, LocalVoice
from duologue.core.errors import DuologueError
from duologue.models import cache as cache_module
from duologue.models import compile as compile_module
from duologue.voice.espeak import EspeakVoice
from duologue.voice.local import espeak_name, voice_model
from duologue.voice.pico import PicoVoice
from tests.needs import needs_model


def brain(_: object) -> str:
    return "Yes."


@pytest.fixture
def _both() -> None:
    needs_model("svox-pico")
    needs_model("espeak-ng")


@pytest.fixture
def only_espeak(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_model("espeak-ng")
    is_present = cache_module.is_present
    monkeypatch.setattr(
        cache_module, "is_present", lambda name, **more: name != "svox-pico" and is_present(name, **more)
    )


@pytest.mark.usefixtures("_both")
def test_pico_speaks_its_languages_and_espeak_the_others() -> None:
    assert isinstance(LocalVoice("de").engine, PicoVoice)
    assert isinstance(LocalVoice("nl").engine, EspeakVoice)
    assert isinstance(LocalVoice().engine, PicoVoice)


@pytest.mark.usefixtures("_both")
def test_the_agent_tells_its_language_to_a_voice_without_one() -> None:
    german = Agent(brain, language="de", voice=LocalVoice()).voice
    assert isinstance(german, LocalVoice)
    assert isinstance(german.engine, PicoVoice)
    assert german.engine.language == "de-DE"
    chosen = LocalVoice("en-GB")
    assert Agent(brain, language="de", voice=chosen).voice is chosen
    polish = Agent(brain, language="pl", voice=LocalVoice()).voice
    assert isinstance(polish, LocalVoice)
    assert isinstance(polish.engine, EspeakVoice)


@pytest.mark.usefixtures("_both")
@pytest.mark.parametrize("language", ["en", "nl"])
def test_both_engines_speak_at_about_the_same_speed(language: str) -> None:
    async def ms_of(voice: LocalVoice) -> int:
        return sum([sound.ms async for sound in voice.speak("We are open from nine to five on every day of May.")])

    calm, quick = (asyncio.run(ms_of(LocalVoice(language, rate_wpm=rate))) for rate in (150, 300))
    assert 3_000 < calm < 5_500
    assert quick * 1.5 < calm


@pytest.mark.usefixtures("only_espeak")
def test_a_stand_in_is_named_in_one_line_with_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert isinstance(LocalVoice("de").engine, EspeakVoice)
        assert isinstance(LocalVoice("nl").engine, EspeakVoice)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.startswith("espeak-ng is used, because the better voice svox-pico isn't available: ")


def test_without_a_compiler_espeak_is_the_model_to_pull(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    monkeypatch.setattr(compile_module, "find_compiler", lambda: ("cc",))
    assert (voice_model("en"), voice_model("ja")) == ("svox-pico", "espeak-ng")
    monkeypatch.setattr(compile_module, "find_compiler", lambda: ())
    assert voice_model("en") == "espeak-ng"


def test_a_missing_model_is_named_when_the_agent_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUOLOGUE_MODELS", str(tmp_path))
    with pytest.raises(DuologueError, match="the model espeak-ng is missing; run `duologue models pull espeak-ng`"):
        Agent(brain, language="ja", voice=LocalVoice())


def test_settings_that_are_not_possible_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="pitch must be from 50 to 200"):
        LocalVoice(pitch=1)


@pytest.mark.parametrize(
    ("language", "name"),
    [
        *(("en", "en-us"), ("en-GB", "en-gb"), ("en-AU", "en-us"), ("pt-BR", "pt-br"), ("pt", "pt")),
        *(("zh", "cmn"), ("zh-CN", "cmn"), ("no", "nb"), ("nl-BE", "nl"), ("ja_JP", "ja")),
    ],
)
def test_the_name_of_an_espeak_voice(language: str, name: str) -> None:
    assert espeak_name(language) == name


def test_every_language_of_the_phrases_has_an_espeak_voice() -> None:
    data = needs_model("espeak-ng") / "espeak-ng-data"
    for code in ("de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "zh"):
        name = espeak_name(code)
        assert any(path.name.lower() == name for path in (data / "lang").rglob("*")), name
