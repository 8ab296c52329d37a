"""The player of the client, input by input, and explored: what it reports is what can have been heard, once."""

from __future__ import annotations

from itertools import product

from duologue.client.clock_player import (
    REPORT_MS,
    ChunkArrived,
    ClockPlayer,
    PlayCommanded,
    PlayerInput,
    PlayerPlace,
    PlayerTick,
    PlayReport,
    step,
)

CHUNK = 2_400  # samples: 100 ms


def play(*given: PlayerInput, player: ClockPlayer | None = None) -> tuple[ClockPlayer, list[PlayReport]]:
    player, told = player or ClockPlayer(), []
    for one in given:
        player, reports = step(player, one)
        told += reports
    return player, told


def test_a_voice_is_heard_as_time_passes_and_finished_once() -> None:
    player, told = play(
        ChunkArrived(1, 1, CHUNK, 0),
        ChunkArrived(1, 2, CHUNK, 10),
        PlayCommanded("finish", 1, 0, 20),
        PlayerTick(70),
        PlayerTick(140),
        PlayerTick(200),
        PlayerTick(900),
    )
    assert told == [PlayReport("played", 1, 70), PlayReport("played", 1, 140), PlayReport("finished", 1, 200)]
    assert player.position == {"voice": 1, "ms": 200, "chunk": 2}
    assert step(player, PlayCommanded("finish", 1, 0, 950))[1] == (PlayReport("finished", 1, 200),), "asked again"


def test_held_sound_waits_and_a_hold_may_come_before_the_sound() -> None:
    player, told = play(PlayCommanded("hold", 2, 0, 0), ChunkArrived(2, 1, CHUNK, 5), PlayerTick(500))
    assert (told, player.heard, player.place) == ([], 0, PlayerPlace.HELD)
    player, told = play(PlayCommanded("resume", 2, 0, 500), PlayerTick(600), player=player)
    assert told == [PlayReport("played", 2, 100)]


def test_a_stop_reports_what_was_heard_and_the_rest_is_dropped() -> None:
    player, told = play(
        ChunkArrived(1, 1, CHUNK, 0),
        PlayCommanded("clear", 1, 0, 40),
        ChunkArrived(1, 2, CHUNK, 50),
        PlayerTick(900),
    )
    assert told == [PlayReport("stopped", 1, 40)]
    assert player.place is PlayerPlace.STOPPED


def test_a_chunk_that_is_known_or_of_an_older_voice_is_dropped() -> None:
    player, _ = play(ChunkArrived(2, 1, CHUNK, 0), ChunkArrived(2, 1, CHUNK, 0), ChunkArrived(1, 9, CHUNK, 0))
    assert (player.voice, player.arrived) == (2, CHUNK)


def test_a_voice_may_begin_in_its_middle() -> None:
    player, told = play(PlayCommanded("begin", 3, 700, 0), ChunkArrived(3, 8, CHUNK, 0), PlayerTick(100))
    assert told == [PlayReport("played", 3, 800)]
    assert player.position == {"voice": 3, "ms": 800, "chunk": 8}


def test_commands_about_voices_that_are_over_are_answered() -> None:
    _, told = play(ChunkArrived(5, 1, CHUNK, 0), PlayCommanded("clear", 4, 0, 1), PlayCommanded("finish", 3, 0, 1))
    assert told == [PlayReport("stopped", 4, 0), PlayReport("finished", 3, 0)]


def test_whatever_comes_in_any_order_no_report_claims_more_than_was_sent_and_none_goes_back() -> None:
    actions = ("hold", "resume", "clear", "finish")
    inputs = [("chunk", 1), ("chunk", 2), ("time", 0), *product(actions, (1, 2))]
    count = 0
    for sequence in product(inputs, repeat=4):
        count += 1
        player, sent, last = ClockPlayer(), {1: 0, 2: 0}, {1: 0, 2: 0}
        stopped: set[int] = set()
        for at, (kind, voice) in enumerate(sequence):
            now_ms = at * (REPORT_MS + 10)
            given: PlayerInput
            if kind == "chunk":
                sent[voice] += CHUNK
                given = ChunkArrived(voice, sent[voice] // CHUNK, CHUNK, now_ms)
            elif kind == "time":
                given = PlayerTick(now_ms)
            else:
                given = PlayCommanded(kind, voice, 0, now_ms)
            player, reports = step(player, given)
            assert player.heard <= player.arrived
            for report in reports:
                assert report.ms * 24 <= sent[report.voice]
                assert report.ms >= last[report.voice] or report.voice < player.voice
                assert report.kind != "played" or report.voice not in stopped
                last[report.voice] = max(last[report.voice], report.ms)
                if report.kind == "stopped":
                    stopped.add(report.voice)
    assert count == 11**4
