"""For which address a connection counts: a made-up header lifts nothing."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.server.caller_address import InvalidProxy, caller_address, read_networks
from duologue.server.settings import ServerSettings


def scope(peer: str, *forwarded: str) -> dict[str, Any]:
    return {"client": (peer, 1), "headers": [(b"x-forwarded-for", value.encode("latin-1")) for value in forwarded]}


PROXIES = read_networks(["10.0.0.0/8", "127.0.0.1"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("1.2.3.4", (), "1.2.3.4"),
        ("1.2.3.4", ("9.9.9.9",), "1.2.3.4"),  # not a trusted proxy
        ("10.1.1.1", ("9.9.9.9",), "9.9.9.9"),
        ("10.1.1.1", ("6.6.6.6, 9.9.9.9",), "9.9.9.9"),  # the caller has made up the first one
        ("10.1.1.1", ("6.6.6.6", "9.9.9.9, 10.2.2.2"), "9.9.9.9"),
        ("10.1.1.1", ("9.9.9.9:5678",), "9.9.9.9"),
        ("10.1.1.1", ("[2001:db8::1]:99",), "2001:db8::/64"),
        ("10.1.1.1", ("6.6.6.6, unknown",), "10.1.1.1"),
        ("10.1.1.1", (), "10.1.1.1"),
        ("::ffff:10.1.1.1", ("9.9.9.9",), "9.9.9.9"),
        ("2001:db8::1", (), "2001:db8::/64"),
        ("2001:db8::ffff:1", (), "2001:db8::/64"),
        ("", (), ""),
    ],
)
def test_the_address_is_that_of_the_nearest_hop_that_isnt_trusted(
    peer: str, forwarded: tuple[str, ...], address: str
) -> None:
    assert caller_address(scope(peer, *forwarded), PROXIES) == address


def test_without_trusted_proxies_the_header_means_nothing() -> None:
    assert caller_address(scope("127.0.0.1", "9.9.9.9"), ()) == "127.0.0.1"


def test_a_proxy_that_is_no_address_is_refused_with_the_settings() -> None:
    with pytest.raises(InvalidProxy, match=r"must be an address or a network like 10\.0\.0\.0/8, not 'balancer'"):
        ServerSettings(trusted_proxies=("balancer",))
