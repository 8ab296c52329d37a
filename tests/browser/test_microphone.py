"""The microphone: frames of 512 samples at any rate of the device."""

from __future__ import annotations

import array
import time

from playwright.sync_api import Browser, Page

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import begin, tone, until


def test_the_microphone_comes_in_frames_of_512_samples(page: Page, server: FakeServer) -> None:
    begin(page, server)
    until(page, "duologue.frames() >= 40")
    assert {len(frame) for frame in server.frames} == {1024}
    loudest = max(abs(sample) for frame in server.frames for sample in array.array("h", frame))
    assert loudest > 500, "the fake microphone beeps"
    assert page.evaluate("new AudioContext().sampleRate") > 0


def test_every_sample_rate_of_the_device_works(browser: Browser, server: FakeServer) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(
        "const Real = AudioContext; window.AudioContext = class extends Real {"
        " constructor(options) { super({ ...options, sampleRate: 44100 }); } };"
    )
    page.goto(server.url)
    begin(page, server)
    server.voice(1, 1, tone(0.5))
    server.say("play", action="finish", voice=1)
    assert server.wait("finished") == {"voice": 1, "ms": 500}
    before, began = len(server.frames), time.monotonic()
    page.wait_for_timeout(2000)
    frames_per_s = (len(server.frames) - before) / (time.monotonic() - began)
    assert 12 <= frames_per_s <= 60, "31 frames a second, and not 86 as the device has"
    context.close()


def test_the_end_of_a_conversation_closes_the_microphone_and_reports_nothing_about_it(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)
    assert server.wait("microphone") == {"state": "on"}
    server.say("ended", reason="hung up", canRestart=True)
    until(page, "duologue.model.microphone.status === 'off'")
    page.locator("#start:not([disabled])").click()
    server.wait("start", 2)
    told = [message["type"] for message in server.received]
    second = [index for index, kind in enumerate(told) if kind == "start"][1]
    assert told[:second].count("microphone") == 1, "without a conversation there is nothing to report"
