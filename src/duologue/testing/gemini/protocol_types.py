"""Checks messages against Google's Live protocol, with the types of the `google-genai` package.

These types define every field that a message may have, and reject all other fields. Rule: every problem names the path
of its field.
"""

from __future__ import annotations

import base64
import binascii
import copy
import json
import warnings
from collections.abc import Iterator
from typing import Any

from google.genai import types
from pydantic import BaseModel, ValidationError

_FREE = ("args", "response", "parametersJsonSchema", "labels")  # their fields have names of their own


def in_camel_case(value: Any) -> Any:
    """The message with all field names in camelCase, as in the protocol's JSON form. A real server also accepts names
    with underscores, and Google's client uses both forms."""
    if isinstance(value, list):
        return [in_camel_case(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, inner in value.items():
        first, *rest = str(name).split("_")
        camel = first + "".join(word.capitalize() for word in rest)
        found[camel] = inner if camel in _FREE else in_camel_case(inner)
    return found


def problems_of_client_message(message: object) -> list[str]:
    """The problems of a message from a client. Such a message must have exactly one field at its top level."""
    if not isinstance(message, dict) or len(message) != 1:
        return ["a client message must have exactly one part"]
    message = copy.deepcopy(message)
    problems: list[str] = []
    setup = message.get("setup")
    if isinstance(setup, dict) and "realtimeInputConfig" in setup:  # the package writes it, but its type lacks it
        problems += _problems(types.RealtimeInputConfig, setup.pop("realtimeInputConfig"), "setup.realtimeInputConfig.")
    return [*problems, *_checked(types.LiveClientMessage, message)]


def problems_of_server_message(message: object) -> list[str]:
    """The problems of a message from a server."""
    return _checked(types.LiveServerMessage, copy.deepcopy(message))


def _checked(kind: type[BaseModel], message: object) -> list[str]:
    return [*_wrong_blobs(message, ""), *_problems(kind, message)]


def _wrong_blobs(value: object, path: str) -> Iterator[str]:
    """Yield a problem for each binary field in this value that isn't valid base64. The binary data is also removed from
    the value, because the package's types don't accept base64 in strict mode."""
    if isinstance(value, dict):
        if "mimeType" in value:
            try:
                base64.b64decode(value.pop("data", None), validate=True)
            except (TypeError, binascii.Error):
                yield f"{path}data: must be base64"
        for name, inner in value.items():
            yield from _wrong_blobs(inner, f"{path}{name}.")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _wrong_blobs(inner, f"{path}{number}.")


def _problems(kind: type[BaseModel], value: object, path: str = "") -> list[str]:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            kind.model_validate_json(json.dumps(value), strict=True, by_alias=True, by_name=False)
        except ValidationError as failure:
            first = failure.errors()[0]
            return [f"{path}{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"]
    return [f"{path}{warning.message}" for warning in warned if "is not a valid" in str(warning.message)]
