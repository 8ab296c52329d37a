"""The installers: how they are called, how their failures are reported. Fake programs stand in for pip and npm."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from duologue.models import Package
from duologue.models import fetch as fetch_module
from duologue.models.failure import NoNetwork, PullFailed
from duologue.models.fetch import Installers, explain

PYPI = Package("pypi", "fake-ears", "1.0", 1_000)
PYTHON = sys.executable
NPM = Package("npm", "@fake/voice", "2.0", 2_000)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts with a #! line")


class StandIn:
    """An executable that records its arguments and then runs a script."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "npm"
        self.into = folder / "into"
        self.into.mkdir()

    def does(self, code: str) -> None:
        start = "import json, os, sys, time\nfrom pathlib import Path\n"
        note = f"Path({str(self.folder / 'called.json')!r}).write_text(json.dumps(sys.argv[1:]))\n"
        self.path.write_text(f"#!{PYTHON}\n{start}{note}{code}\n", encoding="utf-8")
        self.path.chmod(0o755)

    @property
    def called(self) -> list[str]:
        arguments: list[str] = json.loads((self.folder / "called.json").read_text(encoding="utf-8"))
        return arguments

    def fetch(self, package: Package, stall_s_max: float = 60) -> tuple[Path, list[int]]:
        watched: list[int] = []
        installers = Installers(poll_s=0.05, stall_s_max=stall_s_max)
        return installers.fetch(package, self.into, watched.append), watched


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Stands in for npm in PATH, and for the Python that runs pip."""
    stand_in = StandIn(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(fetch_module.sys, "executable", str(stand_in.path))
    stand_in.does("")
    return stand_in


def test_pip_downloads_one_wheel_without_its_dependencies(stand_in: StandIn) -> None:
    stand_in.does("Path('fake_ears-1.0-py3-none-any.whl').write_bytes(b'')")
    archive, _ = stand_in.fetch(PYPI)
    assert archive == stand_in.into / "fake_ears-1.0-py3-none-any.whl"
    assert stand_in.called[:6] == ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "fake-ears==1.0"]
    assert stand_in.called[6:8] == ["-d", str(stand_in.into)]
    assert not [argument for argument in stand_in.called if argument.startswith("--platform")]


def test_a_wheel_of_another_platform_can_be_fetched_for_its_data(stand_in: StandIn) -> None:
    stand_in.does("Path('a.whl').write_bytes(b'')")
    stand_in.fetch(Package("pypi", "fake-ears", "1.0", 1_000, platform="manylinux_2_34_x86_64"))
    assert stand_in.called[-1] == "--platform=manylinux_2_34_x86_64"


def test_a_source_archive_is_pinned_by_its_hash_and_its_build_script_is_not_run(stand_in: StandIn) -> None:
    stand_in.does(
        "sys.path.insert(0, os.environ['PYTHONPATH'])\n"
        "from setuptools.build_meta import __legacy__ as backend\n"
        "assert backend.get_requires_for_build_wheel() == []\n"
        "Path('metadata').mkdir()\n"
        "print((Path('metadata') / backend.prepare_metadata_for_build_wheel('metadata') / 'METADATA').read_text())\n"
        "Path('fake-ears-1.0.tar.gz').write_bytes(b'')"
    )
    archive, _ = stand_in.fetch(Package("pypi", "fake-ears", "1.0", 1_000, source_sha256="ab" * 32))
    assert archive == stand_in.into / "fake-ears-1.0.tar.gz"
    requirements = stand_in.into / "requirements.txt"
    assert requirements.read_text(encoding="utf-8") == f"fake-ears==1.0 --hash=sha256:{'ab' * 32}\n"
    assert stand_in.called[3:8] == ["--no-deps", "--no-binary=:all:", "--no-build-isolation", "--use-pep517", "-r"]
    log = (stand_in.into / "installer.log").read_text(encoding="utf-8")
    assert log.split() == "Metadata-Version: 2.1 Name: fake-ears Version: 1.0".split()


def test_npm_packs_without_running_scripts_and_leaves_no_cache(stand_in: StandIn) -> None:
    stand_in.does("Path('fake-voice-2.0.tgz').write_bytes(b'')")
    archive, _ = stand_in.fetch(NPM)
    assert archive == stand_in.into / "fake-voice-2.0.tgz"
    assert stand_in.called[:2] == ["pack", "@fake/voice@2.0"]
    assert "--ignore-scripts" in stand_in.called
    assert f"--cache={stand_in.into / 'npm'}" in stand_in.called


def test_the_progress_counts_the_installers_temporary_files(stand_in: StandIn) -> None:
    stand_in.does(
        "half = Path(os.environ['TMPDIR'], 'half')\n"
        "for size in (100, 200):\n    half.write_bytes(b'.' * size); time.sleep(0.3)\n"
        "half.rename('a.whl')"
    )
    _, watched = stand_in.fetch(PYPI)
    assert watched == sorted(watched)
    assert {100, 200} & set(watched)


def test_without_npm_the_error_says_so(stand_in: StandIn) -> None:
    stand_in.path.unlink()
    with pytest.raises(PullFailed, match=r"^@fake/voice needs npm: install Node's npm, or don't pull this model$"):
        Installers().require(NPM)
    Installers().require(PYPI)


def test_without_pip_the_error_says_how_to_get_it(stand_in: StandIn) -> None:
    stand_in.does("sys.exit(f'{sys.executable}: No module named pip')")
    with pytest.raises(PullFailed, match="this Python has no pip: run `python -m ensurepip`"):
        stand_in.fetch(PYPI)


def test_an_installer_without_a_result_is_an_error(stand_in: StandIn) -> None:
    with pytest.raises(PullFailed, match="produced 0 archives instead of one"):
        stand_in.fetch(PYPI)


def test_an_installer_that_stalls_is_stopped(stand_in: StandIn) -> None:
    stand_in.does("Path('pid').write_text(str(os.getpid())); time.sleep(60)")
    with pytest.raises(NoNetwork, match="no data for"):
        stand_in.fetch(PYPI, stall_s_max=0.5)
    pid = int((stand_in.into / "pid").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_an_installer_does_not_outlive_an_interruption(stand_in: StandIn) -> None:
    stand_in.does("Path('pid').write_text(str(os.getpid())); time.sleep(600)")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Installers(poll_s=0.05).fetch(PYPI, stand_in.into, interrupt)
    pid = int((stand_in.into / "pid").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


PIP_OFFLINE = """\
WARNING: Retrying (Retry(total=1, connect=None)) after connection broken by 'NewConnectionError('...: Failed to \
establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/fake-ears/
ERROR: Could not find a version that satisfies the requirement fake-ears==1.0 (from versions: none)
ERROR: No matching distribution found for fake-ears==1.0"""
PIP_UNKNOWN = "ERROR: Could not find a version that satisfies\nERROR: No matching distribution found for fake-ears==1.0"
PIP_CERTIFICATE = "Could not fetch URL: There was a problem confirming the ssl certificate\n" + PIP_UNKNOWN
PIP_OTHER_ARCHIVE = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."
PIP_DAMAGED = "ERROR: Wheel 'fake-ears' located at /x/fake_ears-1.0-py3-none-any.whl is invalid."
NPM_DAMAGED = "npm error code EINTEGRITY\nnpm error sha512-AAAA integrity checksum failed when using sha512"
NPM_OFFLINE = "npm error code ENOTFOUND\nnpm error errno ENOTFOUND\nnpm error network request failed"
NPM_UNKNOWN = "npm error code E404\nnpm error 404 Not Found"


@pytest.mark.parametrize(
    ("package", "log", "kind", "says"),
    [
        (PYPI, PIP_OFFLINE, NoNetwork, "fake-ears==1.0: the pypi registry can't be reached: check the network"),
        (NPM, NPM_OFFLINE, NoNetwork, "@fake/voice@2.0: the npm registry can't be reached: check the network"),
        (PYPI, PIP_UNKNOWN, PullFailed, "the pypi registry has no such package for this machine"),
        (NPM, NPM_UNKNOWN, PullFailed, "the npm registry has no such package for this machine"),
        (PYPI, PIP_OTHER_ARCHIVE, PullFailed, "the pypi registry has another archive than the pinned one"),
        (PYPI, PIP_DAMAGED, PullFailed, "the archive from the pypi registry is damaged; nothing was installed"),
        (NPM, NPM_DAMAGED, PullFailed, "the archive from the npm registry is damaged; nothing was installed"),
        (PYPI, PIP_CERTIFICATE, PullFailed, "certificate isn't trusted"),
        (PYPI, "ERROR: [Errno 28] No space left on device", PullFailed, "fake-ears==1.0: the disk is full"),
        (NPM, "npm error code ENOSPC", PullFailed, "@fake/voice@2.0: the disk is full"),
        (PYPI, "noise\n\nERROR: it is Monday\n", PullFailed, "fake-ears==1.0: ERROR: it is Monday"),
        (PYPI, "it broke", PullFailed, "fake-ears==1.0: it broke"),
        (PYPI, "", PullFailed, "fake-ears==1.0: the installer failed without a message"),
    ],
)
def test_a_log_becomes_one_line(package: Package, log: str, kind: type[PullFailed], says: str) -> None:
    error = explain(package, log)
    assert type(error) is kind
    assert says in str(error)
    assert "\n" not in str(error)
