"""A client renders sound in real time, and what was heard is decoded from the samples."""

from __future__ import annotations

from duologue.client.messages import CUE, VOICE, VoiceChunk
from duologue.lab.torture.rendered_audio import AudioRenderer
from duologue.lab.torture.tortured_agent import CHAR_MS, CHAR_SAMPLES, encode_text


def frame(voice: int, chunk: int, text: str) -> VoiceChunk:
    return VoiceChunk(VOICE, voice, chunk, encode_text(text))


def test_what_was_heard_is_what_was_rendered_and_no_more() -> None:
    audio = AudioRenderer()
    audio.advance(10.0)
    audio.receive(frame(1, 1, "Hello "), "a", 10.0)
    audio.receive(frame(1, 1, "Hello "), "b", 10.0)  # known
    audio.advance(10.1)
    assert audio.voices[0].heard == "He"
    audio.receive(frame(1, 2, "you"), "b", 10.1)
    audio.advance(20.0)
    assert audio.voices[0].heard == "Hello you"
    assert audio.command("finish", 1, 20.0) == ("finished", 1, 9 * CHAR_SAMPLES // 24)
    audio.receive(frame(3, 1, "Next"), "b", 20.0)
    assert audio.command("clear", 3, 20.05) == ("stopped", 3, 50)
    audio.advance(30.0)
    assert audio.voices[1].heard == "N"


def test_held_sound_waits_until_it_is_resumed() -> None:
    audio = AudioRenderer()
    audio.advance(10.0)
    assert audio.command("hold", 1, 10.0) is None  # comes before its sound
    audio.receive(frame(1, 1, "Hello"), "a", 10.0)
    audio.advance(15.0)
    assert audio.voices[0].heard == ""
    audio.command("resume", 1, 15.0)
    audio.advance(15.0 + 2 * CHAR_MS / 1000)
    assert audio.voices[0].heard == "He"
    assert audio.position == {"voice": 1, "ms": 2 * CHAR_MS, "chunk": 1}


def test_a_higher_voice_replaces_a_lower_one_and_a_lower_one_is_dropped() -> None:
    audio = AudioRenderer()
    audio.receive(frame(3, 1, "new"), "a", 1.0)
    audio.receive(frame(2, 1, "old"), "a", 1.0)
    audio.receive(frame(5, 1, "newer"), "b", 1.0)
    assert [voice.number for voice in audio.voices] == [3, 5]
    assert audio.voices[0].is_over
    assert not audio.is_quiet


def test_a_voice_that_changes_servers_has_a_stretch_of_each() -> None:
    audio = AudioRenderer()
    audio.advance(0.0)
    audio.receive(frame(1, 1, "ab"), "a", 0.0)
    audio.advance(0.08)
    audio.receive(frame(1, 2, "cd"), "b", 0.08)
    audio.advance(0.16)
    stretches = audio.voices[0].stretches
    assert [(one.node, round(one.began_s, 2), round(one.ended_s, 2)) for one in stretches] == [
        ("a", 0.0, 0.08),
        ("b", 0.08, 0.16),
    ]


def test_a_command_for_an_unknown_voice_is_answered_with_nothing_played() -> None:
    audio = AudioRenderer()
    assert audio.command("clear", 7, 0.0) == ("stopped", 7, 0)
    assert audio.command("finish", 7, 0.0) == ("finished", 7, 0)


def test_a_cue_is_no_answer_and_does_not_disturb_one() -> None:
    audio = AudioRenderer()
    audio.advance(10.0)
    audio.receive(frame(1, 1, "Hello "), "a", 10.0)
    audio.receive(VoiceChunk(CUE, 7, 1, encode_text("Hmm")), "a", 10.0)
    audio.advance(20.0)
    assert [voice.heard for voice in audio.voices] == ["Hello "]
