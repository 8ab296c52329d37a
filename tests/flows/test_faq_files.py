"""The FAQ of a file, in the file or beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from duologue.dialogue.flow import FaqEntry
from duologue.flows import InvalidFlows, load_flows
from tests.flows.flow_problems import FILE, problems_of


def faq_of(folder: Path, name: str, text: str) -> tuple[FaqEntry, ...]:
    (folder / name).write_text(text, encoding="utf-8")
    (folder / "f.yaml").write_text(f"{FILE}faq: {name}", encoding="utf-8")
    return load_flows(folder / "f.yaml").faq


def errors(folder: Path, name: str, text: str) -> list[str]:
    with pytest.raises(InvalidFlows) as caught:
        faq_of(folder, name, text)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


@pytest.mark.req("D-08")
def test_headings_are_questions_and_the_text_below_is_the_answer(tmp_path: Path) -> None:
    text = "# When are you open?\n## What are your hours? ##\n\nFrom nine\nto five.\n\n# Where?\nIn town.\n"
    assert faq_of(tmp_path, "faq.md", text) == (
        FaqEntry(("When are you open?", "What are your hours?"), "From nine to five."),
        FaqEntry(("Where?",), "In town."),
    )


def test_a_yaml_file_has_entries_like_the_flow_file(tmp_path: Path) -> None:
    text = "- ask: ['When?', 'Until when?']\n  answer: At nine.\n"
    assert faq_of(tmp_path, "faq.yaml", text) == (FaqEntry(("When?", "Until when?"), "At nine."),)


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("faq.md", "# A?\nYes.\n# B?\n", "faq.md:3: the question 'B?' has no answer; write it below"),
        ("faq.md", "Hello\n# B?\nYes.", "faq.md:1: this text has no question; write a heading above it"),
        (
            "faq.md",
            "\n",
            "f.yaml:3: faq: file 'faq.md' has no questions with answers; write `## Question` and its answer",
        ),
        ("faq.yaml", "- ask: A\n- answer: B\n", "faq.yaml:1: `answer` is missing"),
        ("faq.yaml", "- {answer: B}\n", "faq.yaml:1: `ask` is missing: write the question as users ask it"),
        ("faq.yaml", "- {ask: A, answr: B}\n", "faq.yaml:1: unknown key 'answr'"),
        ("faq.yaml", "a: 1\n", "faq.yaml:1: an FAQ file is a list of entries with `ask` and `answer`"),
        ("faq.yaml", "- [\n", "faq.yaml:2: not valid YAML"),
    ],
)
def test_an_faq_without_answers_is_an_error_with_its_line(name: str, text: str, expected: str, tmp_path: Path) -> None:
    assert any(line.startswith(expected) for line in errors(tmp_path, name, text))


def test_entries_in_the_file_are_checked() -> None:
    assert problems_of(FILE + "faq: []") == ["3: faq: must not be empty; add at least one item"]
    assert problems_of(FILE + "faq:\n  - {ask: A}") == ["4: faq[0]: `answer` is missing"]
    twice = "faq:\n  - {ask: Open, answer: A}\n  - {ask: [x, open], answer: B}"
    assert problems_of(FILE + twice) == ["5: faq[1]: 'open' is already a question of another entry; remove one of them"]
    assert problems_of(FILE + "faq: none.md")[0].startswith("3: faq: file 'none.md' can't be found")
