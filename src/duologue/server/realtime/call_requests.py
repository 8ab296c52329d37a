"""The request that begins a call over WebRTC: an SDP offer and, optionally, the configuration of the session.

The body is either the offer itself or a form with the fields `sdp` and `session`. Rule: the functions only turn bytes
into values; the error for a field that can't be read contains the field's name.
"""

from __future__ import annotations

import json
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import HTTP
from typing import NamedTuple

from .fields import JsonObject, read_object
from .refusal import EventRefused, missing

BODY_BYTES_MAX = 1 << 18
_FIELDS = ("sdp", "session")


class CallRequest(NamedTuple):
    """An SDP offer, and the configuration of the session. If `session` is None, the configuration that belongs to the
    client's key is used."""

    sdp: str
    session: JsonObject | None


def read_call(content_type: str, body: bytes) -> CallRequest:
    """Read the call that this request asks for. Raises EventRefused if the request is invalid."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return _from_form(content_type, body)
    if kind not in ("application/sdp", "text/plain", ""):
        raise EventRefused("invalid_content_type", "Send the offer as application/sdp, or as multipart/form-data.")
    return CallRequest(_text(body), None)


def _from_form(content_type: str, body: bytes) -> CallRequest:
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1", "replace")
    form = BytesParser(policy=HTTP).parsebytes(head + body)
    fields: dict[str, str] = {}
    for part in form.iter_parts() if form.is_multipart() else ():
        assert isinstance(part, EmailMessage)
        name = part.get_param("name", header="content-disposition")
        if not isinstance(name, str) or name not in _FIELDS or name in fields:
            raise EventRefused(
                "unknown_parameter", "The form may have only the fields 'sdp' and 'session', each once.", "body"
            )
        data = part.get_payload(decode=True)
        fields[name] = _text(data if isinstance(data, bytes) else b"")
    if "sdp" not in fields:
        raise missing("sdp")
    if "session" not in fields:
        return CallRequest(fields["sdp"], None)
    try:
        session = json.loads(fields["session"])
    except (ValueError, RecursionError):
        raise EventRefused("invalid_json", "The field 'session' isn't JSON.", "session") from None
    return CallRequest(fields["sdp"], read_object(session, "session"))


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise EventRefused("invalid_offer", "The offer isn't text in UTF-8.", "sdp") from None
