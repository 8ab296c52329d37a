"""ONNX models: each file is loaded once and shared by all conversations of the process.

This module doesn't know what a model is used for. Rule: a session may be run by many threads at the same time. Each run
uses only one thread, because there are more conversations than cores.
"""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from duologue.core.errors import DuologueError

TELEMETRY_SWITCH = "ORT_DISABLE_TELEMETRY"
# Sums of 8-bit products overflow on x86 processors without VNNI instructions: Smart Turn gave a finished sentence
# log-odds of 1.1 there instead of 3.2. This switch selects products that can't overflow. Other processors ignore it.
EXACT_PRODUCTS_SWITCH = "session.x64quantprecision"
Rewrites: TypeAlias = Callable[[bytes], bytes]

_sessions: dict[tuple[Path, tuple[str, ...], Rewrites | None], OnnxSession] = {}
_loading = threading.Lock()


class UnusableModel(DuologueError):
    """A model's file exists but can't be used. The message is one line that names the file."""


class OnnxSession(Protocol):
    """The methods of an onnxruntime session that Duologue uses. Inputs and outputs are numpy arrays."""

    def run(self, output_names: Sequence[str] | None, input_feed: dict[str, Any]) -> list[Any]: ...

    def get_inputs(self) -> list[Any]: ...

    def get_outputs(self) -> list[Any]: ...


def session(path: Path, inner: Sequence[str] = (), rewritten: Rewrites | None = None) -> OnnxSession:
    """The session for this model file, which all users of the file share. `inner` names values inside the model's graph
    that are returned as additional outputs. If `rewritten` is given, this function gets the bytes of the file and
    returns the bytes to load instead."""
    with _loading:
        key = (path, tuple(inner), rewritten)
        if key not in _sessions:
            _sessions[key] = _load(*key)
        return _sessions[key]


def run_options() -> Any:
    """Options for one run of a session. If another thread sets their attribute `terminate`, the run ends at the next
    node of the graph."""
    return _onnxruntime().RunOptions()


def forget_sessions(under: Path | None = None) -> None:
    """Drop the shared sessions of the files in a folder, or all sessions if no folder is given. When such a model is
    used again, its file is loaded again."""
    with _loading:
        for key in [key for key in _sessions if under is None or under in key[0].parents]:
            del _sessions[key]


def _load(path: Path, inner: Sequence[str], rewritten: Rewrites | None) -> OnnxSession:
    ort = _onnxruntime()
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # the length of the input differs from run to run
    options.log_severity_level = 3  # errors only
    options.add_session_config_entry(EXACT_PRODUCTS_SWITCH, "1")
    try:
        model: str | bytes = str(path)
        if inner or rewritten is not None:
            file = path.read_bytes()
            # Two concatenated protobuf messages are one, so outputs can be appended to the bytes of a model.
            model = (rewritten(file) if rewritten is not None else file) + b"".join(map(_output, inner))
        loaded: OnnxSession = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as failure:  # noqa: BLE001 - onnxruntime raises classes without a common base
        raise UnusableModel(f"{path} can't be loaded: {_first_line(failure)}") from None
    return loaded


def _output(name: str) -> bytes:
    """The bytes of an ONNX model whose only content is one graph output with this name."""
    message = name.encode()
    for tag in (0x0A, 0x62, 0x3A):
        message = bytes([tag, len(message)]) + message
    return message


def _first_line(failure: BaseException) -> str:
    return next(iter(str(failure).splitlines()), type(failure).__name__)


def _onnxruntime() -> Any:
    """The onnxruntime library, with its telemetry turned off. The telemetry must be turned off before the import.
    Otherwise the library would write an id of this device to disk and look up a host of its manufacturer."""
    os.environ.setdefault(TELEMETRY_SWITCH, "1")
    try:
        return importlib.import_module("onnxruntime")
    except ModuleNotFoundError as missing:
        if missing.name != "onnxruntime":
            raise
        wanted = "models of speech and language need onnxruntime: pip install 'duologue[speech]'"
        raise ModuleNotFoundError(wanted, name="onnxruntime") from None
