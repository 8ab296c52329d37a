"""When sound is sent to a client that reports nothing, and what counts as heard."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.lines.playback.state import SAMPLES_PER_MS
from duologue.server.rtvi.pacing import (
    LEAD_MS,
    CommandGiven,
    LookDue,
    Pace,
    PaceCommand,
    PaceInput,
    PaceIntent,
    PaceState,
    Release,
    SoundMade,
    TellFinished,
    TellPlayed,
    TellStopped,
    next_look,
    step,
)


class Pacer:
    """The machine with a clock that jumps to the next look."""

    def __init__(self) -> None:
        self.state = PaceState()
        self.now = 1_000
        self.done: list[tuple[int, PaceIntent]] = []

    def post(self, given: PaceInput) -> None:
        self.state, intents = step(self.state, given, self.now)
        self.done += [(self.now, intent) for intent in intents]

    def run(self, ms: int) -> None:
        end = self.now + ms
        while (due := next_look(self.state, self.now)) is not None and due <= end:
            self.now = due
            self.post(LookDue())
        self.now = end

    def of(self, kind: type) -> list[tuple[int, PaceIntent]]:
        return [(at, intent) for at, intent in self.done if isinstance(intent, kind)]


def ms(count: int) -> int:
    return count * SAMPLES_PER_MS


def test_sound_is_sent_a_little_ahead_and_finished_when_it_was_played() -> None:
    pacer = Pacer()
    pacer.post(SoundMade(1, ms(1_000)))
    pacer.post(CommandGiven(PaceCommand.FINISH, 1))
    assert pacer.state.sent_ms == LEAD_MS
    pacer.run(400)
    assert 560 <= pacer.state.sent_ms <= 600
    pacer.run(5_000)
    assert pacer.of(TellFinished) == [(2_000, TellFinished(1, 1_000))]
    assert next_look(pacer.state, pacer.now) is None
    reports = [intent.ms for _, intent in pacer.done if isinstance(intent, TellPlayed)]
    assert reports == sorted(reports)


def test_what_was_sent_is_heard_and_nothing_after_a_cut_is_sent() -> None:
    pacer = Pacer()
    pacer.post(SoundMade(1, ms(3_000)))
    pacer.run(500)
    sent_ms = pacer.state.sent_ms
    pacer.post(CommandGiven(PaceCommand.CLEAR, 1))
    assert pacer.of(TellStopped) == [], "the client still plays what it has"
    pacer.run(1_000)
    (at, stopped), *more = pacer.of(TellStopped)
    assert (stopped, more) == (TellStopped(1, sent_ms), [])
    assert 1_500 <= at <= 1_500 + LEAD_MS
    assert max(when for when, _ in pacer.of(Release)) <= 1_500


def test_a_held_voice_stops_within_the_lead_and_goes_on_where_it_was() -> None:
    pacer = Pacer()
    pacer.post(SoundMade(1, ms(1_000)))
    pacer.run(300)
    pacer.post(CommandGiven(PaceCommand.HOLD, 1))
    sent = pacer.state.sent
    pacer.run(2_000)
    assert pacer.state.sent == sent
    assert pacer.state.reported_ms == pacer.state.sent_ms
    pacer.post(CommandGiven(PaceCommand.FINISH, 1))
    pacer.post(CommandGiven(PaceCommand.RESUME, 1))
    pacer.run(2_000)
    assert [intent for _, intent in pacer.of(TellFinished)] == [TellFinished(1, 1_000)]


def test_late_sound_begins_when_it_comes() -> None:
    pacer = Pacer()
    pacer.post(SoundMade(1, ms(100)))
    pacer.run(1_000)
    assert pacer.state.played_ms(pacer.now) == 100
    pacer.post(SoundMade(1, ms(100)))
    assert pacer.state.played_ms(pacer.now) == 100
    pacer.run(50)
    assert pacer.state.played_ms(pacer.now) == 150


VOICES = st.integers(1, 3)
INPUTS = st.one_of(
    st.builds(SoundMade, VOICES, st.integers(1, ms(300))),
    st.builds(CommandGiven, st.sampled_from(PaceCommand), VOICES),
    st.integers(1, 700),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(INPUTS, max_size=30))
def test_whatever_comes_each_sample_is_sent_once_in_order_and_never_far_ahead(inputs: list[PaceInput | int]) -> None:
    pacer = Pacer()
    for given_input in inputs:
        if isinstance(given_input, int):
            pacer.run(given_input)
        else:
            pacer.post(given_input)
        assert pacer.state.ends_at - pacer.now <= 2 * LEAD_MS, (
            "the rest of a voice that was cut, and the lead of the next"
        )
        assert pacer.state.sent <= pacer.state.made
        assert pacer.state.reported_ms <= pacer.state.sent_ms
    place: tuple[int, int] = (0, 0)
    for _, release in pacer.done:
        if isinstance(release, Release):
            assert (release.voice, release.start) == place or (release.voice != place[0] and release.start == 0)
            assert release.start < release.end
            place = (release.voice, release.end)
    pacer.run(60_000)
    waits = pacer.state.pace in (Pace.RUNNING, Pace.HELD)
    assert next_look(pacer.state, pacer.now) is None
    assert not waits or pacer.state.ends_at <= pacer.now, "left alone it comes to rest"
    ends = [release for _, release in pacer.done if isinstance(release, TellStopped | TellFinished)]
    assert len({end.voice for end in ends}) <= len(ends)
