"""Turns valid input into nearly valid input: changes bytes of a file, or values of a JSON document.

Rule: all randomness comes from the `dice` argument, so that a case can be repeated and shrunk.
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    7,
    1 << 31,
    1 << 70,
    -(1 << 70),
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "a",
    "0",
    "-1",
    "\x00",
    "\ud800",
    "é\u202e",
    "x" * 300,
    [],
    {},
    [[]],
    [None],
    {"": None},
    [1, 2, 3],
    {"type": "user"},
)
PIECES = (b"", b"\x00", b"\xff", b"\xff\xfe", b"{", b"[" * 2000, b'"', b"\\u0000", b"\n", b"\r", b"\t", b"- ", b": ")
PIECES += (b"!!python/object:os.system", b"&a [*a]", b"1e999", b"-", b"99999999999999999999", b"NaN", b"\xed\xa0\x80")


def odd_bytes(seed: bytes, dice: random.Random) -> bytes:
    """The bytes with a few changes: parts removed, inserted, repeated or reversed."""
    data = bytearray(seed)
    for _ in range(dice.randint(1, 4)):
        at = dice.randint(0, len(data))
        length = dice.choice((1, 1, 2, 4, 8, 40))
        match dice.randint(0, 4):
            case 0:
                del data[at : at + length]
            case 1:
                data[at:at] = dice.choice(PIECES)
            case 2:
                data[at:at] = data[at : at + length]
            case 3 if at < len(data):
                data[at] = dice.randint(0, 255)
            case _:
                del data[at:]
    return bytes(data)


def odd_json(seed: Any, dice: random.Random) -> Any:
    """A copy of the document with a few values changed, removed, repeated or swapped."""
    data = copy.deepcopy(seed)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        places = list(_places(data))
        if not places:
            return dice.choice(ODD)
        holder, key = dice.choice(places)
        other, name = dice.choice(places)
        match dice.randint(0, 8):
            case 5 | 6 | 7 | 8:
                holder[key] = _likely(holder[key], places, dice)
            case 0 | 1:
                holder[key] = copy.deepcopy(dice.choice(ODD))
            case 2:
                del holder[key]
            case 3:
                holder[key] = copy.deepcopy(other[name])
            case _ if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case _:
                holder[f"{key}?"] = holder.pop(key)
    return data


def _likely(value: Any, places: list[tuple[Any, Any]], dice: random.Random) -> Any:
    """Another value of the same type, so that a type check alone does not catch it."""
    if type(value) is bool:
        return not value
    if type(value) is int:
        return max(0, value + dice.choice((-1000, -2, -1, 1, 2, 1000)))
    alike = [holder[key] for holder, key in places if type(holder[key]) is type(value)]
    return copy.deepcopy(dice.choice(alike))


def _places(data: Any) -> Any:
    if isinstance(data, dict):
        for key, value in data.items():
            yield data, key
            yield from _places(value)
    elif isinstance(data, list):
        for key, value in enumerate(data):
            yield data, key
            yield from _places(value)


def as_bytes(data: Any) -> bytes:
    return json.dumps(data).encode()
