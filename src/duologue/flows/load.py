"""Reads a file of flows, checks all of it and compiles it: `domain = load_flows("flights.yaml")`.

The format is in docs/flows.md. Rule: a file either becomes a domain that can be run, or InvalidFlows with
everything that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duologue.core.errors import DuologueError
from duologue.dialogue.flow import Domain, PerformAction

from .problems import FlowProblem, ProblemList

if TYPE_CHECKING:
    from .schema import FileEntry

BYTES_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class FlowFile:
    """A file that was read: what it says, what it was compiled to, and what looks odd in it."""

    name: str
    domain: Domain
    written: FileEntry
    warnings: tuple[FlowProblem, ...] = ()

    @property
    def actions(self) -> tuple[str, ...]:
        """The functions that its steps run."""
        programs = [flow.program for flow in self.domain.flows.values()]
        return tuple(
            dict.fromkeys(at.action for program in programs for at in program if isinstance(at, PerformAction))
        )

    @property
    def validators(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(slot.validator for slot in self.domain.slots.values() if slot.validator))

    @property
    def normalisers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(slot.normaliser for slot in self.domain.slots.values() if slot.normaliser))


def load_flows(path: Path | str) -> Domain:
    """The domain of a file, or InvalidFlows."""
    return read_flows(path).domain


def parse_flows(text: str, name: str = "flows.yaml") -> Domain:
    """The domain of a text, or InvalidFlows; `name` is what complaints call it."""
    return read_text(text, name).domain


def read_flows(path: Path | str) -> FlowFile:
    """A file with its warnings, or InvalidFlows."""
    file = Path(path)
    notes = ProblemList(str(file))
    try:
        with file.open("rb") as opened:
            content = opened.read(BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        notes.add_line(0, getattr(error, "strerror", None) or "can't be read")
        content = b""
    notes.raise_errors()
    if len(content) > BYTES_MAX:
        notes.add_line(0, f"too large: more than {BYTES_MAX:,} bytes")
    notes.raise_errors()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.add_line(0, "not a text file in UTF-8")
        text = ""
    notes.raise_errors()
    return read_text(text, str(file), file.parent)


def flow_schema() -> dict[str, Any]:
    """The format for editors, as JSON schema."""
    with _its_packages():
        from .schema import json_schema
    return json_schema()


@contextmanager
def _its_packages() -> Iterator[None]:
    """Says plainly what to install if PyYAML or pydantic is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name not in ("yaml", "pydantic"):
            raise
        raise DuologueError(f"files of flows need {missing.name}: pip install 'duologue[flows]'") from None


def read_text(text: str, name: str, folder: Path | None = None) -> FlowFile:
    """A text with its warnings, or InvalidFlows. Lists of names are looked for in the folder."""
    with _its_packages():
        from .compile import called, compile_file
        from .impossible_conditions import check_comparisons
        from .name_files import read_name_files
        from .references import check_names
        from .schema_errors import check_schema
        from .semantic_checks import check_sense
        from .yaml_positions import read_yaml

    notes = ProblemList(name)
    plain = read_yaml(text, notes)
    if plain is None or not isinstance(plain.value, dict):
        if plain is not None:
            shown = "empty" if plain.value is None else "not a mapping"
            notes.add_line(plain.lines[()], f"{shown}: a file of flows has 'version: 1', slots and flows")
        notes.raise_errors()
    assert plain is not None
    notes.lines = plain.lines
    written = check_schema(plain.value, notes)
    check_names(plain.value, notes)
    check_comparisons(plain.value, notes)
    check_sense(plain.value, notes)
    names = read_name_files(plain.value, folder, notes)
    notes.raise_errors()
    assert written is not None, "what doesn't fit the schema was noted"
    names |= {slot: called(entry.names) for slot, entry in written.slots.items() if isinstance(entry.names, list)}
    return FlowFile(name, compile_file(written, names), written, notes.problems)
