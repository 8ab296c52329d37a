"""Checks requests and events of Anthropic's Messages API with the types of Anthropic's SDK.

The SDK's own validation accepts unknown fields and reads nested lists lazily, so its types are walked here. Rules: an
unknown field, a missing field and a wrong type are problems at every depth; every problem names the path of its field.
"""

from __future__ import annotations

import collections.abc
import types
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints

from tests.needs import needs_package

INSTALL = "pip install 'duologue[anthropic]'"
PLAIN: dict[Any, tuple[type, ...]] = {str: (str,), int: (int,), float: (int, float), bool: (bool,)}


def problems_of_request(body: object) -> list[str]:
    """The problems of the body of a request to `/v1/messages`."""
    params = needs_package("anthropic.types.message_create_params", INSTALL)
    streams = isinstance(body, dict) and "stream" in body
    return _problems(params.MessageCreateParamsStreaming if streams else params.MessageCreateParamsNonStreaming, body)


def problems_of_event(event: object) -> list[str]:
    """The problems of an event that a server sends. The SDK has no type for `ping`."""
    if event == {"type": "ping"}:
        return []
    kinds = needs_package("anthropic.types", INSTALL)
    shared = needs_package("anthropic.types.shared", INSTALL)
    return _problems(Union[kinds.RawMessageStreamEvent, shared.ErrorResponse], event)  # noqa: UP007 - not a type here


def problems_of_answer(answer: object) -> list[str]:
    """The problems of an answer that isn't streamed."""
    kinds = needs_package("anthropic.types", INSTALL)
    shared = needs_package("anthropic.types.shared", INSTALL)
    return _problems(Union[kinds.Message, shared.ErrorResponse], answer)  # noqa: UP007 - not a type here


def _problems(kind: Any, value: Any, path: str = "") -> list[str]:
    origin = get_origin(kind)
    if origin in (Annotated, Required, NotRequired):
        return _problems(get_args(kind)[0], value, path)
    if origin in (Union, types.UnionType):
        return _of_union(get_args(kind), value, path)
    if origin is Literal:
        fits = any(type(value) is type(one) and value == one for one in get_args(kind))
        return [] if fits else [f"{path}: must be one of {get_args(kind)}"]
    if origin is dict:
        return _of_dict(get_args(kind)[1], value, path)
    if isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
        return _of_list(get_args(kind)[0], value, path)
    if isinstance(kind, type) and (hasattr(kind, "model_fields") or hasattr(kind, "__total__")):
        return _of_fields(kind, value, path)
    if kind in (Any, object):
        return []
    if kind is type(None):
        return [] if value is None else [f"{path}: must be null"]
    fits = type(value) in PLAIN.get(kind, ())
    return [] if fits else [f"{path}: must be {getattr(kind, '__name__', kind)}"]


def _of_union(kinds: tuple[Any, ...], value: Any, path: str) -> list[str]:
    """No problem if one of the types fits. Otherwise the problems of the type that fits best."""

    def misfit(problems: list[str]) -> tuple[bool, bool, int]:
        at = {problem.partition(":")[0] for problem in problems}
        return path in at, _inside(path, "type") in at, len(problems)

    return min((_problems(kind, value, path) for kind in kinds), key=misfit)


def _of_dict(kind: Any, value: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: must be an object"]
    return [problem for name, inner in value.items() for problem in _problems(kind, inner, _inside(path, name))]


def _of_list(kind: Any, value: Any, path: str) -> list[str]:
    if not isinstance(value, list):
        return [f"{path}: must be a list"]
    return [problem for at, inner in enumerate(value) for problem in _problems(kind, inner, _inside(path, at))]


def _of_fields(kind: Any, value: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: must be an object"]
    known, needed = _fields(kind)
    missing = [f"{_inside(path, name)}: is missing" for name in sorted(needed - value.keys())]
    unknown = [f"{_inside(path, name)}: is unknown" for name in value if name not in known]
    wrong = [
        problem
        for name in value.keys() & known.keys()
        for problem in _problems(known[name], value[name], _inside(path, name))
    ]
    return [*missing, *unknown, *sorted(wrong)]


@cache
def _fields(kind: Any) -> tuple[dict[str, Any], set[str]]:
    """The types of the fields of a TypedDict or of a model, and the names of the fields that it must have."""
    if hasattr(kind, "model_fields"):
        models: dict[str, Any] = kind.model_fields
        return {name: field.annotation for name, field in models.items()}, {
            name for name, field in models.items() if field.is_required()
        }
    hints = get_type_hints(kind, include_extras=True)
    return hints, {name for name, hint in hints.items() if get_origin(hint) is Required}


def _inside(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)
