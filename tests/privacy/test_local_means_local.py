"""Local models open no socket and leave no file behind: their library's telemetry is switched off.

If it is on, the library writes files in its first second, and opens its first socket about nine seconds later. So a run
of three seconds notices by the files, but not by a look-up, that the switch is missing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from duologue.models.cache import model_path
from tests.limits import WAIT_S
from tests.needs import PROGRAMS, needs_model, needs_program_in_path

ROOT = Path(__file__).parent.parent.parent
LISTENS = """
import sys, time
from duologue.ears.silero import SileroVad

SileroVad().load()
assert "onnxruntime" in sys.modules
time.sleep(3)  # its telemetry begins in the background
"""


PLUGIN = """
import sys, time
import duologue
import onnxruntime  # as a plugin of another project does

options = onnxruntime.SessionOptions()
assert sys.modules["onnxruntime"] is onnxruntime
time.sleep(3)
"""


SWITCHED_ON = """
import sys
from duologue.ears.silero import SileroVad

SileroVad().load()
print("loaded", flush=True)
sys.stdin.read()
"""


TRACED = "trace=socket,connect,bind,sendto,sendmsg,sendmmsg"


def traced(folder: Path, *command: str) -> tuple[list[str], str]:
    """The system calls with which a program uses the network, and what the program prints. It has a home of its own,
    and it must leave no file there."""
    whole, env = tracing(folder, *command)
    done = subprocess.run(whole, env=env, cwd=ROOT, check=True, timeout=120, stdout=subprocess.PIPE, text=True)
    assert files_in(folder) == []
    return calls_in(folder), done.stdout


def tracing(folder: Path, *command: str, inject: tuple[str, ...] = ()) -> tuple[list[str], dict[str, str]]:
    """The whole command that traces a Python program, and its environment."""
    strace = needs_program_in_path("strace", PROGRAMS["strace"])
    home = folder / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "GITHUB_ACTIONS", "TF_BUILD")}
    models = str(model_path("silero-vad").parent)  # its home is empty, so it is told where they are
    env = {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home), "DUOLOGUE_MODELS": models}
    env.pop("ORT_DISABLE_TELEMETRY", None)
    env["PYTHONPATH"] = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return [strace, "-f", "-o", str(folder / "calls"), "-e", TRACED, *inject, sys.executable, *command], env


def files_in(folder: Path) -> list[Path]:
    return [path for path in (folder / "home").rglob("*") if path.is_file()]


def calls_in(folder: Path) -> list[str]:
    lines = (folder / "calls").read_text().splitlines()
    return [line for line in lines if re.search(r"AF_INET|AF_UNIX", line)]


@pytest.mark.alone
def test_a_missing_switch_is_noticed_by_files_and_later_by_a_look_up(tmp_path: Path) -> None:
    """Otherwise the tests below would prove nothing. No packet leaves this machine: every socket fails."""
    needs_model("silero-vad")
    whole, env = tracing(tmp_path, "-c", SWITCHED_ON, inject=("-e", "inject=socket:error=EACCES"))
    env["ORT_DISABLE_TELEMETRY"] = "0"  # Duologue keeps a value that the user has set
    with subprocess.Popen(
        whole, env=env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stdout.readline() == "loaded\n"
        until_s = time.monotonic() + WAIT_S
        while not files_in(tmp_path) and time.monotonic() < until_s:
            time.sleep(0.02)
        assert any("onnxruntime" in str(path) for path in files_in(tmp_path))
        while not calls_in(tmp_path) and time.monotonic() < until_s:
            time.sleep(0.1)
        assert calls_in(tmp_path) != []
        running.stdin.close()


@pytest.mark.alone
@pytest.mark.req("C-SEC-002")
def test_local_models_open_no_socket_and_write_no_file(tmp_path: Path) -> None:
    needs_model("silero-vad")
    assert traced(tmp_path, "-c", LISTENS)[0] == []


@pytest.mark.alone
@pytest.mark.req("C-SEC-002")
def test_the_library_is_silent_too_if_a_plugin_imports_it_by_itself(tmp_path: Path) -> None:
    needs_model("silero-vad")
    assert traced(tmp_path, "-c", PLUGIN)[0] == []


@pytest.mark.alone
@pytest.mark.req("C-SEC-002")
def test_a_whole_local_conversation_opens_no_socket_but_its_own(tmp_path: Path) -> None:
    """Ears, turn-taking, NLU, flows, voice and server: a caller speaks, and is understood and answered."""
    for model in ("silero-vad", "smart-turn", "moonshine-tiny", "minilm", "svox-pico"):
        needs_model(model)
    calls, printed = traced(tmp_path, "-m", "tests.privacy.local_conversation")
    made = json.loads(printed)
    assert "berlin" in " ".join(made["heard"]).lower()
    assert len(made["said"]) >= 2
    named = [line for line in calls if "sin_addr" in line or "sin6_addr" in line or "sun_path" in line]
    own = re.compile(rf'sin_port=htons\(({made["port"]}|0)\), sin_addr=inet_addr\("127\.0\.0\.1"\)')
    assert named  # the server and its client
    assert [line for line in named if not own.search(line)] == []
    assert [line for line in calls if "SOCK_DGRAM" in line] == []  # a name is looked up over these


def test_the_library_is_imported_in_one_place_only() -> None:
    """The place that switches its telemetry off first."""
    sources = [path for path in (ROOT / "src").rglob("*.py") if path.name != "onnx_sessions.py"]
    pattern = re.compile(r"^\s*(import|from) onnxruntime|import_module\(.onnxruntime", re.MULTILINE)
    assert [str(path) for path in sources if pattern.search(path.read_text())] == []
