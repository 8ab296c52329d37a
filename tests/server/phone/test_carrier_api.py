"""Requests to the carriers: what is missing or refused is named. What they do is tested with whole calls."""

from __future__ import annotations

import pytest

from duologue.ports.context import NotPossible
from duologue.server.phone.carrier_api import TelnyxApi, TwilioApi, api_of
from tests.server.phone.phone_calls import settings


def test_each_carrier_has_its_requests() -> None:
    assert isinstance(api_of("twilio", settings(twilio_account_sid="AC1")), TwilioApi)
    assert isinstance(api_of("telnyx", settings(telnyx_api_key="K", telnyx_account="A")), TelnyxApi)


@pytest.mark.parametrize(
    ("carrier", "told"),
    [
        ("twilio", "set twilio_account_sid (TWILIO_ACCOUNT_SID)"),
        ("telnyx", "set telnyx_api_key (TELNYX_API_KEY) and telnyx_account (TELNYX_ACCOUNT)"),
    ],
)
def test_missing_settings_are_named_with_their_variables(carrier: str, told: str) -> None:
    with pytest.raises(NotPossible) as refusal:
        api_of(carrier, settings())
    assert told in str(refusal.value)
