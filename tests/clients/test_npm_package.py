"""The npm package `duologue-client`, as `npm pack` makes it: what is in it, its size, and that it works in node."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import duologue
from tests.needs import needs_client_packages, needs_program_in_path
from tests.server.running_server import RunningServer, serve

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "clients" / "js"
SERVED = Path(duologue.__file__).parent / "server" / "web" / "client"
HERE = Path(__file__).parent
GZIPPED_MAX = 15_000
OPUS_GZIPPED_MAX = 3_000
NODE = ["node", "--experimental-websocket", "--no-warnings"]
_RELATIVE = re.compile(r'(?:from|import)\s*\(?"(\.[^"]+)"')


class Packed(NamedTuple):
    """What `npm pack` reports, and the package as a user has installed it."""

    report: dict[str, Any]
    project: Path  # of a user: it has the package in node_modules

    @property
    def folder(self) -> Path:
        return self.project / "node_modules" / "duologue-client"

    def run(self, script: str, *given: str) -> Any:
        """Run a script of this folder in the user's project. Returns the JSON that it prints."""
        shutil.copy(HERE / script, self.project / script)
        done = subprocess.run(
            [*NODE, script, *given], cwd=self.project, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Packed:
    npm = needs_program_in_path("npm", "install Node.js 20 or newer")
    project = tmp_path_factory.mktemp("project")
    command = [npm, "pack", "--json", "--silent", "--pack-destination", str(project)]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (report,) = json.loads(done.stdout[done.stdout.index("[") :])
    with tarfile.open(project / report["filename"]) as archive:
        archive.extractall(project / "unpacked", filter="data")
    (project / "node_modules").mkdir()
    (project / "unpacked" / "package").rename(project / "node_modules" / "duologue-client")
    return Packed(report, project)


def with_packages(packed: Packed) -> None:
    """TypeScript and React beside the package."""
    for one in needs_client_packages().iterdir():
        target = packed.project / "node_modules" / one.name
        if not one.name.startswith(".") and not target.exists():
            target.symlink_to(one)


def test_the_package_holds_the_files_that_the_server_serves_and_nothing_else(packed: Packed) -> None:
    served = {f"dist/{path.relative_to(SERVED)}" for path in SERVED.rglob("*.js")}
    own = {"package.json", "README.md", "index.d.ts", "react.js", "react.d.ts", "dist/LICENSE"}
    own |= {"headless.js", "headless.d.ts"}
    assert {one["path"] for one in packed.report["files"]} == served | own
    assert len(served) > 10


def test_it_has_no_dependencies_and_the_version_of_the_server(packed: Packed) -> None:
    written = json.loads((packed.folder / "package.json").read_text("utf-8"))
    assert "dependencies" not in written
    assert written["peerDependenciesMeta"] == {"react": {"optional": True}}
    assert written["version"] == duologue.__version__


def test_what_a_page_loads_is_at_most_15_kb_gzipped(packed: Packed) -> None:
    """What a page loads, in one piece; the two other entry points are for frameworks and for node. Opus is loaded
    later, and only in browsers that have it."""
    files = sorted((packed.folder / "dist").rglob("*.js"))
    opus = packed.folder / "dist" / "opus.js"
    assert opus in files
    code = b"".join(path.read_bytes() for path in files if path != opus)
    assert len(gzip.compress(code, 9)) <= GZIPPED_MAX
    assert len(gzip.compress(opus.read_bytes(), 9)) <= OPUS_GZIPPED_MAX
    others = [path for path in files if '"./opus.js"' in path.read_text("utf-8")]
    assert [path.name for path in others] == ["client.js"]
    assert 'import("./opus.js")' in others[0].read_text("utf-8"), "not with the page"


def test_what_a_bundler_makes_of_all_of_it_is_at_most_15_kb_gzipped_with_opus(packed: Packed) -> None:
    with_packages(packed)
    esbuild = packed.project / "node_modules" / "esbuild" / "bin" / "esbuild"
    made = packed.project / "made"
    entries = [packed.folder / "dist" / "client.js", *(packed.folder / "dist" / "worklets").glob("*.js")]
    command = ["node", str(esbuild), *map(str, entries), "--bundle", "--minify", "--format=esm", "--splitting"]
    done = subprocess.run(
        [*command, "--log-level=warning", f"--outdir={made}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    code = b"".join(path.read_bytes() for path in sorted(made.rglob("*.js")))
    assert b"AudioDecoder" in code, "Opus is in it"
    assert len(gzip.compress(code, 9)) <= GZIPPED_MAX


def test_every_import_is_a_file_of_the_package_or_react(packed: Packed) -> None:
    for path in packed.folder.rglob("*.js"):
        code = path.read_text("utf-8")
        named = _RELATIVE.findall(code)
        assert all((path.parent / one).is_file() for one in named), path
        assert set(re.findall(r'from "([^."][^"]*)"', code)) <= {"react"}, path


def test_only_comments_empty_lines_and_indentation_are_left_out(packed: Packed) -> None:
    for path in SERVED.rglob("*.js"):
        code = {line.strip() for line in path.read_text("utf-8").splitlines()}
        bare = (packed.folder / "dist" / path.relative_to(SERVED)).read_text("utf-8").splitlines()
        assert all(line in code or any(one.startswith(f"{line} // ") for one in code) for line in bare), path
        assert not any(line.startswith(("//", "/*", "*")) for line in bare)


def test_a_conversation_in_node_survives_a_lost_connection(packed: Packed) -> None:
    """The token is got for each connection, and a message that was typed without a connection is answered."""
    seen: dict[str, Any] = {}

    async def script(running: RunningServer) -> None:
        url = f"http://127.0.0.1:{running.port}/"
        seen.update(await asyncio.to_thread(packed.run, "talk_in_node.mjs", url, "a-token-of-sixteen"))

    serve(script, token="a-token-of-sixteen")
    assert seen["microphone"] == "absent"
    assert seen["captions"] == [
        ["user", "hello|"],
        ["assistant", "You said hello.|"],
        ["user", "are you there|"],
        ["assistant", "You said are you there.|"],
    ]
    assert seen["resumed"] == [False, True]
    assert seen["tokens"] == 2
    assert seen["voice"] > 0, "the sound can be had"
    assert (seen["typedAway"], seen["unsent"]) == (True, 0)
    assert seen["closed"] == "closed"


def test_the_react_hook_connects_shows_and_closes(packed: Packed) -> None:
    with_packages(packed)
    seen: dict[str, Any] = {}

    async def script(running: RunningServer) -> None:
        seen.update(await asyncio.to_thread(packed.run, "render_hook.mjs", f"http://127.0.0.1:{running.port}/"))

    serve(script)
    assert seen["shown"][0] == "connecting"
    assert "open" in seen["shown"]
    assert seen["text"].endswith(": Ready") or seen["text"].startswith("agent: ")
    assert seen["same"] is True
    assert seen["closed"] == "closed"


def test_its_types_are_right_and_strict(packed: Packed) -> None:
    with_packages(packed)
    shutil.copy(HERE / "page.ts", packed.project / "page.ts")
    compiler = packed.project / "node_modules" / "typescript" / "bin" / "tsc"
    options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext"]
    options += ["--lib", "es2022,dom"]
    (packed.project / "package.json").write_text('{"type": "module"}', "utf-8")
    done = subprocess.run(
        ["node", str(compiler), *options, "page.ts"], cwd=packed.project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_node_example_of_the_docs_asks_and_prints_the_answer(packed: Packed) -> None:
    blocks = re.findall(r"```js\n(.*?)```", (ROOT / "docs" / "clients.md").read_text("utf-8"), re.DOTALL)
    (code,) = [block for block in blocks if "ClockSound" in block]
    (packed.project / "example.mjs").write_text(code, "utf-8")
    printed: list[str] = []

    async def script(running: RunningServer) -> None:
        command = [*NODE, "example.mjs", f"http://127.0.0.1:{running.port}/"]
        done = await asyncio.to_thread(
            subprocess.run, command, cwd=packed.project, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)

    serve(script)
    assert printed == ["You said hello.\n"]
