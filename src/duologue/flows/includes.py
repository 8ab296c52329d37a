"""Other flow files that a flow file includes: their slots, flows and FAQ become part of the including file.

A flow file includes others with `include: payment.yaml`, or with a list of names. An included file may have `version`,
`slots`, `flows`, `faq` and `include`, and nothing else: settings and patterns can be set only in the first file. Rule:
every name is defined in only one file. A file that includes itself, directly or through other files, is refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .problems import Path as Place
from .problems import ProblemList, quoted
from .side_files import UnreadableSideFile, read_side_file
from .step_walk import texts_of
from .yaml_positions import CHARS_MAX, Plain, read_yaml

FILES_MAX = 50
_SECTIONS = ("slots", "flows")
_KEYS = ("version", "include", "slots", "flows", "faq")


def with_includes(plain: Plain, name: str, folder: Path | None, notes: ProblemList) -> Plain:
    """The file together with everything that it includes. Problems are added to `notes`; each names the file and line
    where it was found."""
    if not isinstance(plain.value, dict) or "include" not in plain.value:
        return plain
    whole = _Whole(plain, name, folder, notes)
    own = (folder / Path(name).name).resolve() if folder is not None else Path(name)
    whole.add_all(plain.value, dict(plain.lines), (own,))
    return Plain(whole.value, whole.lines)


class _Whole:
    """Collects the entries of several files, and remembers in which file and line each entry was written."""

    def __init__(self, plain: Plain, name: str, folder: Path | None, notes: ProblemList) -> None:
        self.value: dict[str, Any] = {**plain.value}
        for section in _SECTIONS:
            if isinstance(self.value.get(section), dict):
                self.value[section] = {**self.value[section]}
        if isinstance(self.value.get("faq"), list):
            self.value["faq"] = [*self.value["faq"]]
        self.lines: dict[Place, int] = dict(plain.lines)
        self._name = name
        self._folder = folder
        self._notes = notes
        self._read: set[Path] = set()

    def add_all(self, data: dict[str, Any], lines: dict[Place, int], way: tuple[Path, ...]) -> None:
        """Add the files that `data` includes. `way` holds the files that led to `data`: first the main file, then the
        file that it includes, and so on up to the file that contains `data`."""
        here = self._shown(way[-1]) if len(way) > 1 else self._name
        for number, other in enumerate(texts_of(data.get("include"))):
            line = lines.get(("include", number), lines.get(("include",), 1))
            try:
                file, text = read_side_file(other, self._folder, CHARS_MAX, "write everything in one text")
            except UnreadableSideFile as problem:
                self._notes.add_line(line, f"include: {problem}", file=here)
                continue
            if file in way:
                circle = " includes ".join(one.name for one in (*way[way.index(file) :], file))
                self._notes.add_line(line, f"include: files include each other in a circle: {circle}", file=here)
            elif len(self._read) >= FILES_MAX:
                self._notes.add_line(line, f"include: at most {FILES_MAX} files are allowed", file=here)
            elif file not in self._read:
                self._read.add(file)
                self._add(file, text, way)

    def _add(self, file: Path, text: str, way: tuple[Path, ...]) -> None:
        name = self._shown(file)
        inner = ProblemList(name)
        plain = read_yaml(text, inner)
        self._notes.take(inner)
        if plain is None:
            return
        if not isinstance(plain.value, dict):
            self._notes.add_line(1, "an included file has `version: 1`, and `slots`, `flows` or `faq`", file=name)
            return
        if plain.value.get("version") != 1:
            self._notes.add_line(plain.lines.get(("version",), 1), "`version: 1` is missing", file=name)
        for key in plain.value:
            if key not in _KEYS:
                advice = "move it to the file that includes this one"
                self._notes.add_line(
                    plain.lines[(key,)], f"an included file can't have {quoted(key)}; {advice}", file=name
                )
        for section in _SECTIONS:
            self._add_section(section, plain, name)
        self._add_faq(plain, name)
        self.add_all(plain.value, plain.lines, (*way, file))

    def _add_section(self, section: str, plain: Plain, file: str) -> None:
        found = plain.value.get(section)
        if found is None:
            return
        if not isinstance(found, dict):
            self._notes.add_line(plain.lines[(section,)], f"{section}: must be a mapping", file=file)
            return
        into = self.value.setdefault(section, {})
        for key, entry in found.items():
            if key in into:
                first = self._notes.file_of((section, key)), self.lines.get((section, key), 1)
                text = f"{section}.{key} is already defined in {first[0]}:{first[1]}; rename one of them"
                self._notes.add_line(plain.lines[(section, key)], text, file=file)
                continue
            into[key] = entry
            self._notes.files[(section, key)] = file
            self.lines |= {path: line for path, line in plain.lines.items() if path[:2] == (section, key)}

    def _add_faq(self, plain: Plain, file: str) -> None:
        found = plain.value.get("faq")
        if found is None:
            return
        into = self.value.setdefault("faq", [])
        if not isinstance(found, list) or not isinstance(into, list):
            text = "faq: with several files, write every FAQ as a list; a file name is possible only in one place"
            self._notes.add_line(plain.lines[("faq",)], text, file=file)
            return
        for number, entry in enumerate(found):
            place = len(into)
            into.append(entry)
            self._notes.files[("faq", place)] = file
            self.lines |= {
                ("faq", place, *path[2:]): line for path, line in plain.lines.items() if path[:2] == ("faq", number)
            }

    def _shown(self, file: Path) -> str:
        """The path of an included file as messages show it: relative to the same folder as the path of the main
        file."""
        above = Path(self._name).parent
        try:
            return str(above / file.relative_to(self._folder.resolve())) if self._folder is not None else file.name
        except ValueError:
            return file.name
