"""The playback machine: in any order of inputs, what is late changes nothing and nothing is heard that was not sent."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.lines.playback import inputs as on
from duologue.lines.playback import intents as do
from duologue.lines.playback.inputs import Position
from duologue.lines.playback.intents import REPORTS, PlayCommand, SendCommand, SendSound
from duologue.lines.playback.machine import ABOUT_THE_VOICE, MACHINE, step
from duologue.lines.playback.sending import send_ahead
from duologue.lines.playback.state import AHEAD_MS, PIECE_MS, ClientPlace, PlaybackState, SoundEnd, VoicePlace
from duologue.ports.line import Finished, Played, Stopped

voices = st.integers(1, 3)
times = st.one_of(st.integers(0, 4_000), st.just(10**12))
positions = st.none() | st.builds(Position, st.integers(0, 3), times, st.integers(0, 40))
INPUTS = st.one_of(
    st.builds(on.VoiceBegan, voices),
    st.builds(on.SoundAdded, voices, st.integers(0, 40_000)),
    st.builds(on.SoundEnded, voices, st.integers(0, 3_000)),
    *(st.builds(kind, voices) for kind in (on.HoldAsked, on.ResumeAsked, on.ClearAsked)),
    *(st.builds(kind, voices, times) for kind in (on.PlayedReported, on.FinishedReported, on.StoppedReported)),
    st.builds(on.UnplayableReported, voices),
    st.builds(on.ClientConnected, st.integers(1, 4), positions),
    st.builds(on.ClientDisconnected, st.integers(1, 4)),
    st.sampled_from([on.WaitingEnded(), on.OpeningBegan(), on.LineClosed()]),
)
STORIES = st.lists(INPUTS, max_size=50)


def lives(story: list[on.PlaybackInput]) -> list[tuple[PlaybackState, on.PlaybackInput, PlaybackState, tuple]]:  # type: ignore[type-arg]
    """Each step of a story: the state before, the input, the state after, and the intents."""
    state, steps = PlaybackState(), []
    for one in story:
        after, intents = step(state, one)
        steps.append((state, one, after, intents))
        state = after
    return steps


@pytest.mark.req("V-05")
@settings(max_examples=200, deadline=None)
@given(STORIES)
def test_what_names_another_voice_changes_nothing(story: list[on.PlaybackInput]) -> None:
    for before, one, after, intents in lives(story):
        if isinstance(one, ABOUT_THE_VOICE) and one.voice != before.voice:
            assert (after, intents) == (before, ())
        if isinstance(one, on.ClientDisconnected) and one.client != before.client:
            assert (after, intents) == (before, ())


@pytest.mark.req("V-03", "V-05")
@settings(max_examples=200, deadline=None)
@given(STORIES)
def test_sound_goes_only_to_a_client_that_is_here_and_only_of_a_voice_that_plays(
    story: list[on.PlaybackInput],
) -> None:
    for _, _, after, intents in lives(story):
        sounds = [intent for intent in intents if isinstance(intent, SendSound)]
        assert not sounds or (after.client_place, after.voice_place) == (ClientPlace.HERE, VoicePlace.PLAYING)
        assert all(sound.voice == after.voice for sound in sounds)
        assert after.sent_ms - after.heard_ms <= AHEAD_MS + PIECE_MS


@settings(max_examples=200, deadline=None)
@given(STORIES)
def test_after_each_step_everything_that_may_be_sent_was_sent(story: list[on.PlaybackInput]) -> None:
    for _, _, after, _ in lives(story):
        assert send_ahead(after) == (after, ())


@pytest.mark.req("V-01")
@settings(max_examples=200, deadline=None)
@given(STORIES)
def test_a_client_gets_each_sample_once_and_in_order(story: list[on.PlaybackInput]) -> None:
    """From the place where the line put it, a client that stays gets sound without a gap."""
    at: int | None = None
    for before, one, after, intents in lives(story):
        if isinstance(one, on.ClientConnected) or after.voice != before.voice:
            at = None
        for intent in intents:
            if isinstance(intent, SendSound):
                assert intent.start < intent.end <= after.made
                assert at is None or intent.start == at
                at = intent.end


@pytest.mark.req("V-01")
@settings(max_examples=200, deadline=None)
@given(STORIES)
def test_what_is_reported_as_heard_never_goes_back_and_was_sent(story: list[on.PlaybackInput]) -> None:
    heard: dict[int, int] = {}
    for before, one, after, intents in lives(story):
        if after.voice != before.voice:
            heard.clear()
        for intent in intents:
            event = intent.event if isinstance(intent, REPORTS) else None
            if isinstance(event, Played | Finished) or (isinstance(event, Stopped) and event.voice == after.voice):
                assert event.voice == after.voice, one
                assert heard.get(event.voice, 0) <= event.heard_ms <= max(before.sent_ms, after.sent_ms)
                heard[event.voice] = event.heard_ms
            if isinstance(event, Finished):
                assert before.end is SoundEnd.SENT


@settings(max_examples=200, deadline=None)
@given(STORIES)
def test_reports_come_behind_everything_for_the_client(story: list[on.PlaybackInput]) -> None:
    for _, _, _, intents in lives(story):
        kinds = [isinstance(intent, REPORTS) for intent in intents]
        assert kinds == sorted(kinds)


@settings(max_examples=200, deadline=None)
@given(STORIES)
def test_the_timer_runs_exactly_while_a_client_is_missed_and_an_opening_ends_once(
    story: list[on.PlaybackInput],
) -> None:
    runs = opens = False
    for before, one, after, intents in lives(story):
        for intent in intents:
            if isinstance(intent, do.StartWaiting | do.StopWaiting):
                assert runs is isinstance(intent, do.StopWaiting)
                runs = not runs
            if isinstance(intent, do.FinishOpening | do.CancelOpening):
                assert opens
                opens = False
        if isinstance(one, on.WaitingEnded) and before.client_place is ClientPlace.MISSED:
            runs = False
        opens = opens or after.client_place is ClientPlace.AWAITED
        assert runs is (after.client_place is ClientPlace.MISSED)
        assert opens is (after.client_place is ClientPlace.AWAITED)


@settings(max_examples=200, deadline=None)
@given(STORIES, st.integers(1, 30_000))
def test_whatever_happened_the_next_voice_is_played_to_its_end(story: list[on.PlaybackInput], samples: int) -> None:
    state = lives(story)[-1][2] if story else PlaybackState()
    state, _ = step(state, on.ClientConnected(9))
    state, _ = step(state, on.VoiceBegan(10))
    state, _ = step(state, on.SoundEnded(10, samples))
    told: list[object] = []
    for ms in range(0, 2_000, 100):
        state, intents = step(state, on.PlayedReported(10, ms))
        told += intents
    ended, last = step(state, on.FinishedReported(10, 2_000))
    assert last == (do.ReportNow(Finished(10, ended.heard_ms)),)
    assert ended.heard_ms == -(-samples // 24)


def test_a_hold_in_the_middle_of_a_return_is_kept() -> None:
    state = PlaybackState()
    for one in (on.VoiceBegan(1), on.SoundAdded(1, 2_400), on.HoldAsked(1)):
        state, _ = step(state, one)
    state, intents = step(state, on.ClientConnected(1))
    assert intents[0] == SendCommand(PlayCommand.HOLD, 1)
    assert not [intent for intent in intents if isinstance(intent, SendSound)]


def test_an_input_without_a_row_changes_nothing() -> None:
    assert MACHINE.row_for(VoicePlace.SILENT, PlaybackState(), on.SoundAdded(0, 5)) is None
    assert step(PlaybackState(), on.WaitingEnded()) == (PlaybackState(), ())
