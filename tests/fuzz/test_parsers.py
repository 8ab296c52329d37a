"""Input from outside is accepted or refused, and never causes any other failure. `make fuzz` runs for longer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS

EXAMPLES = 240
FOUND = Path(__file__).parent / "found"  # inputs that once failed, by target


@pytest.mark.parametrize("name", list(TARGETS))
def test_every_parser_reads_its_valid_examples(name: str) -> None:
    seeds = TARGETS[name].seeds()
    assert seeds
    for seed in seeds:
        TARGETS[name].feed(seed)


@pytest.mark.parametrize("name", list(TARGETS))
def test_nearly_valid_input_is_accepted_or_refused(name: str) -> None:
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
def test_random_input_is_accepted_or_refused(name: str) -> None:
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
def test_inputs_that_once_failed_no_longer_do(file: Path) -> None:
    TARGETS[file.parent.name.replace("-", " ")].feed(file.read_bytes())
