"""Reads, checks and compiles a flow file: `domain = load_flows("flights.yaml")`.

The format is described in docs/flows.md. Rule: a file either becomes a domain that can be run, or raises InvalidFlows
with everything that is wrong with it.
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
    """A loaded file: its entries, the compiled domain, and warnings."""

    name: str
    domain: Domain
    written: FileEntry
    warnings: tuple[FlowProblem, ...] = ()

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions that the steps of the file run."""
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
    """Load a flow file and return its domain: the compiled flows, slots and texts. Raises InvalidFlows if anything in
    the file is wrong."""
    return read_flows(path).domain


def parse_flows(text: str, name: str = "flows.yaml") -> Domain:
    """Load flows from a text and return their domain. Raises InvalidFlows if anything in the text is wrong; its
    messages show `name` as the file name."""
    return read_text(text, name).domain


def read_flows(path: Path | str) -> FlowFile:
    """Load a flow file, and return its domain together with its entries and warnings. Raises InvalidFlows if anything
    in the file is wrong."""
    file = Path(path)
    notes = ProblemList(str(file))
    try:
        with file.open("rb") as opened:
            content = opened.read(BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        notes.add_line(0, f"the file can't be read: {getattr(error, 'strerror', None) or error}")
        content = b""
    notes.raise_errors()
    if len(content) > BYTES_MAX:
        notes.add_line(0, f"the file is too large; at most {BYTES_MAX:,} bytes are allowed")
    notes.raise_errors()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.add_line(0, "the file isn't UTF-8 text; save it in this encoding")
        text = ""
    notes.raise_errors()
    return read_text(text, str(file), file.parent)


def flow_schema() -> dict[str, Any]:
    """The file format as a JSON schema, for editors."""
    with _its_packages():
        from .schema import json_schema
    return json_schema()


@contextmanager
def _its_packages() -> Iterator[None]:
    """If PyYAML or pydantic is missing, raise an error that says what to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if missing.name not in ("yaml", "pydantic"):
            raise
        raise DuologueError(f"flow files need {missing.name}; install it with: pip install 'duologue[flows]'") from None


def read_text(text: str, name: str, folder: Path | None = None) -> FlowFile:
    """Load flows from a text, and return their domain together with the entries and warnings. Other files that the text
    names (included files, lists of names, an FAQ) are read from `folder`. Raises InvalidFlows if anything in the text
    is wrong."""
    with _its_packages():
        from .compile import compile_file, to_choices
        from .faq_files import read_faq
        from .impossible_conditions import check_comparisons
        from .includes import with_includes
        from .name_files import read_name_files
        from .references import check_references
        from .schema_errors import check_schema
        from .semantic_checks import check_semantics
        from .yaml_positions import read_yaml

    notes = ProblemList(name)
    plain = read_yaml(text, notes)
    if plain is None or not isinstance(plain.value, dict):
        if plain is not None:
            shown = "is empty" if plain.value is None else "isn't a mapping"
            notes.add_line(plain.lines[()], f"the file {shown}; a flow file has `version: 1`, `slots` and `flows`")
        notes.raise_errors()
    assert plain is not None
    plain = with_includes(plain, name, folder, notes)
    notes.lines = plain.lines
    written = check_schema(plain.value, notes)
    check_references(plain.value, notes)
    check_comparisons(plain.value, notes)
    check_semantics(plain.value, notes)
    names = read_name_files(plain.value, folder, notes)
    faq = read_faq(plain.value, folder, notes)
    notes.raise_errors()
    assert written is not None, "a file that doesn't fit the schema has problems"
    names |= {slot: to_choices(entry.names) for slot, entry in written.slots.items() if isinstance(entry.names, list)}
    return FlowFile(name, compile_file(written, names, faq), written, notes.problems)
