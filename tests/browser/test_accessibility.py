"""No state of the panel has a serious problem for people who see, hear or move differently."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import SCENES, Scene
from tests.needs import needs_axe

SERIOUS = """async () => {
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map((node) => [id, node.target.join(" "), node.failureSummary]));
}"""


@pytest.mark.req("C-UI")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_scene_is_accessible_by_day_and_by_night(page: Page, server: FakeServer, scene: Scene) -> None:
    scene.play(page, server)
    page.evaluate(needs_axe())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(50)
        serious = page.evaluate(SERIOUS)
        assert not serious, theme
