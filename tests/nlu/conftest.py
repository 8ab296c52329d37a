"""The models for the NLU's tests, and a small restaurant that they talk to."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.nlu import Intent, LocalNlu, MessageScope
from tests.needs import needs_model

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
    return needs_model("minilm")


@pytest.fixture(scope="session")
def e5_folder(minilm_folder: Path) -> Path:
    return needs_model("e5-small")


@pytest.fixture(scope="session", params=["minilm", "minilm+e5"])
def deep(request: pytest.FixtureRequest, minilm_folder: Path) -> LocalNlu:
    """By the models: the first alone, and both."""
    if request.param == "minilm+e5":
        request.getfixturevalue("e5_folder")
    return LocalNlu(second_opinion=request.param == "minilm+e5")


@pytest.fixture(scope="session")
def wordy() -> LocalNlu:
    return LocalNlu(words_only=True)
