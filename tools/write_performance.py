"""Writes docs/performance.md: `make performance` runs the benchmarks one after the other and prints what they printed.

Rule: no figure is typed by hand. The page names the machine, the versions, and how busy the machine was when each
command began, so that a figure from a busy machine can be told.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
COMMAND_S_MAX = 1_500.0
WIDTH = "132"
BUSY = 0.5  # a load average above this, before a command begins, is named
HEAD = """# Performance

What Duologue's own benchmarks printed on one machine. Run any of them on yours: each run measures again.
[Latency](latency.md#where-the-milliseconds-of-a-turn-go) shows where the milliseconds of a turn go, before and after,
as a picture. [The comparison](comparison.md) has the same scenarios for Pipecat and LiveKit Agents.

"""


class Bench(NamedTuple):
    """A benchmark: its arguments, and a sentence on what it measures."""

    arguments: str
    about: str


BENCHES = (
    Bench("core", "One step of the conversation's state machine, compared with two state machine libraries."),
    Bench("runtime", "The runtime with instant services: final text to first sound, barge-in to silence."),
    Bench("ears", "VAD, STT, the decision that a turn is over, and the local voices, with real models."),
    Bench("server --sessions 40", "One server process with VAD, in real time."),
    Bench("server --sessions 200 --no-vad", "The same with 200 conversations and without VAD."),
    Bench("server --sessions 40 --no-vad --workers 2", "Two processes behind one port, compared with one process."),
    Bench("opus", "Opus on the panel's WebSocket."),
    Bench("webrtc", "WebRTC, with the codec and the packets."),
    Bench("realtime", "The scripted Realtime server: from an event of the model to our own."),
    Bench("realtime-clients", "Clients of the OpenAI-Realtime-compatible server."),
    Bench("phone", "Phone calls over a carrier's WebSocket."),
    Bench("panel", "The panel in a real browser: from the server's message to the painted label."),
    Bench("store", "Saving and restoring conversations."),
    Bench("dialogue", "Flows without a model: one reply, one dialogue."),
    Bench("understood", "How soon a turn ends if the flow has understood it (synthetic voices)."),
)
TALK = (
    "How long people wait for an answer: recordings of human callers through the whole agent. The recordings aren't "
    "part of the project."
)


def main() -> None:
    """Run the benchmarks and write the page."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--labels", type=Path, help="recordings for `bench talk`, which is left out without them")
    options.add_argument("--only", nargs="*", help="run only these, and keep the results of the others")
    chosen = options.parse_args()
    sections = _kept() if chosen.only else {}
    for bench in BENCHES:
        if not chosen.only or bench.arguments.split()[0] in chosen.only:
            command = f"duologue bench {bench.arguments}"
            sections[bench.arguments] = _section(command, bench.about, bench.arguments.split())
    if chosen.labels and (not chosen.only or "talk" in chosen.only):
        shown = "duologue bench talk --labels RECORDINGS"
        sections["talk"] = _section(shown, TALK, ["talk", "--labels", str(chosen.labels)])
    order = [bench.arguments for bench in BENCHES] + ["talk"]
    PAGE.write_text(HEAD + "\n".join(sections[name] for name in order if name in sections), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.relative_to(ROOT)}\n")


def _section(command: str, about: str, arguments: list[str]) -> str:
    load = os.getloadavg()[0]
    sys.stdout.write(f"$ {command}\n")
    environment = os.environ | {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    ran = subprocess.run(
        [sys.executable, "-m", "duologue", "bench", *arguments],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, timeout=COMMAND_S_MAX, check=False,
    )  # fmt: skip
    sys.stdout.write(ran.stdout)
    said = ran.stdout.rstrip() if ran.returncode == 0 else f"failed with exit code {ran.returncode}"
    lines = "\n".join(line.rstrip() for line in said.splitlines())
    busy = f" Load of the machine before it began: {load:.1f}." if load > BUSY else ""
    return f"## {arguments[0]}{_rest(arguments)}\n\n{about} {_machine()}{busy}\n\n```\n$ {command}\n{lines}\n```\n"


def _rest(arguments: list[str]) -> str:
    return "" if arguments[0] == "talk" else "".join(f" {part}" for part in arguments[1:])


def _machine() -> str:
    today = datetime.datetime.now(tz=datetime.UTC).date()
    names = f"Python {platform.python_version()}, onnxruntime {version('onnxruntime')}"
    return f"{today}, {os.cpu_count()} cores of {_processor()}, {names}."


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _kept() -> dict[str, str]:
    """The sections of the page as it is, by the arguments in their headings."""
    if not PAGE.exists():
        return {}
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0].strip(): f"## {part.rstrip()}\n" for part in parts}


if __name__ == "__main__":
    main()
