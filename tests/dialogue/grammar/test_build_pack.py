"""A pack is built from a folder, and refused if it lacks a part."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from duologue.dialogue.grammar.build_pack import build_pack
from duologue.dialogue.language.pack import IncompletePack
from tests.dialogue.grammar.lexicons import FOLDER


def folder_without(path: Path, line: str) -> Path:
    copy = path / "xx"
    shutil.copytree(FOLDER / "spanish", copy)
    texts = (copy / "texts.toml").read_text("utf-8").splitlines()
    kept = [each for each in texts if not each.startswith(line)]
    assert len(kept) < len(texts)
    (copy / "texts.toml").write_text("\n".join(kept), "utf-8")
    return copy


@pytest.mark.parametrize(
    ("line", "missing"),
    [("reprompt =", "texts.reprompt"), ("months =", "spoken.months"), ("instead_of =", "corrections.instead_of")],
)
def test_a_missing_part_is_named(tmp_path: Path, line: str, missing: str) -> None:
    with pytest.raises(IncompletePack) as refused:
        build_pack(folder_without(tmp_path, line), "Test")
    assert refused.value.missing == (missing,)


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    copy = tmp_path / "xx"
    shutil.copytree(FOLDER / "spanish", copy)
    (copy / "texts.toml").write_text("[texts]\n", "utf-8")
    with pytest.raises(IncompletePack, match="examples, spoken, corrections"):
        build_pack(copy, "Test")


def test_a_whole_folder_is_a_pack(tmp_path: Path) -> None:
    copy = tmp_path / "xx"
    shutil.copytree(FOLDER / "spanish", copy)
    assert build_pack(copy, "Test").name == "Test"
