"""A carrier asks what to do with a call: is it really the carrier, and the answer that connects the stream.

Signatures are checked by the carriers' own libraries. Rule: whoever is not certainly the carrier gets 403 and no token,
and the log says which check failed, without anything that was sent.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote
from xml.etree import ElementTree

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from duologue.core.errors import DuologueError

from .settings import PhoneSettings, is_loopback
from .stream_tokens import StreamTokens

LOG = logging.getLogger("duologue.phone")
BODY_MAX = 64_000

Check = Callable[[Request, bytes], bool]


def make_checks(settings: PhoneSettings) -> dict[str, Check]:
    """For each carrier, how its signature is checked. Loads the libraries, which takes a while."""
    checks: dict[str, Check] = {}
    if settings.twilio_auth_token:
        checks["twilio"] = _twilio(settings)
    if settings.telnyx_public_key:
        checks["telnyx"] = _telnyx(settings)
    return checks


def _load(module: str, needs: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise DuologueError(f"calls of {needs} need its library: pip install 'duologue[phone]'") from None


def _twilio(settings: PhoneSettings) -> Check:
    module = _load("twilio.request_validator", "Twilio")
    validator = module.RequestValidator(settings.twilio_auth_token)

    def check(request: Request, body: bytes) -> bool:
        query = f"?{request.url.query}" if request.url.query else ""
        url = f"{settings.base_url}{request.url.path}{query}"
        algorithm = module.get_signature_algorithm(request.headers.get(module.SIGNATURE_SETTINGS_HEADER, ""))
        return bool(validator.validate(url, form_of(body), request.headers.get("x-twilio-signature", ""), algorithm))

    return check


def _telnyx(settings: PhoneSettings) -> Check:
    module = _load("telnyx.lib.webhook_verification", "Telnyx")
    _load("nacl.signing", "Telnyx")

    def check(request: Request, body: bytes) -> bool:
        try:
            module.verify_webhook_signature(body, dict(request.headers), settings.telnyx_public_key)
        except module.WebhookVerificationError:
            return False
        return True

    return check


def form_of(body: bytes) -> dict[str, str]:
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


class Webhooks:
    """The HTTP side of the calls."""

    def __init__(
        self, settings: PhoneSettings, tokens: StreamTokens, is_open: Callable[[], bool] = lambda: True
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._is_open = is_open
        self._checks = make_checks(settings)

    async def twilio(self, request: Request) -> Response:
        form = await self._trusted("twilio", request)
        if form is None:
            return PlainTextResponse("forbidden", 403)
        if not self._is_open():
            return _closed("twilio")
        token = self._tokens.mint("twilio", form.get("CallSid", ""))
        return _xml(twiml(self._settings, token))

    async def telnyx(self, request: Request) -> Response:
        """TeXML. Its form names the call otherwise than the stream does, so the token is for any call."""
        if await self._trusted("telnyx", request) is None:
            return PlainTextResponse("forbidden", 403)
        if not self._is_open():
            return _closed("telnyx")
        return _xml(texml(self._settings, self._tokens.mint("telnyx", "")))

    async def _trusted(self, carrier: str, request: Request) -> Mapping[str, str] | None:
        """The form, if it comes from the carrier."""
        body = await _read(request)
        if body is None:
            LOG.warning("%s: a webhook with more than %d bytes was refused", carrier, BODY_MAX)
            return None
        check = self._checks.get(carrier)
        if check is not None and check(request, body):
            return form_of(body)
        if self._settings.allow_unsigned and request.client is not None and is_loopback(request.client.host):
            return form_of(body)
        LOG.warning("%s: a webhook whose signature does not fit was refused", carrier)
        return None


async def _read(request: Request) -> bytes | None:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_MAX:
            return None
    return body


# -- The answers


def twiml(settings: PhoneSettings, token: str) -> str:
    """Twilio doesn't carry a query, so the token is a parameter."""
    response, stream = _connected(f"{settings.stream_url}/phone/twilio/stream")
    ElementTree.SubElement(stream, "Parameter", {"name": "token", "value": token})
    return _written(response)


def texml(settings: PhoneSettings, token: str) -> str:
    """Telnyx carries a query; the stream must be two-way and raw, which is not the default."""
    response, stream = _connected(f"{settings.stream_url}/phone/telnyx/stream?token={quote(token)}")
    stream.set("track", "inbound_track")
    stream.set("bidirectionalMode", "rtp")
    stream.set("bidirectionalCodec", settings.telnyx_codec)
    if settings.telnyx_codec == "L16":
        stream.set("bidirectionalSamplingRate", str(settings.telnyx_rate_hz))
    else:
        stream.set("codec", settings.telnyx_codec)
    return _written(response)


def _connected(url: str) -> tuple[ElementTree.Element, ElementTree.Element]:
    """When the stream is over, so is the call."""
    response = ElementTree.Element("Response")
    stream = ElementTree.SubElement(ElementTree.SubElement(response, "Connect"), "Stream", {"url": url})
    ElementTree.SubElement(response, "Hangup")
    return response, stream


def _written(response: ElementTree.Element) -> str:
    return '<?xml version="1.0" encoding="UTF-8"?>' + ElementTree.tostring(response, encoding="unicode")


def _closed(carrier: str) -> Response:
    """A failure is what makes a carrier try the second address that it was given."""
    LOG.info("%s: a call was refused, the server is about to stop", carrier)
    return PlainTextResponse("this server is about to stop\n", 503)


def _xml(text: str) -> Response:
    return Response(text, media_type="application/xml")
