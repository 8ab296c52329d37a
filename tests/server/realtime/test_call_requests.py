"""The request of a call over WebRTC."""

from __future__ import annotations

import pytest

from duologue.server.realtime.call_requests import CallRequest, read_call
from duologue.server.realtime.refusal import EventRefused

FORM = "multipart/form-data; boundary=b"


def form(**fields: str) -> bytes:
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    ]
    return ("".join(parts) + "--b--\r\n").encode()


def test_an_offer_is_the_body_or_a_field_of_a_form() -> None:
    assert read_call("application/sdp", b"v=0\r\n") == CallRequest("v=0\r\n", None)
    assert read_call("", b"v=0") == CallRequest("v=0", None)
    asked = read_call(FORM, form(sdp="v=0\r\ns=-", session='{"type": "realtime"}'))
    assert asked.sdp.splitlines() == ["v=0", "s=-"]
    assert asked.session == {"type": "realtime"}
    assert read_call(FORM, form(sdp="v=0")).session is None


@pytest.mark.parametrize(
    ("kind", "body", "code"),
    [
        ("application/json", b"{}", "invalid_content_type"),
        ("application/sdp", b"\xff", "invalid_offer"),
        (FORM, form(session="{}"), "missing_required_parameter"),
        (FORM, form(sdp="v=0", session="no"), "invalid_json"),
        (FORM, form(sdp="v=0", session="[]"), "invalid_type"),
        (FORM, form(sdp="v=0", other="1"), "unknown_parameter"),
        ("multipart/form-data", b"no boundary", "missing_required_parameter"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(kind: str, body: bytes, code: str) -> None:
    with pytest.raises(EventRefused) as refused:
        read_call(kind, body)
    assert refused.value.code == code
