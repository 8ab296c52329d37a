"""Files that include other files."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.flows import InvalidFlows, load_flows
from duologue.flows.includes import FILES_MAX


def written(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    return folder / "main.yaml"


def errors(folder: Path, **files: str) -> list[str]:
    with pytest.raises(InvalidFlows) as caught:
        load_flows(written(folder, **files))
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


@pytest.mark.req("D-08")
def test_slots_flows_and_faq_of_included_files_belong_to_the_file(tmp_path: Path) -> None:
    main = "include: [one.yaml, two.yaml]\nflows: {a: {steps: [{collect: x}, {call: b}]}}\nfaq: [{ask: A, answer: B}]"
    file = written(
        tmp_path,
        main=main,
        one="slots: {x: {type: text, prompt: X}}\ninclude: two.yaml",
        two="flows: {b: {steps: [{say: hello}]}}\nfaq: [{ask: C, answer: D}]",
    )
    domain = load_flows(file)
    assert (list(domain.slots), list(domain.flows)) == (["x"], ["a", "b"])
    assert [entry.answer for entry in domain.faq] == ["B", "D"]


@pytest.mark.req("D-08")
def test_an_error_names_the_file_and_the_line_that_it_is_in(tmp_path: Path) -> None:
    assert errors(
        tmp_path,
        main="include: one.yaml\nflows: {a: {steps: [{collect: y}]}}",
        one="slots:\n  x: {type: text, prompt: '{z}'}\nfaq:\n  - {ask: Q}\nflows:\n  b:\n    steps: [{sayy: x}]",
    ) == [
        "main.yaml:3: flows.a.steps[0]: unknown slot 'y'; known: x",
        "one.yaml:3: slots.x.prompt: unknown slot 'z'; known: x",
        "one.yaml:5: faq[0]: `answer` is missing",
        "one.yaml:8: flows.b.steps[0]: unknown step 'sayy'; did you mean 'say'?",
    ]


@pytest.mark.req("D-08")
def test_files_in_a_circle_are_refused(tmp_path: Path) -> None:
    found = errors(
        tmp_path,
        main="include: one.yaml\nflows: {a: {steps: [{say: x}]}}",
        one="include: two.yaml",
        two="include: [one.yaml, main.yaml]",
    )
    assert [line.replace(f"{tmp_path}/", "") for line in found] == [
        "two.yaml:2: include: files include each other in a circle: one.yaml includes two.yaml includes one.yaml",
        "two.yaml:2: include: files include each other in a circle: "
        "main.yaml includes one.yaml includes two.yaml includes main.yaml",
    ]


def test_what_an_included_file_cannot_have(tmp_path: Path) -> None:
    assert errors(
        tmp_path,
        main="include: [one.yaml, none.yaml]\nslots: {x: {type: text, prompt: X}}\nflows: {a: {steps: [{say: x}]}}",
        one="patterns: {help: x}\nslots:\n  x: {type: text, prompt: X}",
    ) == [
        "main.yaml:2: include: file 'none.yaml' can't be read: No such file or directory",
        "one.yaml:2: an included file can't have 'patterns'; move it to the file that includes this one",
        "one.yaml:4: slots.x is already defined in main.yaml:3; rename one of them",
    ]


def test_a_broken_file_and_too_many_files_are_reported(tmp_path: Path) -> None:
    assert errors(tmp_path, main="include: one.yaml\nflows: {a: {steps: [{say: x}]}}", one="a: [")[0].startswith(
        "one.yaml:"
    )
    names = [f"f{number}" for number in range(FILES_MAX + 1)]
    main = f"include: [{', '.join(f'{name}.yaml' for name in names)}]\nflows: {{a: {{steps: [{{say: x}}]}}}}"
    found = errors(tmp_path, main=main, **dict.fromkeys(names, ""))
    assert found == [f"main.yaml:2: include: at most {FILES_MAX} files are allowed"]
