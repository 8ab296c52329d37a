"""STUN and TURN servers by setting."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from duologue.lines.webrtc.ice_servers import TURN_S, IceServers, InvalidIceServer


def test_clients_get_credentials_that_end_and_never_the_secret() -> None:
    servers = IceServers(("stun:stun.example:3478", "turn:turn.example:3478?transport=udp"), secret="s3cret")
    stun, turn = servers.as_json(1_000_000)
    assert stun == {"urls": ["stun:stun.example:3478"]}
    assert turn["username"] == f"{1_000_000 + TURN_S}:duologue"
    signed = hmac.new(b"s3cret", str(turn["username"]).encode(), hashlib.sha1).digest()
    assert turn["credential"] == base64.b64encode(signed).decode()
    assert "s3cret" not in repr(servers) + str(turn)


def test_fixed_credentials_are_passed_on() -> None:
    servers = IceServers(("turns:turn.example:5349",), user="ada", password="lovelace")
    assert servers.credentials(0) == ("ada", "lovelace")
    assert servers.is_relayed
    assert not IceServers(("stun:stun.example",)).is_relayed


@pytest.mark.parametrize("url", ["http://turn.example", "turn:", "turn:user@turn.example", "turn:a b"])
def test_what_is_no_server_is_refused(url: str) -> None:
    with pytest.raises(InvalidIceServer, match="STUN or TURN"):
        IceServers((url,), secret="s3cret")


def test_a_relay_needs_credentials() -> None:
    with pytest.raises(InvalidIceServer, match="DUOLOGUE_TURN_SECRET"):
        IceServers(("turn:turn.example",))
