"""The settings of phone lines."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.server.phone.routes import InvalidPhoneSettings
from tests.server.phone.phone_calls import SECRET, settings


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"public_url": "phone.example"}, "https://host"),
        ({"public_url": "http://phone.example"}, "must be https"),
        ({"twilio_auth_token": ""}, "no webhook can be verified"),
        ({"allow_unsigned": True}, "for simulations"),
        ({"telnyx_public_key": "abc"}, "32 bytes"),
        ({"telnyx_codec": "OPUS"}, "PCMU, PCMA or L16"),
        ({"telnyx_rate_hz": 44_100}, "telnyx_rate_hz"),
        ({"token_key": b"short"}, "16 bytes"),
        ({"calls_max": 0}, "calls_max"),
    ],
)
def test_unsafe_settings_are_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidPhoneSettings, match=why) as caught:
        settings(**changes)
    assert SECRET not in str(caught.value)


def test_settings_do_not_show_their_secrets() -> None:
    shown = repr(settings(token_key=b"0123456789abcdef"))
    assert SECRET not in shown
    assert "0123456789abcdef" not in shown
