"""Finds the caller's address, even if the caller is behind a load balancer or another proxy. Limits are counted for
this address.

Rule: only a proxy that the operator trusts may name the caller. The header X-Forwarded-For is read backwards, because
each proxy adds its entry at the end. Reading stops at the first address that isn't a trusted proxy: that is the caller.
So a caller gains nothing by sending a made-up header.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any, TypeAlias

from duologue.core.errors import DuologueError

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
IPV6_PREFIX = 64  # one customer of a provider has at least that many addresses


class InvalidProxy(DuologueError, ValueError):
    """The setting for trusted proxies contains something that is neither an address nor a network. The message quotes
    it."""


def read_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Read the networks of trusted proxies from texts: an address such as 10.0.0.7, or a network such as 10.0.0.0/8.
    Raises InvalidProxy."""
    networks = []
    for text in texts:
        try:
            networks.append(ipaddress.ip_network(text.strip(), strict=False))
        except ValueError:
            raise InvalidProxy(
                f"a trusted proxy must be an address or a network like 10.0.0.0/8, not {text!r}"
            ) from None
    return tuple(networks)


def caller_address(scope: dict[str, Any], trusted: tuple[Network, ...]) -> str:
    """The caller's address, for which this connection is counted. An IPv6 address is replaced by its /64 network."""
    peer = str((scope.get("client") or ("", 0))[0])
    if not trusted or not is_trusted(peer, trusted):
        return shared_address(peer)
    named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    for given in reversed([part.strip() for value in named for part in value.split(",")]):
        address = _without_port(given)
        if _parsed(address) is None:  # a proxy that doesn't know, or a caller's invention
            break
        if not is_trusted(address, trusted):
            return shared_address(address)
        peer = address
    return shared_address(peer)


def is_trusted(address: str, trusted: tuple[Network, ...]) -> bool:
    """Is this the address of a trusted proxy?"""
    parsed = _parsed(address)
    return parsed is not None and any(parsed.version == one.version and parsed in one for one in trusted)


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return mapped or parsed


def _without_port(given: str) -> str:
    """The address without its port: `1.2.3.4` for `1.2.3.4:567`, and `::1` for `[::1]:567`."""
    if given.startswith("["):
        return given[1:].partition("]")[0]
    return given.partition(":")[0] if given.count(":") == 1 else given


def shared_address(address: str) -> str:
    """The address under which limits are counted: the /64 network of an IPv6 address, and any other address
    unchanged."""
    parsed = _parsed(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, IPV6_PREFIX), strict=False))
    return str(parsed) if parsed is not None else address
