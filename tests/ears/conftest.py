"""Models and recordings for the ears' tests.

Where a model is missing, its tests are skipped, saying how to get it; on the build server that is a failure,
because there everything was fetched.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

from duologue.ears.moonshine import Moonshine
from duologue.ears.silero import SileroVad
from duologue.ears.smart_turn import SmartTurn
from duologue.models.cache import ModelMissing, model_path


def require(model: str) -> None:
    """Skip unless this model can be run."""
    if importlib.util.find_spec("onnxruntime") is None:
        _give_up("onnxruntime is missing: pip install 'duologue[speech]'")
    try:
        model_path(model)
    except ModelMissing as missing:
        _give_up(str(missing))


def _give_up(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def _recordings() -> None:
    require("speech-samples")


@pytest.fixture
def vad() -> SileroVad:
    require("silero-vad")
    return SileroVad()


@pytest.fixture(scope="session")
def turn() -> SmartTurn:
    require("smart-turn")
    return SmartTurn()


@pytest.fixture(scope="session")
def tiny() -> Moonshine:
    require("moonshine-tiny")
    return Moonshine("tiny")


@pytest.fixture(scope="session")
def base() -> Moonshine:
    try:
        model_path("moonshine-base")
    except ModelMissing as missing:
        pytest.skip(f"optional, nobody fetches it by default: {missing}")
    return Moonshine("base")
