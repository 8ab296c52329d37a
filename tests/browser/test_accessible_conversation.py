"""Everybody can use it: no serious finding of axe in any state of a real conversation, by day, by night, on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from duologue import ToolCall, profile
from duologue.core.leaves import ErrorClass
from duologue.testing import Fail, Hang, Progress, scripted_tool
from tests.browser.agents_here import STORY, scripted
from tests.browser.panel_page import Panel
from tests.needs import needs_axe

LOOKS = {
    "day": {"color_scheme": "light"},
    "night": {"color_scheme": "dark"},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 844}, "has_touch": True},
}
_SERIOUS = """async () => {
  const found = await axe.run(document, {resultTypes: ["violations"]});
  if (found.passes.length < 10) throw new Error("axe looked at next to nothing");
  return found.violations.filter(({impact}) => impact === "serious" || impact === "critical")
    .map(({id, nodes}) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
}"""


FAILS = [Fail(ErrorClass.SERVER_ERROR)] * 2  # retried once, then a fault


@pytest.fixture(scope="module")
def axe() -> str:
    return needs_axe()


@pytest.mark.req("C-UI")
@pytest.mark.parametrize("look", LOOKS)
async def test_every_state_of_a_conversation_is_accessible(visit: Any, axe: str, look: str) -> None:
    hangs = scripted_tool(
        "search_flights", Progress("asking the airlines", 0.4), Hang(), mode="delegate", cancellable=True
    )
    script = [STORY, *FAILS, "Back again.", ToolCall("search_flights", {}), "Never mind."]
    agent = scripted(script, tools=[hangs], profile=profile("confirm", dead_air_ms=0, dismiss_ms=60_000))
    here = await visit(agent, reduced_motion="reduce", **LOOKS[look])
    panel = here.panel
    found: dict[str, list[str]] = {}

    async def look_at(name: str) -> None:
        await panel.page.evaluate(axe)
        wrong = await panel.page.evaluate(_SERIOUS)
        if wrong:
            found[name] = wrong

    await expect(panel.button("start")).to_be_enabled()
    await look_at("idle")
    await panel.start()
    await panel.state("listening")
    await look_at("listening")
    await panel.write("tell me a story")
    await panel.when("window.duologue.player.ms(window.duologue.player.samples) > 400")
    await look_at("speaking")
    await panel.button("pause").click()
    await panel.state("paused")
    await look_at("paused")
    await panel.button("pause").click()
    await panel.state("speaking")
    await panel.button("interrupt").click()
    await expect(panel.page.locator("#lines del:visible")).to_have_count(1)
    await look_at("interrupted")
    await panel.write("fail")
    await panel.state("error")
    await look_at("error")
    await panel.notices.get_by_role("button", name="Try again").click()
    await expect(panel.said_by("assistant").filter(has_text="Back again.")).to_have_count(1)
    await panel.state("listening")
    await panel.write("search")
    await expect(panel.jobs.get_by_role("progressbar")).to_be_visible()
    await look_at("waiting for a tool")
    await panel.button("hood-toggle").click()
    await expect(panel.page.locator("#hood ol.steps button").first).to_be_visible()
    await look_at("under the hood")
    await panel.button("hood-toggle").click()
    await here.host.go_down()
    await expect(panel.banner).to_be_visible()
    await look_at("the line is lost")
    await here.host.go_up()
    await expect(panel.banner).to_be_hidden()
    second = await here.tabs.open()
    await expect(second.gate).to_be_visible()
    first, panel = panel, second
    await look_at("open elsewhere")
    panel = first
    await panel.page.bring_to_front()
    await panel.button("end").click()
    await expect(panel.page.locator("#over")).to_be_visible()
    await look_at("ended")
    assert found == {}
    assert await _width(panel) <= await panel.js("innerWidth")  # nothing is cut off at the side


async def _width(panel: Panel) -> int:
    found: int = await panel.js("document.documentElement.scrollWidth")
    return found
