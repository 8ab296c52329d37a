"""Regular expressions that values have to match, such as `[A-Z]{2}[0-9]{6}` for a policy number.

A pattern is refused when the file is loaded if matching it could take long. The time grows with the number of different
ways to match one text, and this number is computed from the parts of the pattern. A part that may be repeated n to m
times can match in m - n + 1 ways. If a group is repeated, the numbers of ways of its content are multiplied. Rule: a
match never takes longer than a few milliseconds. So a pattern is refused if it has more than WAYS_MAX ways, a reference
to an earlier group, or a lookahead or lookbehind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]
from typing import Any

PATTERN_CHARS_MAX = 200
VALUE_CHARS_MAX = 64  # a longer value doesn't match
WAYS_MAX = 20_000


class BadPattern(ValueError):
    """The pattern can't be used. The message says why, in one line."""


def check_pattern(pattern: str) -> None:
    """Raise BadPattern if the pattern isn't valid, or if matching it could take long."""
    if len(pattern) > PATTERN_CHARS_MAX:
        raise BadPattern(f"the pattern has {len(pattern)} characters; at most {PATTERN_CHARS_MAX} are allowed")
    try:
        re.compile(pattern)
        parts = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        raise BadPattern(f"the pattern isn't a valid regular expression: {problem}") from None
    if _ways(parts) > WAYS_MAX:
        advice = "replace + and * by counts such as {1,8}, and don't repeat a group that varies"
        raise BadPattern(f"matching this pattern could take too long; {advice}")


def is_match(pattern: str, value: str) -> bool:
    """Does the whole value match the pattern? Upper and lower case make no difference."""
    return len(value) <= VALUE_CHARS_MAX and _compiled(pattern).fullmatch(value) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def example_of(pattern: str, number: int = 0) -> str:
    """A value that matches the pattern, for tests. Different values of `number` give different letters and digits."""
    return "".join(_examples(_parser.parse(pattern), number))


def _examples(parts: Any, number: int) -> Iterator[str]:
    for kind, content in parts:
        match str(kind):
            case "LITERAL":
                yield chr(content)
            case "IN":
                yield _member(content, number)
            case "ANY" | "NOT_LITERAL":
                yield "x" if content is None or chr(content) != "x" else "y"
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = content
                for _ in range(max(least, min(1, most))):
                    yield from _examples(inner, number)
            case "SUBPATTERN":
                yield from _examples(content[-1], number)
            case "BRANCH":
                yield from _examples(content[1][number % len(content[1])], number)


def _member(content: Any, number: int) -> str:
    """One of the characters in a class such as [A-Z]."""
    kind, first = content[0]
    if str(kind) == "RANGE":
        return chr(min(first[0] + number, first[1]))
    if str(kind) == "CATEGORY":
        return str((1 + number) % 10) if "DIGIT" in str(first) or "WORD" in str(first) else " "
    return chr(first) if str(kind) == "LITERAL" else "x"


def _ways(parts: Any) -> int:
    """The largest number of ways in which these parts can match one text. Counting stops above WAYS_MAX."""
    ways = 1
    for kind, content in parts:
        ways *= _ways_of(str(kind), content)
        if ways > WAYS_MAX:
            return WAYS_MAX + 1
    return ways


def _ways_of(kind: str, content: Any) -> int:
    match kind:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = content
            return _repeated(_ways(inner), least, min(int(most), VALUE_CHARS_MAX))
        case "SUBPATTERN":
            return _ways(content[-1])
        case "ATOMIC_GROUP":
            return _ways(content)
        case "BRANCH":
            return sum(_ways(branch) for branch in content[1])
        case "GROUPREF" | "GROUPREF_EXISTS":
            raise BadPattern("a reference to an earlier group isn't allowed; write its content again")
        case "ASSERT" | "ASSERT_NOT":
            raise BadPattern("lookahead and lookbehind aren't allowed; a value always has to match as a whole")
    return 1


def _repeated(inner: int, least: int, most: int) -> int:
    """The number of ways in which a part can match if it is repeated `least` to `most` times. `inner` is the number of
    ways for one repetition."""
    if inner == 1:
        return max(1, most - least + 1)
    total = 0
    for count in range(least, most + 1):
        total += inner ** min(count, 20)
        if total > WAYS_MAX:
            return WAYS_MAX + 1
    return max(1, total)
