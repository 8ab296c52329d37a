"""YAML files with lines; tests of scenarios and suites read most of it."""

from __future__ import annotations

from pathlib import Path

from duologue.testing.scenario_steps import YamlNode
from duologue.testing.yaml_files import article, read_yaml


def read(tmp_path: Path, text: str) -> tuple[YamlNode | None, list[str]]:
    problems: list[str] = []
    path = tmp_path / "x.yaml"
    path.write_text(text)
    return read_yaml(path, lambda line, text: problems.append(f"{line}: {text}"), "suite", "a, b", "`a`"), problems


def test_every_value_has_its_line_and_words_stay_words(tmp_path: Path) -> None:
    root, problems = read(tmp_path, "a: no\nb:\n  - 12:30\n  - 3\n")
    assert root is not None
    assert root.entries is not None
    assert problems == []
    assert root.plain() == {"a": "no", "b": ["12:30", 3]}
    assert root.entries["b"].line == 2


def test_a_file_that_is_no_mapping_says_what_it_must_be(tmp_path: Path) -> None:
    assert read(tmp_path, "- 1\n")[1] == ["1: a suite is a mapping of a, b and so on, not a list"]
    assert read(tmp_path, "")[1] == ["1: the file is empty: a suite needs `a`"]
    assert article("eval") == "an eval"
