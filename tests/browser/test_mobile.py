"""The panel on a telephone, as far as Chromium can play one: touch, a locked screen, a call, another headset.

What only a real telephone shows is the checklist in docs/clients.md.
"""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import CDPSession, expect

from tests.browser.agents_here import scripted
from tests.browser.conftest import Opens
from tests.browser.panel_page import MICROPHONE, until

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
