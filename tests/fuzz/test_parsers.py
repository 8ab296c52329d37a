"""Whatever is read from outside is taken or refused; nothing else may come of it. `make fuzz` goes on for longer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

EXAMPLES = 240
FOUND = Path(__file__).parent / "found"  # what was once too much, by target


@pytest.mark.parametrize("name", list(TARGETS))
def test_what_it_should_read_it_reads(name: str) -> None:
    seeds = TARGETS[name].seeds()
    assert seeds
    for seed in seeds:
        TARGETS[name].feed(seed)


@pytest.mark.parametrize("name", list(TARGETS))
def test_what_is_nearly_right_is_taken_or_refused(name: str) -> None:
    target = TARGETS[name]

    @settings(
        max_examples=max(10, EXAMPLES // target.weight),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.randoms(use_true_random=False))
    def play(dice: random.Random) -> None:
        target.feed(target.example(dice))

    play()


@pytest.mark.parametrize("name", list(TARGETS))
def test_what_is_nothing_at_all_is_taken_or_refused(name: str) -> None:
    for data in (
        b"",
        b"\x00",
        b"null",
        b"[]",
        b"{}",
        b'"',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"9" * 5_000,
    ):
        TARGETS[name].feed(data)


@pytest.mark.parametrize("file", sorted(FOUND.glob("*/*")), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_was_once_too_much_is_not_any_more(file: Path) -> None:
    TARGETS[file.parent.name.replace("-", " ")].feed(file.read_bytes())
