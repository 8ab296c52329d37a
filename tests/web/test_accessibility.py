"""No state of the panel has a serious problem for people who see, hear or move differently."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.web.fake_server import FakeServer
from tests.web.scenes import SCENES, Scene

AXE = Path(__file__).parent.parent.parent / "build" / "axe" / "axe.min.js"

SERIOUS = """async () => {
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map((node) => [id, node.target.join(" "), node.failureSummary]));
}"""


@cache
def axe() -> str:
    if not AXE.exists():
        if os.environ.get("CI") == "true":
            pytest.fail("run tools/ensure_axe.sh first")
        pytest.skip("no axe-core here: tools/ensure_axe.sh fetches it")
    return AXE.read_text(encoding="utf-8")


@pytest.mark.req("C-UI")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_scene_is_accessible_by_day_and_by_night(page: Page, server: FakeServer, scene: Scene) -> None:
    scene.play(page, server)
    page.evaluate(axe())
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(50)
        serious = page.evaluate(SERIOUS)
        assert not serious, theme
