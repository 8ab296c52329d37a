"""What `from duologue import …` offers: the names that an agent is written with, and no machine internals."""

from __future__ import annotations

import pytest

import duologue


@pytest.mark.parametrize("name", duologue.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(duologue, name) is not None


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    assert dir(duologue) == sorted(duologue.__all__)


@pytest.mark.parametrize("name", ["MACHINE", "State", "initial", "next_deadline", "step"])
def test_the_machine_is_in_core(name: str) -> None:
    import duologue.core

    assert hasattr(duologue.core, name)
    assert not hasattr(duologue, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'duologue' has no attribute 'Robot'"):
        _ = duologue.Robot  # type: ignore[attr-defined]
