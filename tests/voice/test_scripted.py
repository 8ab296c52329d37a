"""The scripted voice: sound of a predictable length, with or without word times."""

from __future__ import annotations

import asyncio

from duologue.ports.sound import Sound
from duologue.runtime.simulated_clock import run_simulated
from duologue.voice.scripted import ScriptedVoice


def sounds_of(voice: ScriptedVoice, text: str) -> tuple[list[Sound], float]:
    async def main() -> tuple[list[Sound], float]:
        sounds = [sound async for sound in voice.speak(text)]
        return sounds, asyncio.get_running_loop().time()

    return run_simulated(main())


def test_the_length_follows_the_text_and_is_cut_into_chunks() -> None:
    sounds, _ = sounds_of(ScriptedVoice(chunk_ms=200, char_ms=50), "one two three")
    assert [sound.ms for sound in sounds] == [200, 200, 200, 100]


def test_each_word_is_in_the_chunk_in_which_it_ends() -> None:
    sounds, _ = sounds_of(ScriptedVoice(chunk_ms=200, char_ms=50), "one two three")
    assert [[word.text for word in sound.words] for sound in sounds] == [["one"], ["two"], [], ["three"]]
    assert all(word.end_ms <= sound.ms for sound in sounds for word in sound.words)


def test_word_times_can_be_left_out() -> None:
    sounds, _ = sounds_of(ScriptedVoice(times=False), "one two three")
    assert sounds
    assert not any(sound.words for sound in sounds)


def test_the_first_sound_can_be_late() -> None:
    assert sounds_of(ScriptedVoice(first_ms=1_500), "Hello.")[1] == 1.5


def test_an_empty_text_has_no_sound() -> None:
    assert sounds_of(ScriptedVoice(), " ")[0] == []
