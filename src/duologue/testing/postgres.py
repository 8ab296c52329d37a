"""A private PostgreSQL server for tests, in a temporary folder.

The programs initdb and postgres must be in PATH or in the folders that Debian uses. An existing cluster is never
touched. PostgreSQL refuses to run as root, so if the tests run as root, it is started as another user. Rule: only the
server that was started here is stopped, by its process id. Then its folder is deleted.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from duologue.core.errors import DuologueError

START_S_MAX = 60.0
STOP_S_MAX = 20.0
_POLL_S = 0.02
_USERS = ("postgres", "nobody")  # users of the system, for a server that root starts


class NoPostgres(DuologueError):
    """PostgreSQL isn't installed, or can't be started here."""


def find_programs() -> Path | None:
    """The folder that contains initdb and postgres; None if they aren't found. Debian's folders are searched first,
    newest version first, then the folders in PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    for folder in (*debian, *map(Path, os.get_exec_path())):
        if (folder / "initdb").is_file() and (folder / "postgres").is_file():
            return folder
    return None


class PrivatePostgres:
    """A private PostgreSQL server that runs inside a `with` block. With `durable`, writes wait for the disk, as on a
    real server."""

    def __init__(self, *, durable: bool = False) -> None:
        self._durable = durable
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = Path()
        self._as: dict[str, Any] = {}
        self.password = secrets.token_urlsafe(12)
        self.port = 0

    @property
    def folder(self) -> Path:
        """The folder that holds the server's data, socket and log."""
        return self._folder

    @property
    def url(self) -> str:
        """The URL of the server's Unix socket, which needs no password."""
        return f"postgresql://duologue@/postgres?host={quote(str(self._folder), safe='')}&port={self.port}"

    @property
    def tcp_url(self) -> str:
        """The URL of the server on 127.0.0.1, with its password."""
        return f"postgresql://duologue:{self.password}@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> PrivatePostgres:
        programs = find_programs()
        if programs is None:
            raise NoPostgres(
                "PostgreSQL isn't installed: initdb and postgres are neither in PATH nor in /usr/lib/postgresql"
            )
        self._programs = programs
        self._as = _another_user() if os.geteuid() == 0 else {}
        self._folder = Path(tempfile.mkdtemp(prefix="duologue-pg-"))
        try:
            self._create()
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _create(self) -> None:
        if self._as:
            os.chown(self._folder, self._as["user"], self._as["group"])
        password_file = self._folder / "password"
        password_file.write_text(self.password, encoding="ascii")
        password_file.chmod(0o644)  # readable for all, but in a private folder
        command: list[str | Path] = [
            self._programs / "initdb",
            "-D",
            self._folder / "data",
            "-U",
            "duologue",
            "-E",
            "UTF8",
            "--no-sync",
        ]
        command += ["--locale=C", "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password_file}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self._folder, **self._as)
        password_file.unlink()
        if done.returncode:
            raise NoPostgres(f"initdb failed: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")

    def start(self) -> None:
        """Start the server. After `stop` or `kill`, it starts on the same port again."""
        assert self._process is None, "the server is running already"
        self.port = self.port or _free_port()
        quick = (
            [] if self._durable else ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
        )
        command: list[str | Path] = [
            self._programs / "postgres",
            "-D",
            self._folder / "data",
            "-k",
            self._folder,
            "-p",
            str(self.port),
        ]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "shared_buffers=32MB", "-c", "max_connections=60", *quick]
        with (self._folder / "log").open("ab") as log:
            process: subprocess.Popen[bytes] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder, **self._as
            )
        self._process = process
        self._wait_until_ready(process)

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + START_S_MAX
        while time.monotonic() < until:
            if process.poll() is not None:
                self._process = None
                raise NoPostgres(f"PostgreSQL didn't start: {self._last_log_line()}")
            if _status(self._folder / "data" / "postmaster.pid", process.pid) == "ready":
                return
            time.sleep(_POLL_S)
        raise NoPostgres(f"PostgreSQL wasn't ready after {START_S_MAX:.0f} s: {self._last_log_line()}")

    def _last_log_line(self) -> str:
        lines = (self._folder / "log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "its log is empty"

    def stop(self) -> None:
        """Stop the server immediately, and end its connections."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """Stop the server as a crash would, without saving anything."""
        self._end(signal.SIGQUIT)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _status(file: Path, pid: int) -> str:
    """The state that the server with this process id has written to its status file; "" if the server has not written a
    state yet. Line 1 of the file is the process id, and line 8 is the state."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return lines[7].strip() if len(lines) > 7 and lines[0] == str(pid) else ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _another_user() -> dict[str, Any]:
    for name in _USERS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise NoPostgres("PostgreSQL won't run as root, and neither the user postgres nor the user nobody exists")
