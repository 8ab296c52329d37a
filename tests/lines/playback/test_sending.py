"""What is sent next, and what is sent again."""

from __future__ import annotations

import pytest

from duologue.lines.playback.inputs import Position
from duologue.lines.playback.intents import PlaybackIntent, PlayCommand, SendCommand, SendSound
from duologue.lines.playback.sending import note_heard, send_ahead, send_missing
from duologue.lines.playback.state import (
    AHEAD_MS,
    SAMPLES_PER_MS,
    ClientPlace,
    Piece,
    PlaybackState,
    SoundEnd,
    VoicePlace,
)

FRESH = PlaybackState(VoicePlace.PLAYING, ClientPlace.HERE, 1, voice=4)


def made(ms: int, end: SoundEnd = SoundEnd.OPEN) -> PlaybackState:
    return FRESH._replace(made=ms * SAMPLES_PER_MS, end=end)


def sizes_ms(intents: tuple[PlaybackIntent, ...]) -> list[int]:
    return [(one.end - one.start) // SAMPLES_PER_MS for one in intents if isinstance(one, SendSound)]


@pytest.mark.req("V-03")
def test_a_second_is_sent_ahead_and_no_more() -> None:
    state, intents = send_ahead(made(5_000))
    assert sizes_ms(intents) == [100] * 10
    assert state.sent_ms == AHEAD_MS
    assert send_ahead(state) == (state, ())


def test_a_piece_that_is_not_full_is_sent_only_if_the_client_has_little_left() -> None:
    state, intents = send_ahead(made(130))
    assert sizes_ms(intents) == [100, 30]
    more = state._replace(made=state.made + 90 * SAMPLES_PER_MS)
    assert sizes_ms(send_ahead(more)[1]) == [90]
    plenty = send_ahead(more)[0]._replace(made=more.made + 90 * SAMPLES_PER_MS)
    assert sizes_ms(send_ahead(plenty)[1]) == []
    assert sizes_ms(send_ahead(plenty._replace(end=SoundEnd.KNOWN))[1]) == [90]


def test_the_end_is_sent_once_and_behind_the_last_piece() -> None:
    state, intents = send_ahead(made(150, SoundEnd.KNOWN))
    assert intents[-1] == SendCommand(PlayCommand.FINISH, 4)
    assert send_ahead(state) == (state, ())
    assert SendCommand(PlayCommand.FINISH, 4) not in send_ahead(made(1_150, SoundEnd.KNOWN))[1]


@pytest.mark.parametrize("place", [VoicePlace.SILENT, VoicePlace.HELD, VoicePlace.CLEARED])
def test_only_a_playing_voice_is_sent(place: VoicePlace) -> None:
    state = made(500)._replace(voice_place=place)
    assert send_ahead(state) == (state, ())


@pytest.mark.req("V-01")
def test_pieces_that_are_sent_again_keep_their_numbers_and_ends() -> None:
    state, first = send_ahead(made(130))
    state = state._replace(made=state.made + 100 * SAMPLES_PER_MS)
    state, more = send_ahead(state)
    back, commands = send_missing(state, Position(4, 0, 1))
    assert commands == (SendCommand(PlayCommand.RESUME, 4),)
    assert send_ahead(back)[1] == (*first, *more)[1:]


def test_a_reloaded_page_gets_the_unheard_rest_of_a_piece() -> None:
    state = note_heard(send_ahead(made(300))[0], 150)
    back, commands = send_missing(state, None)
    assert commands[0] == SendCommand(PlayCommand.BEGIN, 4, 150)
    assert send_ahead(back)[1][0] == SendSound(4, 2, 150 * SAMPLES_PER_MS, 200 * SAMPLES_PER_MS)


def test_a_client_that_claims_chunks_which_were_never_sent_gets_what_follows_the_last_one() -> None:
    state, _ = send_ahead(made(300))
    back, commands = send_missing(state, Position(4, 0, 1 << 53))
    assert commands[0] == SendCommand(PlayCommand.BEGIN, 4, 300)
    assert back.next_number == state.next_number


def test_a_client_that_returns_is_told_of_the_end_again() -> None:
    state, _ = send_ahead(made(100, SoundEnd.KNOWN))
    assert state.end is SoundEnd.SENT
    back, _ = send_missing(state, Position(4, 100, 1))
    assert send_ahead(back)[1] == (SendCommand(PlayCommand.FINISH, 4),)


def test_what_was_heard_never_goes_back_and_never_exceeds_what_was_sent() -> None:
    state = note_heard(send_ahead(made(300))[0], 150)
    assert state.cut == (Piece(2, 2_400, 4_800), Piece(3, 4_800, 7_200))
    assert note_heard(state, 20) == state
    assert note_heard(state, 10**12).heard_ms == 300
    assert note_heard(state, 10**12).cut == ()
