"""Measures Pipecat, LiveKit Agents and Duologue side by side: `make bench-peers`.

Each framework has an environment of its own in build/peers. It plays the same scenarios (tools/peers) in a process of
its own, in alternation with the others. The table in docs/comparison.md is written from what they printed. Rule: a
figure in which Duologue is behind is named as such, by this program.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import textwrap
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ADAPTERS = ROOT / "tools" / "peers"
CACHE = ROOT / "build" / "peers"
PAGE = ROOT / "docs" / "comparison.md"
ROUNDS = 3
ADAPTER_S_MAX = 240.0
IMPORTS = 2
TIE = 1.1  # a figure is behind if it is more than this much larger than the best one


class Peer(NamedTuple):
    """A framework: what is installed for it, and the import of what runs a session."""

    title: str
    package: str
    version: str
    imports: str


PEERS = {
    "pipecat": Peer("Pipecat", "pipecat-ai", "1.14.0", "from pipecat.pipeline.worker import PipelineWorker"),
    "livekit": Peer("LiveKit Agents", "livekit-agents", "1.8.9", "from livekit.agents import Agent, AgentSession"),
    "duologue": Peer("Duologue", "", "", "from duologue import Agent, Conversation"),
}
OURS = "duologue"


class Row(NamedTuple):
    """A row of the table: the figure, its unit, how many decimals it has, and the least difference that counts."""

    label: str
    key: str
    unit: str
    decimals: int
    counts: float = 0.0


ROWS = (
    Row("later turns: final text → first audio, CPU", "answer_cpu_ms", "ms", 1, 0.1),
    Row("first turn: final text → first audio, CPU", "answer_first_cpu_ms", "ms", 1, 0.1),
    Row("onset of a barge-in → the wire is told to be silent, no filter", "barge_in_ms", "ms", 2, 0.05),
    Row("20 ms chunks sent after the onset, no filter", "barge_in_chunks", "", 0, 0.9),
    Row("onset of a barge-in → the wire is told to be silent, default filter", "barge_in_filtered_ms", "ms", 1, 0.05),
    Row("20 ms chunks sent after the onset, default filter", "barge_in_filtered_chunks", "", 0, 0.9),
    Row("cough of 300 ms: the answer is heard later by", "cough_300_delay_ms", "ms", 0, 50),
    Row("cough of 300 ms: LLM requests", "cough_300_requests", "", 1, 0.1),
    Row("cough of 700 ms: the answer is heard later by", "cough_700_delay_ms", "ms", 0, 50),
    Row("cough of 700 ms: LLM requests", "cough_700_requests", "", 1, 0.1),
    Row("CPU of a session-second, 10 sessions, VAD off", "load_cpu_ms", "ms", 1, 0.1),
    Row("CPU of a session-second, 10 sessions, Silero on", "load_vad_cpu_ms", "ms", 1, 0.1),
    Row("what the scenario itself costs of that", "load_harness_cpu_ms", "ms", 1, 9e9),
    Row("import, CPU", "import_s", "s", 2, 0.01),
    Row("modules after the import", "import_modules", "", 0, 1),
    Row("size of the environment", "install_mb", "MB", 0, 1),
    Row("packages in the environment", "install_packages", "", 0, 1),
)

# -- Environments


def requirements(name: str) -> list[str]:
    """What is installed for this framework. Duologue itself runs from this folder."""
    peer = PEERS[name]
    if name != OURS:
        return [f"{peer.package}=={peer.version}"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return list(extras["speech"])


def python_of(name: str) -> Path:
    return CACHE / name / "bin" / "python"


def install(name: str) -> None:
    """Make the environment. One that was completed with the same requirements is left alone."""
    done, wanted = CACHE / f"{name}.installed", "\n".join(requirements(name))
    if python_of(name).exists() and done.is_file() and done.read_text() == wanted:
        return
    _say(f"installing {PEERS[name].title} into build/peers/{name}")
    CACHE.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(CACHE / name)], check=True)
    pip = [str(python_of(name)), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, *requirements(name)], check=True)
    done.write_text(wanted)


def version_of(name: str) -> str:
    if name != OURS:
        return PEERS[name].version
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def write_speech() -> Path:
    """Someone who talks, as 16-bit mono PCM at 16 kHz. Made from a recording of `duologue models pull`."""
    from duologue.audio.frames import to_pcm
    from duologue.audio.resample import resample
    from duologue.audio.wav import read_audio
    from duologue.models.cache import model_path

    found = read_audio(model_path("speech-samples") / "two_cities.wav")
    samples = resample(found.samples, found.rate_hz, 16_000)[14_400:]
    path = CACHE / "speech.pcm"
    path.write_bytes(to_pcm(samples))
    return path


# -- One framework


def play(name: str, speech: Path) -> dict[str, float]:
    """Let this framework play all scenarios, in a process of its own."""
    command = [str(python_of(name)), str(ADAPTERS / f"{name}_adapter.py"), "--speech", str(speech)]
    done = subprocess.run(
        command, env=_environment(name), capture_output=True, text=True, timeout=ADAPTER_S_MAX, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        raise SystemExit(f"{PEERS[name].title} failed with exit code {done.returncode}:\n{done.stderr[-3000:]}")
    figures: dict[str, float] = json.loads(lines[-1])["figures"]
    problems = [key for key in ("load_answered", "load_vad_answered") if figures[key] < 1]
    for key in problems:
        _say(f"  {PEERS[name].title}: {key} is {figures[key]:.2f}, so some turns had no answer")
    return figures | import_cost(name)


def import_cost(name: str) -> dict[str, float]:
    """CPU seconds of the import in fresh interpreters, the fastest, and how many modules it loads."""
    code = (
        "import sys, time; had = len(sys.modules); began = time.process_time(); "
        f"{PEERS[name].imports}; print('{{', time.process_time() - began, len(sys.modules) - had)"
    )
    found = []
    for _ in range(IMPORTS):
        command = [str(python_of(name)), "-c", code]
        done = subprocess.run(command, env=_environment(name), capture_output=True, text=True, check=True)
        line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
        found.append([float(one) for one in line[1:].split()])
    return {"import_s": min(one[0] for one in found), "import_modules": found[0][1]}


def install_size(name: str) -> dict[str, float]:
    """Megabytes and packages of the environment, without pip and compiled caches. Duologue's counts its own source and
    the VAD model, which the others bring in their packages."""
    site = next((CACHE / name / "lib").glob("python*/site-packages"))
    folders = [site]
    if name == OURS:
        from duologue.models.cache import model_path

        folders += [ROOT / "src" / "duologue", model_path("silero-vad")]
    own = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not _is_left_out(path, site)]
    packages = {path.name for path in site.glob("*.dist-info") if not path.name.startswith(("pip-", "setuptools-"))}
    return {
        "install_mb": sum(path.stat().st_size for path in own) / 1e6,
        "install_packages": len(packages) + (name == OURS),
    }


def _is_left_out(path: Path, site: Path) -> bool:
    parts = path.relative_to(site).parts if path.is_relative_to(site) else path.parts
    first = parts[0].split("-")[0] if path.is_relative_to(site) else ""
    return "__pycache__" in parts or first in ("pip", "setuptools", "pkg_resources", "_distutils_hack")


def _environment(name: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "OTEL_", "LIVEKIT_"))}
    return kept | ({"PYTHONPATH": str(ROOT / "src")} if name == OURS else {})


# -- Figures


def alternation(names: Sequence[str], rounds: int) -> list[list[str]]:
    """The order in each round. Every framework is first, second and last equally often."""
    return [[names[(place + turn) % len(names)] for place in range(len(names))] for turn in range(rounds)]


def shown(values: Sequence[float], row: Row) -> str:
    """The median, and the range if it can be seen at this number of decimals."""
    middle, low, high = (f"{one:,.{row.decimals}f}" for one in (statistics.median(values), min(values), max(values)))
    unit = f" {row.unit}" if row.unit else ""
    return f"{middle}{unit}" if low == high else f"{middle}{unit} ({low} to {high})"


def behind(row: Row, medians: dict[str, float]) -> str | None:
    """If others are better in this row: by how much, in words."""
    ours = medians[OURS]
    better = {
        name: value
        for name, value in medians.items()
        if name != OURS and ours - value > row.counts and ours > TIE * value
    }
    if not better:
        return None
    unit = f" {row.unit}" if row.unit else ""
    others = " and ".join(f"{PEERS[name].title} {value:,.{row.decimals}f}{unit}" for name, value in better.items())
    return f"{row.label}: {others}, Duologue {ours:,.{row.decimals}f}{unit}"


def table(figures: dict[str, dict[str, list[float]]]) -> str:
    """The table, and where Duologue is behind."""
    names = list(PEERS)
    head = [f"{PEERS[name].title} {version_of(name)}" for name in names]
    lines = [f"| | {' | '.join(head)} |", f"|---{'|--:' * len(names)}|"]
    found = []
    for row in ROWS:
        values = {name: figures[name][row.key] for name in names}
        lines.append(f"| {row.label} | {' | '.join(shown(values[name], row) for name in names)} |")
        found.append(behind(row, {name: statistics.median(values[name]) for name in names}))
    behinds = [one for one in found if one]
    if behinds:
        lines += ["", "Where Duologue is behind:", "", *(f"- {one}" for one in behinds)]
    else:
        lines += ["", "Duologue is behind in none of these."]
    return "\n".join(lines)


def machine(load: float) -> str:
    """The machine, and whether it had something else to do."""
    cores = os.cpu_count() or 1
    model = platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        named = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)
        model = named[1].strip() if named else model
    busy = (
        f"on a busy machine (load {load:.0f} on {cores} cores before it began)"
        if load > cores / 2
        else "with nothing else running"
    )
    return f"{cores} cores, {model}, Python {platform.python_version()}, {platform.system()}, {busy}"


def write_page(figures: dict[str, dict[str, list[float]]], rounds: int, load: float) -> None:
    """Replace the table in the docs."""
    said = (
        f"{machine(load)}. {rounds} rounds in alternation: the median, and in parentheses the lowest and the highest."
    )
    new = f"<!-- peers -->\n\n{textwrap.fill(said, 135)}\n\n{table(figures)}\n\n<!-- /peers -->"
    text = PAGE.read_text()
    PAGE.write_text(re.sub("<!-- peers -->.*<!-- /peers -->", lambda _: new, text, flags=re.DOTALL))


def gather(names: Sequence[str], rounds: int, speech: Path) -> dict[str, dict[str, list[float]]]:
    """Let everyone play, round after round."""
    found: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for number, order in enumerate(alternation(names, rounds), 1):
        for name in order:
            began = time.monotonic()
            for key, value in play(name, speech).items():
                found[name].setdefault(key, []).append(value)
            _say(f"round {number} of {rounds}: {PEERS[name].title} ({time.monotonic() - began:.0f} s)")
    for name in names:
        for key, value in install_size(name).items():
            found[name][key] = [value]
    return found


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each framework plays")
    parser.add_argument("--no-page", action="store_true", help="print the table, but leave docs/comparison.md alone")
    given = parser.parse_args()
    names = list(PEERS)
    for name in names:
        install(name)
    load = os.getloadavg()[0]
    figures = gather(names, given.rounds, write_speech())
    (CACHE / "figures.json").write_text(json.dumps(figures, indent=1))
    _say(table(figures))
    if not given.no_page:
        write_page(figures, given.rounds, load)
        _say("written into docs/comparison.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
