"""Models and recordings for the ears' tests."""

from __future__ import annotations

import pytest

from duologue.ears.moonshine import Moonshine
from duologue.ears.silero import SileroVad
from duologue.ears.smart_turn import SmartTurn
from tests.needs import needs_model


@pytest.fixture
def vad() -> SileroVad:
    needs_model("silero-vad")
    return SileroVad()


@pytest.fixture(scope="session")
def turn() -> SmartTurn:
    needs_model("smart-turn")
    return SmartTurn()


@pytest.fixture(scope="session")
def tiny() -> Moonshine:
    needs_model("moonshine-tiny")
    return Moonshine("tiny")


@pytest.fixture(scope="session")
def base() -> Moonshine:
    needs_model("moonshine-base")
    return Moonshine("base")
