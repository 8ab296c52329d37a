"""The model for the NLU's tests, and a small restaurant that they talk to.

Where the model is missing, its tests are skipped, saying how to get it; on the build server that is a failure.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from duologue.models.cache import ModelMissing, model_path
from duologue.nlu import Intent, LocalNlu, MessageScope

RESTAURANT = MessageScope(
    (
        Intent("book_table", ("I'd like a table for two", "can we reserve for tonight", "book me in at eight")),
        Intent("cancel_booking", ("please cancel my reservation", "we can't make it tonight", "call off the booking")),
        Intent("opening_hours", ("when do you open", "are you open on sundays", "how late can we come")),
        Intent("menu", ("what's on the menu", "do you have vegetarian dishes", "what can one eat at your place")),
    )
)


@pytest.fixture
def restaurant() -> MessageScope:
    return RESTAURANT


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    return _model("minilm", "numpy")


@pytest.fixture(scope="session")
def e5_folder(minilm_folder: Path) -> Path:
    return _model("e5-small", "onnxruntime")


@pytest.fixture(scope="session", params=["minilm", "minilm+e5"])
def deep(request: pytest.FixtureRequest, minilm_folder: Path) -> LocalNlu:
    """By the models: the first alone, and both."""
    if request.param == "minilm+e5":
        request.getfixturevalue("e5_folder")
    return LocalNlu(second_opinion=request.param == "minilm+e5")


@pytest.fixture(scope="session")
def wordy() -> LocalNlu:
    return LocalNlu(words_only=True)


def _model(name: str, library: str) -> Path:
    if importlib.util.find_spec(library) is None:
        _give_up(f"{library} is missing: pip install 'duologue[nlu]'")
    try:
        return model_path(name)
    except ModelMissing as missing:
        _give_up(str(missing))
        raise


def _give_up(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
