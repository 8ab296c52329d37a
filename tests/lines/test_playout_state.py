"""What the queue of samples decides, input by input and in any order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.lines.playback.inputs import ClearAsked, HoldAsked, ResumeAsked, SoundAdded, SoundEnded, VoiceBegan
from duologue.lines.playback.state import VoicePlace
from duologue.lines.playout_state import (
    NOTHING,
    AmountAsked,
    CueAdded,
    CueEnded,
    PlayoutDone,
    PlayoutInput,
    PlayoutState,
    SamplesNeeded,
    step,
)

PLAYING = PlayoutState(VoicePlace.PLAYING, voice=2, queued=10, played=5, cue=1, cue_queued=4)
HELD = replace(PLAYING, place=VoicePlace.HELD)
SILENT = PlayoutState(cue=1, cue_queued=4)


@pytest.mark.parametrize(
    ("state", "one", "after", "done"),
    [
        (SILENT, VoiceBegan(1), replace(SILENT, place=VoicePlace.PLAYING, voice=1), PlayoutDone(drops_voice=True)),
        (PLAYING, VoiceBegan(2), PLAYING, NOTHING),
        (HELD, VoiceBegan(3), replace(SILENT, place=VoicePlace.PLAYING, voice=3), PlayoutDone(drops_voice=True)),
        (PLAYING, SoundAdded(2, 7), replace(PLAYING, queued=17), NOTHING),
        (PLAYING, SoundEnded(2, 1), replace(PLAYING, queued=11, is_complete=True), NOTHING),
        (PLAYING, HoldAsked(2), HELD, NOTHING),
        (HELD, ResumeAsked(2), PLAYING, NOTHING),
        (HELD, ClearAsked(2), SILENT, PlayoutDone(drops_voice=True, played=5)),
        (PLAYING, CueAdded(1, 3), replace(PLAYING, cue_queued=7), NOTHING),
        (PLAYING, CueAdded(2, 3), replace(PLAYING, cue=2, cue_queued=3), PlayoutDone(drops_cue=True)),
        (SILENT, CueEnded(), replace(SILENT, cue_queued=0), PlayoutDone(drops_cue=True)),
        (
            PLAYING,
            SamplesNeeded(4),
            replace(PLAYING, queued=6, played=9, cue_queued=0),
            PlayoutDone(drops_cue=True, voice_samples=4),
        ),
        (HELD, SamplesNeeded(3), replace(HELD, cue_queued=1), PlayoutDone(cue_samples=3)),
        (SILENT, SamplesNeeded(9), replace(SILENT, cue_queued=0), PlayoutDone(cue_samples=4)),
        (PLAYING, AmountAsked(), PLAYING, PlayoutDone(played=5)),
        (
            replace(PLAYING, queued=0, is_complete=True),
            AmountAsked(),
            SILENT,
            PlayoutDone(played=5, is_all=True),
        ),
    ],
)
def test_each_input_does_what_it_says(
    state: PlayoutState, one: PlayoutInput, after: PlayoutState, done: PlayoutDone
) -> None:
    assert step(state, one) == (after, done)


ABOUT_A_VOICE = (HoldAsked, ResumeAsked, ClearAsked, SoundAdded, SoundEnded)
voices = st.integers(0, 3)
amounts = st.integers(0, 50)
INPUTS = st.one_of(
    *(st.builds(kind, voices) for kind in (HoldAsked, ResumeAsked, ClearAsked)),
    st.builds(VoiceBegan, st.integers(1, 3)),
    *(st.builds(kind, voices, amounts) for kind in (SoundAdded, SoundEnded, CueAdded)),
    st.builds(SamplesNeeded, amounts),
    st.sampled_from([CueEnded(), AmountAsked()]),
)


@pytest.mark.req("V-01", "V-05")
@given(st.lists(INPUTS, max_size=60))
def test_in_any_order_a_voice_plays_what_was_queued_and_late_inputs_change_nothing(story: list[PlayoutInput]) -> None:
    state, added = PlayoutState(), 0
    for one in story:
        before = state
        state, done = step(before, one)
        if (
            isinstance(one, HoldAsked | ResumeAsked | ClearAsked | SoundAdded | SoundEnded)
            and one.voice != before.voice
        ):
            assert (state, done) == (before, NOTHING)
            continue
        if state.voice != before.voice:
            added = 0
        if isinstance(one, SoundAdded | SoundEnded) and state.voice:
            added += one.samples
        assert state.played + state.queued == added
        assert not (done.voice_samples and done.cue_samples)
        assert not done.voice_samples or (before.place is VoicePlace.PLAYING and state.cue_queued == 0)
