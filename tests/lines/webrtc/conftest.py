"""Peer connections of tests stay on this machine."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiortc", reason="pip install 'duologue[webrtc]'")
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: ["127.0.0.1"])
