"""Models and recordings for the ears' tests.

Where a model is missing, its tests are skipped, saying how to get it; on the build server that is a failure,
because there everything was fetched.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from duologue.ears.moonshine import Moonshine
from duologue.ears.silero import SileroVad
from duologue.ears.smart_turn import SmartTurn
from duologue.models.cache import ModelMissing, model_path

# The recordings are not part of the project: copy `beckett.wav` and `two_cities.wav` (16 kHz) out of the
# package moonshine-voice 0.1.0 into this folder to run these.
_WITH_RECORDINGS = [
    "test_local_ears.py",
    "test_moonshine.py",
    "test_silero_vad.py",
    "test_smart_turn.py",
    "test_streaming.py",
]
collect_ignore = [] if (Path(__file__).parent / "recordings").is_dir() else _WITH_RECORDINGS


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
