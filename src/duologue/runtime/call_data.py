"""Converts the data that a program keeps for a call to JSON, and back.

The data is an object of a data class. Rule: an error about a value that can't be saved names the field of the value,
such as `data.order.when`, and never contains the value itself.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time
from enum import Enum
from typing import Any, Literal, Union

from duologue.core.errors import DuologueError
from duologue.ports.context import CallInfo

DEPTH_MAX = 20
_PLAIN = (str, int, float, bool)
_DATES = (datetime, date, time)


class DataNotSavable(DuologueError, TypeError):
    """The data of a call can't be saved or read. The message names the field."""

    is_own = True  # the message contains no words of the conversation


def check_data(kind: Any) -> None:
    """Raise DataNotSavable if objects of this type can't be saved, or can't be read again."""
    if not (isinstance(kind, type) and is_dataclass(kind)):
        name = getattr(kind, "__name__", type(kind).__name__)
        raise DataNotSavable(f"data must be an object of a data class, not {name}")
    _check(kind, "data", 0)


def _check(kind: Any, place: str, depth: int) -> None:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if depth > DEPTH_MAX or kind is Any or kind in (*_PLAIN, *_DATES, type(None), list, dict, tuple):
        return
    if (isinstance(kind, type) and issubclass(kind, Enum)) or origin is Literal:
        return
    if isinstance(kind, type) and is_dataclass(kind):
        for name, hint in _hints(kind, place).items():
            _check(hint, f"{place}.{name}", depth + 1)
    elif origin in (Union, types.UnionType, list, tuple):
        for one in inner:
            if one is not Ellipsis:
                _check(one, place, depth + 1)
    elif origin is dict and inner[0] is str:
        _check(inner[1], place, depth + 1)
    else:
        raise _unsavable(place, getattr(kind, "__name__", str(kind)))


def _unsavable(place: str, what: str) -> DataNotSavable:
    return DataNotSavable(
        f"{place}: {what} can't be saved; use text, numbers, dates, enums, lists, dicts with text as keys, "
        "and data classes"
    )


def _hints(kind: type, place: str) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(kind)
    except NameError as unknown:
        raise DataNotSavable(
            f"{place}: {kind.__name__} uses the type {unknown.name!r}, which its module neither defines nor imports"
        ) from None
    return {one.name: hints[one.name] for one in fields(kind) if one.init}


def data_to_json(value: Any, place: str = "data", depth: int = 0) -> Any:
    """This value as JSON. Raises DataNotSavable with the name of the field that can't be saved."""
    if value is None or type(value) in _PLAIN:
        return value
    if depth > DEPTH_MAX:
        raise DataNotSavable(f"{place}: nested more than {DEPTH_MAX} levels deep")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, _DATES):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return {
            one.name: data_to_json(getattr(value, one.name), f"{place}.{one.name}", depth + 1)
            for one in fields(value)
            if one.init
        }
    if isinstance(value, list | tuple):
        return [data_to_json(one, f"{place}[{number}]", depth + 1) for number, one in enumerate(value)]
    if isinstance(value, dict) and all(type(key) is str for key in value):
        return {key: data_to_json(one, f"{place}.{key}", depth + 1) for key, one in value.items()}
    raise _unsavable(place, type(value).__name__)


class SavedData:
    """The data of one call as JSON. If it can't be saved, that is reported, once for each reason."""

    def __init__(self, report_failure: Callable[[str, BaseException], None]) -> None:
        self._report_failure = report_failure
        self._reported = ""

    def of(self, data: Any) -> Any:
        """This data as JSON; None if it can't be saved."""
        try:
            return data_to_json(data)
        except DataNotSavable as problem:
            if str(problem) != self._reported:
                self._reported = str(problem)
                self._report_failure("data", problem)
            return None


def info_to_json(info: CallInfo) -> dict[str, Any]:
    """The facts about a call as JSON values."""
    facts = {name: getattr(info, name) for name in CallInfo.__slots__}
    return {name: fact if isinstance(fact, str) else dict(fact) for name, fact in facts.items()}


def data_from_json(kind: Any, data: Any, place: str = "data") -> Any:
    """Read what `data_to_json` returned, as an object of this type. A field that is missing in `data` gets its default.
    Raises DataNotSavable if `data` doesn't fit the type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind in (list, dict, tuple):
        return tuple(data) if kind is tuple else data
    if origin in (Union, types.UnionType):
        return _one_of(inner, data, place)
    if origin is Literal:
        if data in inner:
            return data
        raise DataNotSavable(f"{place}: the saved value doesn't fit its type")
    if isinstance(kind, type) and is_dataclass(kind):
        return _object_of(kind, data, place)
    if origin is list and isinstance(data, list):
        return [data_from_json(inner[0], one, f"{place}[{number}]") for number, one in enumerate(data)]
    if origin is tuple and isinstance(data, list):
        kinds = [inner[0]] * len(data) if inner[-1:] == (Ellipsis,) else list(inner)
        if len(kinds) == len(data):
            return tuple(data_from_json(one, item, place) for one, item in zip(kinds, data, strict=True))
    if origin is dict and isinstance(data, dict):
        return {key: data_from_json(inner[1], one, f"{place}.{key}") for key, one in data.items()}
    return _plain_of(kind, data, place)


def _plain_of(kind: Any, data: Any, place: str) -> Any:
    try:
        if isinstance(kind, type) and issubclass(kind, Enum):
            return kind(data)
        if kind in _DATES:
            return kind.fromisoformat(data)
    except (TypeError, ValueError):
        pass
    else:
        if (kind is type(None) and data is None) or type(data) is kind or (kind is float and type(data) is int):
            return data
    raise DataNotSavable(f"{place}: the saved value doesn't fit its type")


def _one_of(kinds: tuple[Any, ...], data: Any, place: str) -> Any:
    for kind in kinds:
        try:
            return data_from_json(kind, data, place)
        except DataNotSavable:
            continue
    raise DataNotSavable(f"{place}: the saved value doesn't fit its type")


def _object_of(kind: type, data: Any, place: str) -> Any:
    if not isinstance(data, dict):
        raise DataNotSavable(f"{place}: the saved value doesn't fit its type")
    hints = _hints(kind, place)
    given = {name: data_from_json(hint, data[name], f"{place}.{name}") for name, hint in hints.items() if name in data}
    try:
        return kind(**given)
    except (TypeError, ValueError) as problem:
        raise DataNotSavable(
            f"{place}: {kind.__name__} can't be made from what was saved: {type(problem).__name__}"
        ) from None
