"""Reads the questions and answers of a FAQ: from the flow file, or from a YAML or Markdown file beside it.

In Markdown, a heading is a question, several headings in a row are wordings of the same question, and the text below
them is the answer. Rule: a question without an answer is an error, and so is an answer without a question. The error
message names the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from duologue.dialogue.flow import FaqEntry

from .problems import ProblemList, quoted
from .side_files import UnreadableSideFile, read_side_file
from .step_walk import texts_of
from .yaml_positions import read_yaml

CHARS_MAX = 1_000_000
ENTRIES_MAX = 1_000
ANSWER_CHARS_MAX = 2_000
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")


def read_faq(data: Any, folder: Path | None, notes: ProblemList) -> tuple[FaqEntry, ...]:
    """The questions and answers of a flow file's FAQ. Problems are added to `notes`."""
    written = data.get("faq") if isinstance(data, dict) else None
    if isinstance(written, str):
        return _from_file(written, folder, notes)
    entries = []
    for number, entry in enumerate(written if isinstance(written, list) else ()):
        if isinstance(entry, dict) and texts_of(entry.get("ask")) and isinstance(entry.get("answer"), str):
            entries.append(FaqEntry(tuple(texts_of(entry["ask"])), entry["answer"]))
            _check_twice(entries, ("faq", number), notes)
    return tuple(entries)


def _check_twice(entries: list[FaqEntry], path: tuple[str | int, ...], notes: ProblemList) -> None:
    before = {_plain(question) for entry in entries[:-1] for question in entry.questions}
    for question in entries[-1].questions:
        if _plain(question) in before:
            notes.add(path, f"{quoted(question)} is already a question of another entry; remove one of them", at="ask")


def _plain(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?.!")


def _from_file(name: str, folder: Path | None, notes: ProblemList) -> tuple[FaqEntry, ...]:
    try:
        _, text = read_side_file(name, folder, CHARS_MAX, "write the FAQ as a list")
    except UnreadableSideFile as problem:
        notes.add(("faq",), str(problem))
        return ()
    shown = str(Path(notes.file_of(("faq",))).parent / name)
    found = _from_yaml(text, shown, notes) if name.endswith((".yaml", ".yml")) else _from_markdown(text, shown, notes)
    entries = tuple(found)
    if not entries:
        notes.add(("faq",), f"file {quoted(name)} has no questions with answers; write `## Question` and its answer")
    if len(entries) > ENTRIES_MAX:
        notes.add(("faq",), f"file {quoted(name)} has more than {ENTRIES_MAX:,} questions; shorten it")
    return entries[:ENTRIES_MAX]


def _from_yaml(text: str, file: str, notes: ProblemList) -> Iterable[FaqEntry]:
    inner = ProblemList(file)
    plain = read_yaml(text, inner)
    notes.take(inner)
    if plain is None:
        return
    if not isinstance(plain.value, list):
        notes.add_line(1, "an FAQ file is a list of entries with `ask` and `answer`", file=file)
        return
    for number, entry in enumerate(plain.value):
        line = plain.lines[(number,)]
        unknown = [key for key in entry if key not in ("ask", "answer")] if isinstance(entry, dict) else []
        asked = texts_of(entry.get("ask")) if isinstance(entry, dict) else []
        answer = entry.get("answer") if isinstance(entry, dict) else None
        if unknown:
            notes.add_line(plain.lines[(number, unknown[0])], f"unknown key {quoted(unknown[0])}", file=file)
        elif not asked or not all(question.strip() for question in asked):
            notes.add_line(line, "`ask` is missing: write the question as users ask it", file=file)
        elif not isinstance(answer, str) or not answer.strip():
            notes.add_line(line, "`answer` is missing", file=file)
        else:
            yield FaqEntry(tuple(asked), answer)


def _from_markdown(text: str, file: str, notes: ProblemList) -> Iterable[FaqEntry]:
    questions: list[str] = []
    answer: list[str] = []
    asked_at = 0
    for number, line in enumerate((*text.splitlines(), "# "), start=1):
        heading = _HEADING.match(line) if line.startswith("#") else None
        is_end = number > len(text.splitlines())
        if heading is None and not is_end:
            if line.strip() and not questions:
                notes.add_line(number, "this text has no question; write a heading above it", file=file)
                return
            answer += [line.strip()] if line.strip() else []
            continue
        if answer:
            yield FaqEntry(tuple(questions), " ".join(answer)[:ANSWER_CHARS_MAX])
            questions, answer = [], []
        elif questions and is_end:
            notes.add_line(asked_at, f"the question {quoted(questions[-1])} has no answer; write it below", file=file)
        if heading is not None and heading[1]:
            questions.append(heading[1])
            asked_at = number
