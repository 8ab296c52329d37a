"""Problems found in a flow file, one line each.

A problem names its file, its line and the path to the entry (such as flows.book.steps[2]), and says what to do about
it. Rule: all problems are reported at once; a warning never keeps a file from being loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple, TypeAlias

from duologue.core.errors import DuologueError

Path: TypeAlias = tuple[str | int, ...]

PROBLEMS_MAX = 100  # more problems are only counted
_TEXT_CHARS_MAX = 300
_SHOWN_CHARS_MAX = 60
_SHOWN_NAMES_MAX = 8
_GUESSED_NAMES_MAX = 2_000


class FlowProblem(NamedTuple):
    """One problem. Line 0 means that the problem concerns the whole file."""

    file: str
    line: int
    path: str
    text: str
    is_warning: bool = False

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        parts = (place, "warning" if self.is_warning else "", self.path, self.text)
        return ": ".join(part for part in parts if part)


class InvalidFlows(DuologueError, ValueError):
    """A flow file that can't be used. `problems` lists everything that is wrong with it."""

    def __init__(self, problems: tuple[FlowProblem, ...], more: int = 0) -> None:
        self.problems = problems
        self.more = more  # the number of further problems, which aren't in `problems`
        lines = [str(problem) for problem in problems]
        super().__init__("\n".join([*lines, f"and {more} more problems"] if more else lines))


class ProblemList:
    """Collects the problems of a file. `lines` maps each path (the keys that lead to a value, shown as
    flows.book.steps[2]) to its line; while `lines` is empty, every path has line 1."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[FlowProblem, None] = {}
        self._left_out = 0
        self.lines: Mapping[Path, int] = {}
        self.files: dict[Path, str] = {}  # entries that come from another file, by their path

    def file_of(self, path: Path) -> str:
        """The file in which the value at this path is written."""
        return next((file for place, file in self.files.items() if path[: len(place)] == place), self._file)

    def take(self, other: ProblemList) -> None:
        """Add all problems from another list."""
        for problem in other.problems:
            self._keep(problem)
        self._left_out += other._left_out

    def add(self, path: Path, text: str, *, at: str | int | None = None, is_warning: bool = False) -> None:
        """Add a problem at `path`. Its line is that of the key `at` inside `path`; if `at` is None, the line of `path`
        itself."""
        where = path if at is None else (*path, at)
        while where and where not in self.lines:
            where = where[:-1]
        file = self.file_of(where)
        self._keep(FlowProblem(file, self.lines.get(where, 1), shown_path(path), one_line(text), is_warning))

    def add_line(self, line: int, text: str, *, file: str = "") -> None:
        """Add a problem whose line is known, but which has no path. `file` is the file with the problem; empty means
        the first file."""
        self._keep(FlowProblem(file or self._file, line, "", one_line(text)))

    def _keep(self, problem: FlowProblem) -> None:
        if len(self._found) < PROBLEMS_MAX or problem in self._found:
            self._found[problem] = None
        elif not problem.is_warning:
            self._left_out += 1

    @property
    def problems(self) -> tuple[FlowProblem, ...]:
        """The problems of the first file, then those of the other files, each ordered by line."""
        return tuple(sorted(self._found, key=lambda problem: (problem.file != self._file, problem.file, problem.line)))

    def raise_errors(self) -> None:
        """Raise InvalidFlows if any problem isn't a warning."""
        if self._left_out or not all(problem.is_warning for problem in self._found):
            raise InvalidFlows(self.problems, self._left_out)


# -- Formatting


def shown_path(path: Path) -> str:
    """The path as text, such as flows.book.steps[2]."""
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{clipped(part)}" for part in path)
    return one_line(shown.removeprefix("."))


def one_line(text: str) -> str:
    """The text on one line, without control characters, and cut if it is too long."""
    words = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return words if len(words) <= _TEXT_CHARS_MAX else f"{words[:_TEXT_CHARS_MAX]}…"


def clipped(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS_MAX else f"{text[:_SHOWN_CHARS_MAX]}…"


def quoted(name: str) -> str:
    return repr(clipped(name))


def hint(name: str, known: Iterable[str]) -> str:
    """A suggestion for an unknown name: the closest known name, or else the list of known names. Empty if there are no
    known names."""
    names = list(dict.fromkeys(known))
    if not names:
        return ""
    by_small = {each.casefold(): each for each in names[:_GUESSED_NAMES_MAX]}
    near = get_close_matches(clipped(name).casefold(), by_small, n=1)
    if near:
        return f"; did you mean {by_small[near[0]]!r}?"
    shown = ", ".join(names[:_SHOWN_NAMES_MAX])
    return f"; known: {shown}{_rest(names)}"


def _rest(names: list[str]) -> str:
    return f" and {len(names) - _SHOWN_NAMES_MAX} more" if len(names) > _SHOWN_NAMES_MAX else ""


def kind_shown(value: object) -> str:
    """How a message describes a value, such as "a list" or "an empty value"."""
    match value:
        case None:
            return "an empty value"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case bool():
            return str(value).lower()
        case str():
            return quoted(value)
    return clipped(str(value))
