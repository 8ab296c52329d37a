"""The rows of playback: each has an example, and none is hidden behind another."""

from __future__ import annotations

import pytest

from duologue.lines.playback import inputs as on
from duologue.lines.playback import intents as do
from duologue.lines.playback.inputs import Position
from duologue.lines.playback.intents import PlayCommand, ReportNow, SendCommand
from duologue.lines.playback.machine import MACHINE
from duologue.lines.playback.rows import ROWS
from duologue.lines.playback.state import ClientPlace, FormerVoice, Piece, PlaybackState, SoundEnd, VoicePlace
from duologue.ports.line import Closed, Finished, Healed, Played, Stopped, Unplayable, Wobbled

V, C = VoicePlace, ClientPlace
SECOND = 24_000
SILENT = PlaybackState(client_place=C.HERE, client=7)
PLAYING = PlaybackState(  # two pieces were sent and half of the first was heard
    V.PLAYING, C.HERE, 7, voice=2, made=4_800, cut=(Piece(1, 0, 2_400), Piece(2, 2_400, 4_800)),
    cut_to=4_800, next_number=3, sent_to=4_800, heard_ms=50, former=FormerVoice(1, 300),
)  # fmt: skip
TOLD = PLAYING._replace(end=SoundEnd.SENT)
HELD = PLAYING._replace(voice_place=V.HELD)
CLEARED = PLAYING._replace(voice_place=V.CLEARED, cut=())
MISSED = PLAYING._replace(client_place=C.MISSED)
AWAY = PlaybackState(stopped=Stopped(1, 20))
AWAITED = AWAY._replace(client_place=C.AWAITED)

