"""A server in a process of its own tells what it has used."""

from __future__ import annotations

import urllib.request

from duologue.lab.bench.timed_server import timed_server
from tests.limits import WAIT_S


def test_a_server_runs_tells_its_cpu_time_and_ends() -> None:
    with timed_server("realtime") as server:
        before = server.times()
        with urllib.request.urlopen(f"{server.url}/healthz", timeout=WAIT_S) as answer:
            assert answer.status == 200
        after = server.times()
        assert 0 < before.cpu_s < after.cpu_s
        assert after.waited_s >= before.waited_s
