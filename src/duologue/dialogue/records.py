"""A faster `dataclasses.replace`: one dialogue step makes dozens of changed copies.

`dataclasses.replace` looks up every field by name on each call; here all fields of a class are fetched at once. The
constructor of a frozen class is slow, too, because it sets each field through `object.__setattr__`. So for each class
there is a twin: a class with the same slots that isn't frozen. A copy is made as an instance of the twin, and is then
given the original class. Rule: the result is the same as from `dataclasses.replace`, and an unknown field raises
TypeError too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, make_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

Record = TypeVar("Record")


def changed(record: Record, changes: dict[str, Any]) -> Record:
    """A copy of the record with these fields changed. The record's class must be a dataclass with slots and without
    `__post_init__`."""
    kind: type = record.__class__
    fetch, places, twin = _of(kind)
    values = list(fetch(record))
    for name, value in changes.items():
        if name not in places:
            raise TypeError(f"{kind.__name__} has no field {name!r}")
        values[places[name]] = value
    copy: Any = twin(*values)
    copy.__class__ = kind
    return copy  # type: ignore[no-any-return]


@cache
def _of(kind: type) -> tuple[Callable[[Any], tuple[Any, ...]], dict[str, int], type]:
    """What is needed to copy instances of this class, as a tuple of three: a function that returns all fields of an
    instance, a dict with the position of each field, and the twin (the same class, but not frozen)."""
    names = [field.name for field in fields(kind)]
    assert len(names) > 1, "attrgetter returns no tuple for a single field; use dataclasses.replace"
    assert not hasattr(kind, "__post_init__"), "a copy would be made without it; use dataclasses.replace"
    twin = make_dataclass(kind.__name__, names, slots=True)
    return attrgetter(*names), {name: at for at, name in enumerate(names)}, twin
