"""Addresses are said as people say them."""

from __future__ import annotations

import pytest

from duologue.spoken.addresses import address_rules
from duologue.spoken.rules import RewriteRules

RULES = RewriteRules(address_rules({".": "dot", "@": "at", "/": "slash", "-": "dash", "_": "underscore", "+": "plus"}))


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("Mail a.b@c-d.com.", "Mail a dot b at c dash d dot com."),
        ("See https://x.org/a/b?q=1#top, please", "See x dot org slash a slash b, please"),
        ("See https://x.org/a/very/long/path/that/is/not/said now", "See x dot org now"),
        ("docs.python.org is it", "docs dot python dot org is it"),
        ("It is e.g. not.an.address here", "It is e.g. not.an.address here"),
        ("ftp at bbc.com", "ftp at B B C dot com"),
    ],
)
def test_an_address_is_said_with_its_dots(written: str, spoken: str) -> None:
    assert RULES.apply(written).text == spoken
