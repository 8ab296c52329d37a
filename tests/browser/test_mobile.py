"""The panel on a telephone, as far as Chromium can play one: touch, a locked screen, a call, another headset.

What only a real telephone shows is the checklist in docs/clients.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.async_api import Browser, CDPSession, async_playwright, expect

from duologue.lab.bench.chromium import FLAGS
from tests.browser.agents_here import STORY, scripted
from tests.browser.conftest import Opens
from tests.browser.panel_page import MICROPHONE, browsing, hosting, until

pytestmark = pytest.mark.alone
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
# Keeps the tracks that the page has opened, so that a test can end one as an unplugged headset does.
TRACKS = """(() => {
  if (!navigator.mediaDevices) return;
  const { getUserMedia } = navigator.mediaDevices;
  window.tracks = [];
  navigator.mediaDevices.getUserMedia = async (wanted) => {
    const stream = await getUserMedia.call(navigator.mediaDevices, wanted);
    window.tracks.push(...stream.getAudioTracks());
    return stream;
  };
})();"""
# Keeps the AudioContexts of the page, so that a test can stop one as a telephone call does.
CONTEXTS = """(() => {
  const Original = window.AudioContext;
  window.contexts = [];
  window.AudioContext = class extends Original {
    constructor(...given) { super(...given); window.contexts.push(this); }
  };
})();"""


async def test_a_locked_screen_freezes_the_page_and_the_conversation_goes_on_after_it(visit: Opens) -> None:
    here = await visit(scripted(["Nice to see you again."]), **PHONE)
    panel, host = here.panel, here.host
    await panel.button("start").tap()
    await panel.is_on()
    await panel.state("listening")
    conversation = host.served
    session: CDPSession = await here.tabs.context.new_cdp_session(panel.page)
    await session.send("Page.setWebLifecycleState", {"state": "frozen"})
    host.drop_sockets()  # a telephone that sleeps loses its connections
    await until(lambda: conversation.client is None, "the client is gone")
    await session.send("Page.setWebLifecycleState", {"state": "active"})
    await until(lambda: conversation.client is not None, "the client is back")
    await panel.write("hello again")
    await expect(panel.said_by("assistant")).to_contain_text("Nice to see you again.")
    assert host.served is conversation


async def test_sound_that_a_call_has_stopped_comes_back_with_a_tap(visit: Opens) -> None:
    here = await visit(scripted(["Still here."]), CONTEXTS, MICROPHONE, **PHONE)
    panel = here.panel
    await panel.button("start").tap()
    await panel.state("listening")
    await panel.js("window.contexts.forEach((one) => one.suspend())")
    blocked = panel.notices.filter(has_text="to hear")
    await expect(blocked).to_have_count(1)
    await panel.label.tap()
    await expect(blocked).to_have_count(0)
    await panel.js("window.contexts.forEach((one) => one.suspend())")
    await expect(blocked).to_have_count(1)
    await panel.js("document.dispatchEvent(new Event('visibilitychange'))")  # back from the call, without a tap
    await expect(blocked).to_have_count(0)
    await panel.write("are you there")
    await expect(panel.said_by("assistant")).to_contain_text("Still here.")


async def test_while_a_call_keeps_the_page_silent_the_answer_waits_and_goes_on_after_it(visit: Opens) -> None:
    here = await visit(scripted([STORY]), CONTEXTS, MICROPHONE, **PHONE)
    panel, host = here.panel, here.host
    await panel.button("start").tap()
    await panel.state("listening")
    await panel.write("tell me a story")
    await panel.when("window.duologue.player.samples > 12000")
    await panel.js("window.contexts.forEach((one) => one.suspend())")
    await panel.state("paused")
    assert host.said == []
    await panel.label.tap()
    await panel.been("speaking", 2)
    await until(lambda: bool(host.said), "the end of the story")
    assert (host.said[0].text, host.said[0].interrupted) == (STORY, False)


# The page waits 3 s before it pauses: not here, and each time is counted.
ALARMS = """(() => {
  const later = window.setTimeout;
  window.alarms = 0;
  window.setTimeout = (act, ms, ...given) =>
    ms === 3000 ? later(() => { act(); window.alarms += 1; }, 0) : later(act, ms, ...given);
})();"""


async def test_a_connection_that_is_lost_during_such_a_call_changes_nothing_of_that(visit: Opens) -> None:
    here = await visit(scripted([STORY]), CONTEXTS, MICROPHONE, ALARMS, **PHONE)
    panel, host = here.panel, here.host
    await panel.button("start").tap()
    await panel.state("listening")
    await panel.write("tell me a story")
    await panel.when("window.duologue.player.samples > 12000")
    await panel.js("window.contexts.forEach((one) => one.suspend())")
    await panel.state("paused")
    conversation, alarms = host.served, await panel.js("window.alarms")
    host.drop_sockets()
    await until(lambda: conversation.client is None, "the client is gone")
    await until(lambda: conversation.client is not None, "the client is back")
    await panel.when(f"window.alarms > {alarms}")
    await panel.label.tap()
    await panel.been("speaking", 2)
    await until(lambda: bool(host.said), "the end of the story")
    assert (host.said[0].text, host.said[0].interrupted) == (STORY, False)


async def test_a_headset_that_goes_away_is_told_and_the_next_microphone_is_opened(visit: Opens) -> None:
    here = await visit(scripted([]), MICROPHONE, TRACKS, **PHONE)
    panel = here.panel
    await panel.button("start").tap()
    await panel.state("listening")
    await panel.when("window.duologue.model.microphone.status === 'on'")
    await panel.js("window.tracks.at(-1).dispatchEvent(new Event('ended'))")
    trouble = panel.page.locator("#microphone-trouble")
    await expect(trouble).to_contain_text("The microphone has stopped.")
    await panel.js("navigator.mediaDevices.dispatchEvent(new Event('devicechange'))")
    await expect(trouble).to_be_hidden()
    assert await panel.js("[window.tracks.length, window.duologue.model.microphone.status]") == [2, "on"]


# -- Sound that the browser allows only after a gesture

GESTURES = "--autoplay-policy=document-user-activation-required"
SILENT: dict[str, Any] = {**PHONE, "permissions": []}  # a page that records may always play sound
STATES = "window.contexts.map((one) => one.state)"


@pytest.fixture
def careful_browser(loop: asyncio.Runner, chromium: str, one_at_a_time: None) -> Iterator[Browser]:
    """A Chromium that plays no sound before the user has tapped the page, as telephones do."""
    playwright = loop.run(async_playwright().start())
    flags = [GESTURES if flag.startswith("--autoplay-policy") else flag for flag in FLAGS]
    made = loop.run(playwright.chromium.launch(executable_path=chromium, args=flags))
    yield made
    loop.run(made.close())
    loop.run(playwright.stop())


async def test_no_sound_before_the_first_tap_and_after_a_reload_the_rest_of_the_answer_is_heard(
    careful_browser: Browser,
) -> None:
    """After a reload it depends on the browser whether the sound goes on by itself or needs a tap."""
    async with hosting(scripted([STORY])) as host, browsing(careful_browser, host, (CONTEXTS,), **SILENT) as tabs:
        panel = await tabs.open()
        await expect(panel.button("start")).to_be_enabled()
        assert await panel.js(STATES) == [], "nothing that could sound"
        await panel.button("start").tap()
        await panel.state("listening")
        await panel.write("tell me a story")
        await panel.when("window.duologue.player.samples > 12000")
        assert set(await panel.js(STATES)) == {"running"}
        await panel.page.reload()
        blocked = panel.notices.filter(has_text="to hear")
        await panel.when(f"{STATES}.includes('running') || document.querySelector('#notices > li') !== null")
        if await blocked.count():
            await panel.label.tap()
        await until(lambda: bool(host.said) and host.said[0].text == STORY, "the whole story was heard")
        await expect(blocked).to_have_count(0)


async def test_while_muted_no_sound_is_sent(visit: Opens) -> None:
    """That is what a telephone on a slow or expensive network saves."""
    here = await visit(scripted(["First.", "Second.", "Third."]), **PHONE)
    panel = here.panel
    await panel.button("start").tap()
    await panel.state("listening")
    await until(lambda: panel.sound_sent > 0, "the microphone is sent")
    await panel.button("mute").tap()
    sent = []
    for answer in ("First.", "Second.", "Third."):  # the first one gives time for the silence that ends the sound
        await panel.write("hello")
        await expect(panel.said_by("assistant").filter(has_text=answer)).to_have_count(1)
        await panel.state("listening")
        sent.append(panel.sound_sent)
    assert sent[2] == sent[1] == sent[0]
    await panel.button("mute").tap()
    await until(lambda: panel.sound_sent > sent[0], "the microphone is sent again")
