"""Local models open no socket and leave no file behind: their library's telemetry is switched off."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs_model, needs_program_in_path

ROOT = Path(__file__).parent.parent.parent
LISTENS = """
import sys, time
from duologue.ears.silero import SileroVad

SileroVad().load()
assert "onnxruntime" in sys.modules
time.sleep(3)  # its telemetry begins in the background
"""


@pytest.mark.alone
@pytest.mark.req("C-SEC-002")
def test_local_models_open_no_socket_and_write_no_file(tmp_path: Path) -> None:
    needs_model("silero-vad")
    strace = needs_program_in_path("strace", "apt install strace")
    log, home = tmp_path / "calls", tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS", "TF_BUILD")}
    cache = os.environ.get("DUOLOGUE_MODELS") or str(Path("~/.cache/duologue/models").expanduser())
    env = {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home), "DUOLOGUE_MODELS": cache}
    env.pop("ORT_DISABLE_TELEMETRY", None)
    command = [strace, "-f", "-o", str(log), "-e", "trace=socket,connect,sendto", sys.executable, "-c", LISTENS]
    subprocess.run(command, env=env, cwd=ROOT, check=True, timeout=120)
    opened = [line for line in log.read_text().splitlines() if re.search(r"AF_INET|AF_UNIX", line)]
    assert opened == []
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_the_library_is_imported_in_one_place_only() -> None:
    """The place that switches its telemetry off first."""
    sources = [path for path in (ROOT / "src").rglob("*.py") if path.name != "onnx_sessions.py"]
    pattern = re.compile(r"^\s*(import|from) onnxruntime|import_module\(.onnxruntime", re.MULTILINE)
    assert [str(path) for path in sources if pattern.search(path.read_text())] == []
