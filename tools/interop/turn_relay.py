"""A real TURN server (coturn) on this machine, for the clients that connect through a relay.

Rule: it listens on 127.0.0.1 alone, has its files in a temporary folder, and ends with the context.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SECRET = "the secret of the relay"
START_S_MAX = 20.0
CONFIG = """
listening-ip=127.0.0.1
relay-ip=127.0.0.1
listening-port={port}
use-auth-secret
static-auth-secret={secret}
realm=interop.example
allow-loopback-peers
cli-password={secret}
no-cli
no-tls
no-dtls
no-multicast-peers
log-file=stdout
simple-log
pidfile={folder}/turnserver.pid
userdb={folder}/users.db
"""


@contextmanager
def turn_relay() -> Iterator[str]:
    """Run a TURN server. Yields its URL."""
    program = shutil.which("turnserver")
    assert program is not None, "coturn is missing: sh tools/ensure_coturn.sh"
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        config, log = Path(folder) / "turnserver.conf", Path(folder) / "turnserver.log"
        config.write_text(CONFIG.format(port=port, secret=SECRET, folder=folder))
        with log.open("wb") as output:
            process = subprocess.Popen([program, "-c", str(config)], stdout=output, stderr=output, cwd=folder)
        try:
            _wait_for(port, process, log)
            yield f"turn:127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def _free_port() -> int:
    """A port that is free for UDP and for TCP."""
    with socket.socket(type=socket.SOCK_DGRAM) as udp, socket.socket() as tcp:
        udp.bind(("127.0.0.1", 0))
        port: int = udp.getsockname()[1]
        tcp.bind(("127.0.0.1", port))
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server listens. It listens for TCP after UDP."""
    end_s = time.monotonic() + START_S_MAX
    while time.monotonic() < end_s and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"coturn doesn't start:\n{log.read_text()[-2_000:]}")
