"""The clients of the bench of WebRTC, in their own process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")


def test_a_client_writes_its_offer_first() -> None:
    command = [sys.executable, "-m", "duologue.lab.bench.webrtc_clients", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as clients:
        assert clients.stdout is not None
        offer = json.loads(clients.stdout.readline())
        clients.kill()
    assert "opus/48000" in offer
