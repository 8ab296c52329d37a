"""The demo call and its page, drawn once for all tests of the picture."""

from __future__ import annotations

import pytest

from duologue.lab.sim.stage import Stage
from tests.replay.picture.drawn_page import Node, demo_stage, page_of


@pytest.fixture(scope="package")
def demo() -> Stage:
    return demo_stage()


@pytest.fixture(scope="package")
def page(demo: Stage) -> Node:
    return page_of(demo)
