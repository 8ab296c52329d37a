"""One session for each model file in a process; errors are one line that says what to do."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from duologue.models import onnx_sessions
from duologue.models.onnx_sessions import UnusableModel, session
from tests.needs import needs_model


def test_all_threads_of_a_process_share_one_session_of_a_file() -> None:
    path = needs_model("silero-vad") / "silero_vad.onnx"
    with ThreadPoolExecutor(8) as threads:
        assert len({id(found) for found in threads.map(session, [path] * 32)}) == 1


def test_values_inside_the_graph_can_be_outputs() -> None:
    path = needs_model("smart-turn") / "smart_turn.onnx"
    assert {"linear_28", "sum_1"} <= {output.name for output in session(path, ("linear_28", "sum_1")).get_outputs()}


def test_a_damaged_file_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"not a model")
    with pytest.raises(UnusableModel, match=r"broken\.onnx can't be loaded") as refusal:
        session(tmp_path / "broken.onnx")
    assert "\n" not in str(refusal.value)


def test_a_missing_onnxruntime_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    onnx_sessions.forget_sessions()
    (tmp_path / "any.onnx").write_bytes(b"")
    with pytest.raises(ModuleNotFoundError, match=r"need onnxruntime: pip install 'duologue\[speech\]'$"):
        session(tmp_path / "any.onnx")


def test_a_model_that_is_rewritten_has_a_session_of_its_own() -> None:
    path = needs_model("silero-vad") / "silero_vad.onnx"

    def unchanged(file: bytes) -> bytes:
        return file

    assert session(path, rewritten=unchanged) is session(path, rewritten=unchanged)
    assert session(path, rewritten=unchanged) is not session(path)


def test_a_file_that_cannot_be_rewritten_is_named_in_one_line(tmp_path: Path) -> None:
    def refused(file: bytes) -> bytes:
        raise ValueError("it isn't a model\nat all")

    (tmp_path / "other.onnx").write_bytes(b"")
    with pytest.raises(UnusableModel, match=r"other\.onnx can't be loaded: it isn't a model$"):
        session(tmp_path / "other.onnx", rewritten=refused)


def test_products_of_8_bit_numbers_are_exact_on_every_processor() -> None:
    """Without the switch, sums overflow on processors that have no VNNI instructions, and models judge worse."""
    loaded: Any = session(needs_model("smart-turn") / "smart_turn.onnx")
    options = loaded.get_session_options()
    assert options.get_session_config_entry(onnx_sessions.EXACT_PRODUCTS_SWITCH) == "1"
