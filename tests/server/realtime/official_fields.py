"""The fields of the official types of the `openai` package, as paths: `audio.input.format.rate`, `tools[].name`.

Rule: the paths are read from the types, so a field that a newer version adds is found.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel


def paths_of(model: type[BaseModel], prefix: str = "") -> list[str]:
    """The paths of all fields of this type, without those that only contain other fields."""
    found = dict.fromkeys(
        path for name, one in model.model_fields.items() for path in _of(one.annotation, prefix + name)
    )
    return sorted(found)


def _of(annotation: Any, path: str) -> Iterator[str]:
    origin = get_origin(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from paths_of(annotation, f"{path}.")
    elif origin in (Union, types.UnionType):
        for one in get_args(annotation):
            if one is not type(None):
                yield from _of(one, path)
    elif origin is list and path != "input":  # the items of `input` have fields of their own
        inner = list(_of(get_args(annotation)[0], f"{path}[]"))
        yield from [path] if inner == [f"{path}[]"] else inner
    elif hasattr(annotation, "__metadata__"):
        yield from _of(get_args(annotation)[0], path)
    else:
        yield path
