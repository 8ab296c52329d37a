"""The page of options is complete: a field without a description is an error."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tools"))

import options_page


@dataclass
class Described:
    size_ms: int = 1_500  # how long
    # in several lines,
    # above it
    parts: tuple[int, ...] = (1_000, 2_000)
    made: list[int] = field(default_factory=list)  # made for each
    own: int = field(init=False)


@dataclass
class Undescribed:
    size_ms: int = 1


def test_a_field_has_its_type_its_default_and_the_comment_next_to_it() -> None:
    size, parts, made = options_page.options_of(Described)
    assert size == options_page.Option("size_ms", "int", "1_500", "how long")
    assert (parts.default, parts.description) == ("(1_000, 2_000)", "in several lines, above it")
    assert made.default == "list()"


def test_a_field_without_a_comment_is_an_error() -> None:
    with pytest.raises(options_page.UndescribedOption, match=r"Undescribed\.size_ms"):
        options_page.options_of(Undescribed)


@pytest.mark.parametrize("cls", [cls for cls, _, _ in options_page.SECTIONS], ids=lambda cls: cls.__name__)
def test_every_field_that_a_caller_may_set_is_on_the_page(cls: type) -> None:
    listed = [option.name for option in options_page.options_of(cls)]
    assert listed == [each.name for each in fields(cls) if each.init]  # type: ignore[arg-type]
