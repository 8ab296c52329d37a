"""Every fault comes with a hint for the user."""

from __future__ import annotations

import pytest

from duologue.core.leaves import ErrorClass, FaultSource
from duologue.observe.fault_hints import hint
from duologue.phrases.texts import LANGUAGES

# -- What to do about a fault


@pytest.mark.req("C-SEC-003")
@pytest.mark.parametrize("part", FaultSource)
@pytest.mark.parametrize("error", ErrorClass)
def test_every_fault_of_every_part_comes_with_something_to_do(part: FaultSource, error: ErrorClass) -> None:
    told = hint(part, error)
    parts = ("service that answers", "speech output", "speech recognition", "session", "line")
    assert any(name in told for name in parts)
    assert told.endswith(".")
    assert "{" not in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hint_is_in_the_language_that_was_asked_for(language: str) -> None:
    told = {hint(part, error, language) for part in FaultSource for error in ErrorClass}
    assert len(told) == len(FaultSource) * (len(ErrorClass) - 1) + 1, "an expired session names no other part"
    if language != "en":
        assert not told & {hint(part, error) for part in FaultSource for error in ErrorClass}
