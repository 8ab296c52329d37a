"""The audio of one response item, with its transcript."""

from __future__ import annotations

from duologue.brains.realtime.item_audio import ItemAudio

# -- Sound and its words


def test_words_go_with_the_sound_and_the_last_ones_with_its_end() -> None:
    sounds = ItemAudio()
    sounds.add_words("One ")
    first = sounds.add(bytes(100 * 48))
    sounds.add_words("two")
    last = sounds.rest()
    assert first is not None
    assert last is not None
    assert (first.ms, first.text, first.more) == (90, "One ", True)
    assert (last.ms, last.text, last.more) == (10, "two", False)
    assert sounds.rest() is None


def test_no_sample_is_lost_however_the_sound_comes() -> None:
    sounds, pcm = ItemAudio(), bytes(range(256)) * 40
    got = b""
    for at in range(0, len(pcm), 1_111):
        piece = sounds.add(pcm[at : at + 1_111])
        got += piece.pcm if piece else b""
    last = sounds.rest()
    assert last is not None
    assert (got + last.pcm)[: len(pcm)] == pcm
    assert len(last.pcm) == last.ms * 48
