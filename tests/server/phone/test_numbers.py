"""Numbers that can be dialled."""

from __future__ import annotations

import pytest

from duologue.server.phone.numbers import Undialable, dialable, is_dialable, is_sip


@pytest.mark.parametrize(
    ("given", "short"),
    [
        ("+4930123456", "+4930123456"),
        ("+49 (30) 123-456", "+4930123456"),
        (" +1.212.555.0100 ", "+12125550100"),
        ("sip:desk@example.com", "sip:desk@example.com"),
    ],
)
def test_a_number_with_its_country_code_can_be_dialled(given: str, short: str) -> None:
    assert dialable(given) == short
    assert is_dialable(short)


@pytest.mark.parametrize("given", ["", "0170 1234567", "+0123456789", "+1", "the manager", "+4930x123456", "sip:a b@c"])
def test_another_text_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(Undialable, match="must be a number with") as refusal:
        dialable(given)
    assert not given or given not in str(refusal.value)


def test_a_sip_address_is_known() -> None:
    assert is_sip("sip:desk@example.com")
    assert not is_sip("+4930123456")
