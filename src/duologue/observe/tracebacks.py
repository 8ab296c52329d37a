"""Tracebacks of the developer's own code. They show which code raised an exception, without the frames of Duologue that
called this code.

Rule: a frame names a file, a line and a function. Only the field `text` contains the exception's message, which may
contain words of the conversation.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from sysconfig import get_path
from typing import NamedTuple

from duologue.core.errors import DuologueError
from duologue.ports.failure import ServiceError

CHARS_MAX = 20_000
FRAMES_MAX = 40
_OWN = Path(__file__).parents[1]
_DEMO = _OWN / "starter" / "project"
_STANDARD_LIBRARY = Path(get_path("stdlib"))


class Traceback(NamedTuple):
    """A traceback in two forms: `frames`, which may be logged, and `text`, the complete traceback, which may contain
    words of the conversation."""

    error: str  # the class of the exception
    frames: tuple[str, ...]  # "file:line function", the innermost last
    text: str


def traceback_of(failure: BaseException) -> Traceback:
    """The traceback of a failure. If the failure is an exception of Duologue that only wraps an exception from the
    developer's code, the wrapped exception's traceback is returned. If no code of the developer was running, the text
    of an exception of Duologue is its message alone: the message says what to do, and the frames say nothing."""
    raised = root_of(failure)
    whole = traceback.TracebackException.from_exception(raised)
    if isinstance(raised, SyntaxError):  # it names its own place; the frames are of the import
        whole.stack = traceback.StackSummary()
    for one in _chain(whole):
        one.stack = traceback.StackSummary.from_list(_from_first_foreign(one.stack))
    frames = tuple(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in whole.stack[-FRAMES_MAX:])
    is_expected = isinstance(raised, DuologueError) and not any(map(_has_foreign, _chain(whole)))
    text = "".join(whole.format_exception_only() if is_expected else whole.format()).rstrip()
    if len(text) > CHARS_MAX:
        text = f"{text[: CHARS_MAX // 2]}\n  …\n{text[-CHARS_MAX // 2 :]}"
    return Traceback(type(raised).__name__, frames, text)


def root_of(failure: BaseException) -> BaseException:
    """The exception from outside Duologue that caused this failure; the failure itself if there is no such
    exception."""
    while isinstance(failure, ServiceError) and failure.__cause__ is not None:
        failure = failure.__cause__
    return failure


def _chain(whole: traceback.TracebackException) -> list[traceback.TracebackException]:
    found, left = [], [whole]
    while left:
        one = left.pop()
        found.append(one)
        left += [other for other in (one.__cause__, one.__context__) if other is not None and other not in found]
    return found


def _has_foreign(one: traceback.TracebackException) -> bool:
    return any(not is_own(frame.filename) for frame in one.stack)


def _from_first_foreign(stack: Sequence[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    """The frames, beginning with the first frame that belongs neither to Duologue nor to the standard library. If there
    is no such frame, all frames are returned."""
    for at, frame in enumerate(stack):
        if not is_own(frame.filename):
            return list(stack[at:])
    return list(stack)


def is_own(filename: str) -> bool:
    """Does this file belong to Duologue or to Python's standard library? The files of the demo project count as the
    developer's."""
    if filename.startswith("<"):
        return True
    path = Path(filename)
    if path.is_relative_to(_DEMO) or ("site-packages" in path.parts and not path.is_relative_to(_OWN)):
        return False
    return path.is_relative_to(_OWN) or path.is_relative_to(_STANDARD_LIBRARY)
