"""The label says where the conversation is: every state, in order, and soon after the server said so."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from duologue.core.leaves import ErrorClass
from duologue.observe.labels import label
from duologue.testing import Fail
from tests.browser.agents_here import STORY, scripted
from tests.browser.panel_page import until

# Written down as the page changes, by the page's own clock.
WATCH = """addEventListener("DOMContentLoaded", () => {
  const label = document.getElementById("state-label");
  window.labels = [];
  const seen = new MutationObserver(() => window.labels.push(label.textContent));
  seen.observe(label, {childList: true, characterData: true, subtree: true});
});"""


@pytest.mark.req("C-UI", "C-INT-003")
@pytest.mark.parametrize("language", ["en", "de"])
async def test_the_label_follows_every_transition_in_order(visit: Any, language: str) -> None:
    fails = Fail(ErrorClass.SERVER_ERROR)
    script = [STORY, "Good.", fails, fails, "Back again."]  # retried once, then a fault
    here = await visit(scripted(script), WATCH, search=f"?lang={language}")
    entered = here.host.watch_states()
    panel = here.panel
    await panel.start()
    await panel.state("listening")
    await panel.write("tell me a story")
    await panel.when("window.duologue.player.ms(window.duologue.player.samples) > 500")
    await panel.button("interrupt").click()
    await panel.state("listening")
    await panel.write("good")
    await panel.been("speaking", 2)
    await panel.state("listening")
    await panel.button("pause").click()
    await panel.state("paused")
    await panel.button("pause").click()
    await panel.state("listening")
    await panel.write("fail")
    await panel.state("error")
    await panel.page.locator("#notices button").first.click()
    await expect(panel.said_by("assistant").filter(has_text="Back again.")).to_have_count(1)
    await panel.state("listening")
    told = list(entered)
    assert {"starting", "listening", "thinking", "speaking", "paused", "error"} <= set(told)
    timings = await panel.js("window.duologue.timings")
    assert [timing["phase"] for timing in timings] == told
    shown = await panel.js("window.labels")
    # The observer is told once for all changes of a task, so a label may be seen twice and never out of order.
    wanted = [label(state, language) for state in told]
    assert _without_repeats([text for text in shown if text in set(wanted)])[-len(wanted) :] == wanted
    assert all(timing["shownAt"] >= timing["receivedAt"] for timing in timings)  # how soon: `duologue bench panel`
    await panel.button("end").click()
    await until(lambda: not here.host.server.conversations.served, "the conversation has ended")
    await expect(panel.label).to_have_text(label("idle", language))


def _without_repeats(texts: list[str]) -> list[str]:
    return [text for text, before in zip(texts, ["", *texts], strict=False) if text != before]
