"""The webhooks that announce calls. Each is checked, and answered with TwiML, which tells the carrier to connect a
stream.

Signatures are checked by the carriers' own libraries. Rule: a request without a valid signature gets 403 and no token;
the log says which check failed and contains nothing of the request.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from duologue.core.errors import DuologueError

from ..settings import is_loopback
from .settings import PhoneSettings
from .stream_tokens import StreamTokens

CALLER, CALLED = "duologue_caller", "duologue_called"  # parameters of the stream with the numbers of a call
LOG = logging.getLogger("duologue.phone")
BODY_MAX = 64_000

Check = Callable[[Request, bytes], bool]


def make_checks(settings: PhoneSettings) -> dict[str, Check]:
    """For each carrier whose secret is set, the function that checks the signature of a webhook. Imports the carriers'
    libraries, which takes a while."""
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
        raise DuologueError(f"calls from {needs} need its library: pip install 'duologue[phone]'") from None


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
    """The fields of a submitted form."""
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


class TrustedForm(NamedTuple):
    """The fields of a webhook. `announcement` is the same if the same signed webhook is sent again; empty without a
    signature."""

    form: Mapping[str, str]
    announcement: bytes = b""


class Webhooks:
    """The handlers of the carriers' webhooks."""

    def __init__(
        self, settings: PhoneSettings, tokens: StreamTokens, is_open: Callable[[], bool] = lambda: True
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._is_open = is_open
        self._checks = make_checks(settings)
        _voice_response()  # if the library is missing, fail now and not in a call

    async def twilio(self, request: Request) -> Response:
        """Answer Twilio's webhook with TwiML, or refuse it."""
        found = await self._trusted("twilio", request)
        if found is None:
            return PlainTextResponse("forbidden", 403)
        if not self._is_open():
            return _closed("twilio")
        form = found.form
        token = self._tokens.mint("twilio", form.get("CallSid", ""), found.announcement)
        return _xml(twiml(self._settings, token, form.get("From", ""), form.get("To", "")))

    async def telnyx(self, request: Request) -> Response:
        """Answer Telnyx's webhook with TeXML, or refuse it. Telnyx uses different call ids in webhook and stream, so
        the token is valid for any call."""
        found = await self._trusted("telnyx", request)
        if found is None:
            return PlainTextResponse("forbidden", 403)
        if not self._is_open():
            return _closed("telnyx")
        token = self._tokens.mint("telnyx", "", found.announcement)
        return _xml(texml(self._settings, token, found.form.get("From", ""), found.form.get("To", "")))

    async def _trusted(self, carrier: str, request: Request) -> TrustedForm | None:
        """The request's form; None if the form is too large, or if its signature is required and wrong."""
        body = await _read(request)
        if body is None:
            LOG.warning("%s: refused a webhook of more than %d bytes", carrier, BODY_MAX)
            return None
        check = self._checks.get(carrier)
        if check is not None and check(request, body):
            return TrustedForm(form_of(body), f"{carrier}|{sorted(form_of(body).items())}".encode())
        if self._settings.allow_unsigned and request.client is not None and is_loopback(request.client.host):
            return TrustedForm(form_of(body))
        LOG.warning("%s: refused a webhook with a wrong signature", carrier)
        return None


async def _read(request: Request) -> bytes | None:
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_MAX:
            return None
    return body


# -- The responses


def twiml(settings: PhoneSettings, token: str, caller: str = "", called: str = "") -> str:
    """TwiML that connects the stream. The token and both numbers are parameters, because Twilio drops the query of a
    stream's URL."""
    response, stream = _connect(f"{settings.stream_url}/phone/twilio/stream")
    stream.parameter(name="token", value=token)
    for name, number in ((CALLER, caller), (CALLED, called)):
        if number:
            stream.parameter(name=name, value=number)
    return str(response)


def texml(settings: PhoneSettings, token: str, caller: str = "", called: str = "") -> str:
    """TeXML that connects the stream. The stream must be bidirectional and raw, which isn't Telnyx's default. TeXML is
    TwiML with a few more attributes, so Twilio's builder writes it too."""
    if settings.telnyx_codec == "L16":
        codec = {"bidirectionalSamplingRate": str(settings.telnyx_rate_hz)}
    else:
        codec = {"codec": settings.telnyx_codec}
    numbers = "".join(f"&{name}={quote(one)}" for name, one in ((CALLER, caller), (CALLED, called)) if one)
    response, _ = _connect(
        f"{settings.stream_url}/phone/telnyx/stream?token={quote(token)}{numbers}",
        track="inbound_track",
        bidirectionalMode="rtp",
        bidirectionalCodec=settings.telnyx_codec,
        **codec,
    )
    return str(response)


def _connect(url: str, **attributes: str) -> tuple[Any, Any]:
    """A response that connects a stream, and hangs up when the stream has ended. Returns the response and its
    stream."""
    response = _voice_response().VoiceResponse()
    stream = response.connect().stream(url=url, **attributes)
    response.hangup()
    return response, stream


def _voice_response() -> Any:
    return _load("twilio.twiml.voice_response", "a carrier")


def _closed(carrier: str) -> Response:
    """A 503, which makes the carrier try the fallback address of the number."""
    LOG.info("%s: refused a call, the server is stopping", carrier)
    return PlainTextResponse("this server is stopping\n", 503)


def _xml(text: str) -> Response:
    return Response(text, media_type="application/xml")
