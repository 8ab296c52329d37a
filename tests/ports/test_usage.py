"""What was used is added up and passed on."""

from __future__ import annotations

from types import SimpleNamespace

from duologue.ports.usage import Usage, UsageCount, tokens_of


def test_usages_are_added_and_told_one_by_one() -> None:
    told: list[Usage] = []
    count = UsageCount(told.append)
    count.add(Usage(characters=5))
    count.add(Usage())
    count.add(Usage(characters=7, spoken_ms=100))
    assert count.total == Usage(characters=12, spoken_ms=100)
    assert told == [Usage(characters=5), Usage(characters=7, spoken_ms=100)]


def test_tokens_that_are_not_numbers_count_as_none() -> None:
    strange = SimpleNamespace(prompt_tokens=3, prompt_cached_tokens=None, completion_tokens=-1)
    assert tokens_of(strange) == Usage(input_tokens=3)