Example = tuple[PlaybackState, on.PlaybackInput, VoicePlace | ClientPlace, tuple[do.PlaybackIntent, ...]]
EXAMPLES: dict[str, list[Example]] = {
    "silent/playing/held/cleared + VoiceBegan [is_another_voice] -> playing": [
        (SILENT, on.VoiceBegan(1), V.PLAYING, ()),
        (HELD, on.VoiceBegan(3), V.PLAYING, ()),
    ],
    "playing/held + SoundAdded -> same": [
        (PLAYING, on.SoundAdded(2, 2_400), V.PLAYING, (do.SendSound(2, 3, 4_800, 7_200),)),
        (HELD, on.SoundAdded(2, 2_400), V.HELD, ()),
    ],
    "playing/held + SoundEnded -> same": [
        (PLAYING, on.SoundEnded(2, 0), V.PLAYING, (SendCommand(PlayCommand.FINISH, 2),)),
        (PLAYING, on.SoundEnded(2, 9), V.PLAYING,
         (do.SendSound(2, 3, 4_800, 4_809), SendCommand(PlayCommand.FINISH, 2))),
    ],
    "playing/held + HoldAsked -> held": [
        (PLAYING, on.HoldAsked(2), V.HELD, (SendCommand(PlayCommand.HOLD, 2),)),
        (MISSED, on.HoldAsked(2), V.HELD, ()),
    ],
    "playing/held + ResumeAsked -> playing": [
        (HELD, on.ResumeAsked(2), V.PLAYING, (SendCommand(PlayCommand.RESUME, 2),)),
    ],
    "playing/held/cleared + ClearAsked [a_client_is_here] -> cleared": [
        (PLAYING, on.ClearAsked(2), V.CLEARED, (do.DropQueued(7, 2), SendCommand(PlayCommand.CLEAR, 2))),
        (HELD, on.ClearAsked(2), V.CLEARED, (do.DropQueued(7, 2), SendCommand(PlayCommand.CLEAR, 2))),
    ],
    "playing/held/cleared + ClearAsked -> cleared": [
        (MISSED, on.ClearAsked(2), V.CLEARED, (do.ReportSoon(Stopped(2, 50, is_exact=False)),)),
    ],
    "silent/playing/held/cleared + LineClosed -> silent": [(PLAYING, on.LineClosed(), V.SILENT, ())],
    "playing/held + PlayedReported [is_news] -> same": [
        (PLAYING, on.PlayedReported(2, 80), V.PLAYING, (ReportNow(Played(2, 80)),)),
        (PLAYING, on.PlayedReported(2, 9_999), V.PLAYING, (ReportNow(Played(2, 200)),)),
    ],
    "playing/held + FinishedReported [knows_its_end] -> same": [
        (TOLD, on.FinishedReported(2, 200), V.PLAYING, (ReportNow(Finished(2, 200)),)),
    ],
    "playing/held + FinishedReported [is_news] -> same": [
        (PLAYING, on.FinishedReported(2, 200), V.PLAYING, (ReportNow(Played(2, 200)),)),
    ],
    "cleared + FinishedReported -> same": [
        (CLEARED, on.FinishedReported(2, 200), V.CLEARED, (ReportNow(Stopped(2, 200)),)),
    ],
    "silent/playing/held/cleared + StoppedReported [is_the_former_voice] -> same": [
        (PLAYING, on.StoppedReported(1, 250), V.PLAYING, (ReportNow(Stopped(1, 250)),)),
        (CLEARED, on.StoppedReported(1, 9_999), V.CLEARED, (ReportNow(Stopped(1, 300)),)),
    ],
    "cleared + StoppedReported [is_the_cleared_voice] -> same": [
        (CLEARED, on.StoppedReported(2, 120), V.CLEARED, (ReportNow(Stopped(2, 120)),)),
        (CLEARED, on.StoppedReported(2, 0), V.CLEARED, (ReportNow(Stopped(2, 50)),)),
    ],
    "playing/held + StoppedReported [is_news] -> same": [
        (PLAYING, on.StoppedReported(2, 120), V.PLAYING, (ReportNow(Played(2, 120)),)),
    ],
    "silent/playing/held/cleared + UnplayableReported -> same": [
        (PLAYING, on.UnplayableReported(2), V.PLAYING, (ReportNow(Unplayable(2)),)),
    ],
    "playing/held + ClientConnected [plays_this_voice] -> same": [
        (MISSED, on.ClientConnected(8, Position(2, 90, 1)), V.PLAYING,
         (SendCommand(PlayCommand.RESUME, 2), do.StopWaiting(), do.SendSound(2, 2, 2_400, 4_800),
          ReportNow(Played(2, 90)), ReportNow(Healed()))),
        (HELD, on.ClientConnected(7, Position(2, 10, 2)), V.HELD,
         (SendCommand(PlayCommand.HOLD, 2), ReportNow(Healed()))),
    ],
    "playing/held + ClientConnected [plays_another_voice] -> same": [
        (MISSED, on.ClientConnected(8, Position(1, 90, 4)), V.PLAYING,
         (SendCommand(PlayCommand.CLEAR, 1), SendCommand(PlayCommand.RESUME, 2), do.StopWaiting(),
          do.SendSound(2, 1, 1_200, 2_400), do.SendSound(2, 2, 2_400, 4_800),
          ReportNow(Stopped(1, 90)), ReportNow(Healed()))),
        (MISSED._replace(former=FormerVoice(0, 0)), on.ClientConnected(8, Position(9, 5, 5)), V.PLAYING,
         (SendCommand(PlayCommand.CLEAR, 9), SendCommand(PlayCommand.RESUME, 2), do.StopWaiting(),
          do.SendSound(2, 1, 1_200, 2_400), do.SendSound(2, 2, 2_400, 4_800), ReportNow(Healed()))),
    ],
    "playing/held + ClientConnected -> same": [
        (MISSED, on.ClientConnected(8), V.PLAYING,
         (SendCommand(PlayCommand.RESUME, 2), do.StopWaiting(), do.SendSound(2, 1, 1_200, 2_400),
          do.SendSound(2, 2, 2_400, 4_800), ReportNow(Healed()))),
    ],
    "cleared + ClientConnected [plays_this_voice] -> same": [
        (CLEARED._replace(client_place=C.MISSED), on.ClientConnected(8, Position(2, 150, 2)), V.CLEARED,
         (SendCommand(PlayCommand.CLEAR, 2), do.StopWaiting(), ReportNow(Stopped(2, 150)), ReportNow(Healed()))),
    ],
    "silent/cleared + ClientConnected [plays_another_voice] -> same": [
        (AWAY, on.ClientConnected(1, Position(5, 150, 2)), V.SILENT,
         (SendCommand(PlayCommand.CLEAR, 5), ReportNow(Healed()))),
    ],
    "away + ClientConnected -> here": [(AWAY, on.ClientConnected(1), C.HERE, (ReportNow(Healed()),))],
    "awaited + ClientConnected -> here": [
        (AWAITED, on.ClientConnected(1), C.HERE, (do.FinishOpening(), ReportNow(Healed()))),
    ],
    "missed + ClientConnected -> here": [
        (SILENT._replace(client_place=C.MISSED), on.ClientConnected(8), C.HERE,
         (do.StopWaiting(), ReportNow(Healed()))),
    ],
    "here + ClientConnected -> same": [
        (SILENT, on.ClientConnected(8), C.HERE, (do.DropQueued(7, 0), ReportNow(Healed()))),
        (SILENT, on.ClientConnected(7), C.HERE, (ReportNow(Healed()),)),
    ],
    "here + ClientDisconnected [is_the_connected_client] -> missed": [
        (PLAYING, on.ClientDisconnected(7), C.MISSED, (do.StartWaiting(), ReportNow(Wobbled()))),
    ],
    "missed + WaitingEnded -> away": [(MISSED, on.WaitingEnded(), C.AWAY, (ReportNow(Closed()),))],
    "away/awaited + OpeningBegan -> awaited": [
        (AWAY, on.OpeningBegan(), C.AWAITED, (ReportNow(Stopped(1, 20)),)),
        (PlaybackState(), on.OpeningBegan(), C.AWAITED, ()),
    ],
    "missed + OpeningBegan -> awaited": [(MISSED, on.OpeningBegan(), C.AWAITED, (do.StopWaiting(),))],
    "here + OpeningBegan -> same": [
        (SILENT._replace(stopped=Stopped(1, 20)), on.OpeningBegan(), C.HERE, (ReportNow(Stopped(1, 20)),)),
    ],
    "away/here + LineClosed -> away": [(SILENT, on.LineClosed(), C.AWAY, ())],
    "awaited + LineClosed -> away": [(AWAITED, on.LineClosed(), C.AWAY, (do.CancelOpening(),))],
    "missed + LineClosed -> away": [(MISSED, on.LineClosed(), C.AWAY, (do.StopWaiting(),))],
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_row_does_what_its_example_says(row) -> None:  # type: ignore[no-untyped-def]
    for state, given, place, intents in EXAMPLES[row.name]:
        before = state.voice_place if isinstance(place, VoicePlace) else state.client_place
        assert MACHINE.row_for(before, state, given) is row
        after, done = MACHINE.step(state, given)
        assert (after.voice_place if isinstance(place, VoicePlace) else after.client_place) is place
        assert done == intents


def test_each_example_belongs_to_a_row_and_each_row_has_a_name_of_its_own() -> None:
    assert sorted(EXAMPLES) == sorted(row.name for row in ROWS)


def test_no_row_is_hidden_by_an_earlier_row_without_a_guard() -> None:
    taken: set[tuple[VoicePlace | ClientPlace, type]] = set()
    for row in ROWS:
        cells = {(source, row.on) for source in row.sources}
        assert cells - taken, row.name
        if row.when is None:
            taken |= cells


@pytest.mark.parametrize("client", ClientPlace)
def test_a_client_that_connects_is_here_wherever_the_last_one_was(client: ClientPlace) -> None:
    after, done = MACHINE.step(PlaybackState(client_place=client, client=1), on.ClientConnected(2))
    assert (after.client_place, after.client) == (C.HERE, 2)
    assert done[-1] == ReportNow(Healed())


@pytest.mark.parametrize("voice", VoicePlace)
def test_a_closed_line_has_neither_voice_nor_client(voice: VoicePlace) -> None:
    after, _ = MACHINE.step(PLAYING._replace(voice_place=voice), on.LineClosed())
    assert (after.voice_place, after.voice, after.client_place) == (V.SILENT, 0, C.AWAY)
    assert after.needed_from == 0


@pytest.mark.parametrize("state", [PLAYING, HELD, MISSED])
def test_the_sound_of_a_cleared_voice_is_not_kept(state: PlaybackState) -> None:
    after, _ = MACHINE.step(state, on.ClearAsked(2))
    assert after.needed_from == after.made
