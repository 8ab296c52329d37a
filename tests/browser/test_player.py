"""The player: voices are played, held, cleared and reported."""

from __future__ import annotations

import time

from playwright.sync_api import Page, expect

from tests.browser.fake_server import RATE_HZ, FakeServer
from tests.browser.scenes import begin, tone, until


def at_rest(page: Page) -> int:
    """How many samples have been played, once there are no more of them for half a second."""
    deadline = time.monotonic() + 20
    before = -1
    while (played := page.evaluate("duologue.player.samples")) != before:
        assert time.monotonic() < deadline, "it plays and plays"
        before = played
        page.wait_for_timeout(500)
    return int(played)


def test_a_voice_is_played_to_its_end_and_its_progress_reported(page: Page, server: FakeServer) -> None:
    begin(page, server)
    for chunk in range(1, 6):
        server.voice(1, chunk, tone(0.1))
    server.voice(1, 3, tone(0.1))  # known by its number
    server.say("play", action="finish", voice=1)
    assert server.wait("finished") == {"voice": 1, "ms": 500}
    told = [played["ms"] for played in server.all("played")]
    assert told == sorted(told)
    assert len(told) >= 4
    assert told[-1] <= 500


def test_the_voices_of_a_second_conversation_are_heard(page: Page, server: FakeServer) -> None:
    for _ in range(2):
        server.forget()
        begin(page, server)
        server.voice(1, 1, tone(0.3))  # each conversation counts its voices from 1
        server.say("play", action="finish", voice=1)
        assert server.wait("finished") == {"voice": 1, "ms": 300}
        assert len(server.all("played")) >= 2
        page.locator("#end").click()


def test_a_clear_is_silent_at_once_and_reports_how_much_was_heard(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.voice(1, 1, tone(8))
    server.wait("played", 4)
    server.say("play", action="clear", voice=1)
    stopped = server.wait("stopped")
    heard = server.all("played")[-1]["ms"]
    assert stopped["voice"] == 1
    assert heard <= stopped["ms"] <= heard + 150
    page.wait_for_timeout(200)
    assert server.all("played")[-1]["ms"] == heard
    assert page.evaluate("duologue.level().agent") == 0
    server.voice(1, 2, tone(0.2))  # late, of a voice that was cleared
    server.voice(2, 1, tone(0.2))
    server.say("play", action="finish", voice=2)
    assert server.wait("finished") == {"voice": 2, "ms": 200}


def test_resume_continues_where_hold_stopped(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.voice(1, 1, tone(3))
    server.wait("played", 3)
    server.say("play", action="hold", voice=1)
    assert at_rest(page) < 3 * RATE_HZ
    server.say("play", action="resume", voice=1)
    server.say("play", action="finish", voice=1)
    assert server.wait("finished")["ms"] == 3_000


def test_an_underrun_pauses_and_resumes(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.voice(1, 1, tone(0.2))
    until(page, f"duologue.player.samples > {0.15 * RATE_HZ}")
    assert at_rest(page) < 0.2 * RATE_HZ
    server.voice(1, 2, tone(0.2))
    server.say("play", action="finish", voice=1)
    assert server.wait("finished") == {"voice": 1, "ms": 400}


def test_a_higher_voice_replaces_a_lower_one(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.voice(1, 1, tone(2))
    server.wait("played")
    server.voice(2, 1, tone(0.3))
    server.voice(1, 2, tone(1))
    server.say("play", action="finish", voice=2)
    assert server.wait("finished") == {"voice": 2, "ms": 300}


def test_buffered_sound_plays_on_without_a_connection(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.history = []
    server.voice(1, 1, tone(1.2))
    server.wait("played", 2)
    server.close(1012)
    played = server.wait("hello", 2)["played"]
    assert played["ms"] > 100
    assert played["held"]  # until the server answers, so that this position stays right
    expect(page.locator("#banner")).to_be_hidden()
    server.say("play", action="resume", voice=1)
    server.say("play", action="finish", voice=1)
    assert server.wait("finished") == {"voice": 1, "ms": 1200}


def test_a_reload_continues_after_the_last_played_chunk(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.history = []
    for chunk in range(1, 9):
        server.voice(1, chunk, tone(0.25))
    until(page, f"duologue.player.samples >= {0.6 * RATE_HZ}")
    page.reload()
    played = server.wait("hello", 2)["played"]
    assert played == {"voice": 1, "chunk": played["chunk"], "ms": 250 * played["chunk"]}
    assert 2 <= played["chunk"] < 8
    server.wait("hello", 2)
    expect(page.locator("#end")).to_be_visible()
    for chunk in range(played["chunk"] + 1, 9):
        server.voice(1, chunk, tone(0.25))
    server.say("play", action="finish", voice=1)
    assert server.wait("finished") == {"voice": 1, "ms": 2000}


def test_a_voice_may_begin_in_its_middle_and_be_held_before_its_first_chunk(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.say("play", action="hold", voice=3)
    server.say("play", action="begin", voice=3, ms=1_500)
    server.voice(3, 16, tone(0.5))
    until(page, f"duologue.player.samples === {int(1.5 * RATE_HZ)}")
    assert at_rest(page) == 1.5 * RATE_HZ
    server.say("play", action="resume", voice=3)
    server.say("play", action="finish", voice=3)
    assert server.wait("finished") == {"voice": 3, "ms": 2_000}


def test_a_report_from_before_a_voice_began_in_its_middle_does_not_move_it(page: Page, server: FakeServer) -> None:
    # Once: "held at 0", on its way from the audio thread, came after "begin at 1500 ms", and a reload went back to 0.
    begin(page, server)
    server.say("play", action="begin", voice=3, ms=1_500)
    until(page, f"duologue.player.samples === {int(1.5 * RATE_HZ)}")
    page.evaluate("duologue.player.heard({ kind: 'held', voice: 3, samples: 0, level: 0 })")
    assert page.evaluate("duologue.player.samples") == 1.5 * RATE_HZ
    assert page.evaluate("duologue.player.bookmark().ms") == 1_500
