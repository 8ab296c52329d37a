"""From an installed wheel, outside the repository, the commands of the README and of the quickstart work as printed.

The wheel is built once and installed into a clean virtualenv. Then every `sh` block is run line by line, and every file
that the page says to save is saved. Commands in the text are run at the end. Rule: what is left out is in `_LEFT_OUT`,
with the reason.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone

ROOT = Path(__file__).parents[2]
START_S_MAX = 120.0
_BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(duologue [^`]+)`")
_SAVE = re.compile(r"Save this as `([\w.]+)`")
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")
_LEFT_OUT = {
    "make ": "from a clone, not from a wheel",
    "python3 -m venv": "the test has made its own",
    ". .venv/bin/activate": "the test has made its own",
    "duologue talk": "needs a microphone",
    "duologue torture": "minutes; it has its own tests",
    "duologue check": "minutes; it has its own tests",
    "duologue timeline calls/…": "needs the journal of a call; it has its own tests",
}


@dataclass
class Shell:
    """A user's terminal: a folder, an environment, and the virtualenv's commands."""

    bin: Path
    wheel: Path
    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def run(self, line: str) -> None:
        """One line as it is printed, with its comment and its `&&`."""
        for command in line.partition("#")[0].split("&&"):
            if command.strip() and not any(command.strip().startswith(start) for start in _LEFT_OUT):
                self._run_one(command.strip())

    def _run_one(self, command: str) -> None:
        words = shlex.split(command)
        if words[0] == "cd":
            self.folder = self.folder / words[1]
        elif words[0] == "export":
            name, _, value = words[1].partition("=")
            self.env[name] = value if value != "…" else "a-key-of-no-use"
        elif words[:2] == ["duologue", "serve"]:
            self._serve(words)
        else:
            if words[:2] == ["pip", "install"]:
                command = command.replace("duologue[", f"{self.wheel}[")
            done = subprocess.run(command, shell=True, **self._place(), capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"$ {command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"

    def chat(self, command: str, said: Sequence[str]) -> str:
        """Type to an agent, one message after the other. Returns what the command printed."""
        done = subprocess.run(
            command,
            shell=True,
            **self._place(),
            input="\n".join([*said, ""]),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    def _place(self) -> dict[str, object]:
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        # pip would compile every module of every package; the few that are used are compiled when they are imported.
        return {"cwd": self.folder, "env": {**kept, **self.env, "PATH": path, "PIP_COMPILE": "0"}}

    def _serve(self, words: list[str]) -> None:
        """Until the page answers; then it is stopped as Ctrl-C does."""
        server = subprocess.Popen(
            [*words, "--port", "0", "--store", "none"],
            **self._place(),  # type: ignore[call-overload]
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            printed, found = "", None
            while found is None and (line := server.stderr.readline()):
                printed += line
                found = _ADDRESS.search(line)
            assert found is not None, f"$ {shlex.join(words)}\n{printed}"
            with urllib.request.urlopen(found[0], timeout=START_S_MAX) as page:
                assert page.status == 200
        finally:
            server.send_signal(signal.SIGINT)
            server.stderr.read()
            server.wait(START_S_MAX)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution of this checkout."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def virtualenv(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of a clean virtualenv in which the wheel is installed as the quickstart says."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    return folder / "bin"


@pytest.fixture
def shell(virtualenv: Path, wheel: Path, tmp_path: Path) -> Shell:
    return Shell(virtualenv, wheel, tmp_path)


def play(shell: Shell, page: Path) -> int:
    """Do what a page says, from top to bottom. Returns how many lines were run."""
    text, count, after = page.read_text(encoding="utf-8"), 0, 0
    for block in _BLOCK.finditer(text):
        kind, code = block.groups()
        saved = _SAVE.findall(text[after : block.start()])
        if kind == "python" and saved:
            (shell.folder / saved[-1]).write_text(code, encoding="utf-8")
        if kind == "sh":
            for line in code.replace("\\\n", " ").splitlines():
                shell.run(line)
                count += 1
        after = block.end()
    for command in inline_commands(text):
        shell.run(command)
    return count


def inline_commands(text: str) -> list[str]:
    """The commands in the text of a page, outside its blocks, each once."""
    found = (" ".join(command.split()) for command in _INLINE.findall(_BLOCK.sub("", text)))
    return list(dict.fromkeys(found))


def test_the_quickstart_works_as_printed(shell: Shell) -> None:
    page = ROOT / "docs" / "quickstart.md"
    assert {"duologue init my-project", "duologue init --example llm_tools"} <= set(inline_commands(page.read_text()))
    assert play(shell, page) > 5
    assert list(shell.folder.glob("my_agent.py"))
    assert list(shell.folder.glob("llm_tools*"))
    assert (shell.folder / "my-project" / "flights.yaml").is_file()


def test_the_readme_works_as_printed(shell: Shell) -> None:
    page = ROOT / "README.md"
    assert {"duologue demo", "duologue init --example list"} <= set(inline_commands(page.read_text()))
    assert play(shell, page) > 5
    told = shell.chat("duologue chat flights.yaml", ["I want to book a flight", "from London to Paris"])
    assert "When would you like to depart?" in told, "the actions beside the new project's flows are found"


def test_the_wheel_holds_the_panel_the_starter_and_the_examples(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "duologue/py.typed",
        "duologue/server/web/index.html",
        "duologue/server/web/loading.html",
        "duologue/server/web/embed.js",
        "duologue/server/web/embed/embed.css",
        "duologue/server/web/client/client.js",
        "duologue/server/web/client/worklets/player.js",
        "duologue/starter/project/flights.yaml",
        "duologue/turns/languages/und.toml",
        "duologue/turns/languages/de.toml",
        "duologue/phrases/languages/de.toml",
        "duologue/examples/flights.yaml",
        "duologue/examples/cookbook/echo.py",
    } <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]


def test_the_wheel_holds_every_data_file_of_the_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    files = (file.relative_to(source) for file in (source / "duologue").rglob("*") if file.is_file())
    assert {str(file) for file in files if "__pycache__" not in file.parts} <= names


def test_the_source_distribution_holds_tests_docs_and_tools(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"tests/needs.py", "docs/quickstart.md", "tools/run_tests.py", "Makefile", "examples/flights.yaml"} <= names
    assert {"clients/js/package.json", "clients/js/pack.js", "src/duologue/server/web/client/client.js"} <= names
    assert not [name for name in names if name.startswith("clients/js/dist")]


def test_the_metadata_names_the_licence_by_its_spdx_expression(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = archive.read(name).decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert "Provides-Extra: all" in metadata
    assert "# Duologue" in metadata
    assert "](docs/" not in metadata, "a package index can't show files of the repository"
    assert "Classifier: Programming Language :: Python :: 3.13" in metadata
