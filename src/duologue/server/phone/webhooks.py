"""The webhooks that announce calls. Each webhook is checked, and answered with TwiML, which tells the carrier to
connect a stream.

Signatures are checked by the carriers' own libraries. Rule: a request without a valid signature gets 403 and no token.
The log says which check failed, and quotes nothing from the request.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from duologue.core.errors import DuologueError

from ..settings import is_loopback
from .call_parameters import parameters_of, to_stream
from .numbers import is_sip
from .settings import PhoneSettings
from .stream_tokens import StreamTokens

# Parameters of the stream: the numbers of the call, our key and the carrier's id of it, and why it came back.
CALLER, CALLED, CALL_KEY, CALL_ID, RETURNED = (
    f"duologue_{name}" for name in ("caller", "called", "key", "call", "returned")
)
LOG = logging.getLogger("duologue.phone")
BODY_MAX = 64_000
_RETURNS = {"busy": "busy", "no-answer": "no answer"}  # why a call that was passed on comes back

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
    """The fields of a webhook that may be trusted. `announcement` identifies a signed webhook, even if the carrier
    sends it again; empty if the webhook isn't signed."""

    form: Mapping[str, str]
    announcement: bytes = b""


class CallReports(Protocol):
    """Receives what webhooks report about calls that this process has placed or transferred."""

    def expects(self, key: str) -> bool:
        """Has this process placed a call with this key?"""
        ...

    def report(self, key: str, call: str, status: str) -> None:
        """Take the carrier's report about the progress of a call. `key` is our key for the call, and `call` is the
        carrier's id for the call."""
        ...

    def report_answerer(self, key: str, answered_by: str) -> None:
        """Take the carrier's report of whether a person or an answering machine has answered a call."""
        ...


class Webhooks:
    """The handlers of the carriers' webhooks."""

    def __init__(
        self,
        settings: PhoneSettings,
        tokens: StreamTokens,
        is_open: Callable[[], bool] = lambda: True,
        reports: CallReports | None = None,
    ) -> None:
        self._settings = settings
        self._tokens = tokens
        self._is_open = is_open
        self._reports = reports
        self._checks = make_checks(settings)
        voice_response()  # if the library is missing, fail now and not in a call

    async def voice(self, carrier: str, request: Request) -> Response:
        """Answer the webhook that announces a call: with instructions to stream the call, or with a refusal."""
        found = await self._trusted(carrier, request)
        if found is None:
            return PlainTextResponse("forbidden", 403)
        key = request.query_params.get("key", "")
        is_ours = bool(key) and self._reports is not None and self._reports.expects(key)
        if key and not is_ours:
            return xml_response(hang_up_xml())  # answered after it was given up
        if not is_ours and not self._is_open():
            return _closed(carrier)
        return self._stream(carrier, found, {CALL_KEY: key} if is_ours else {}, request)

    async def status(self, carrier: str, request: Request) -> Response:
        """Note what the carrier reports about a call that was placed here."""
        found = await self._trusted(carrier, request)
        if found is None:
            return PlainTextResponse("forbidden", 403)
        if self._reports is not None:
            form = found.form
            self._reports.report(
                request.query_params.get("key", ""), form.get("CallSid", ""), form.get("CallStatus", "")
            )
        return Response(status_code=204)

    async def answered(self, carrier: str, request: Request) -> Response:
        """Note whether the carrier has detected a person or an answering machine."""
        found = await self._trusted(carrier, request)
        if found is None:
            return PlainTextResponse("forbidden", 403)
        if self._reports is not None:
            self._reports.report_answerer(request.query_params.get("key", ""), found.form.get("AnsweredBy", ""))
        return Response(status_code=200)  # Telnyx repeats the webhook after any other

    async def dialled(self, carrier: str, request: Request) -> Response:
        """Answer the carrier's question how the caller's call goes on after a transfer. If the other number answered
        and that call is over, hang up. If it didn't answer, return to the agent."""
        found = await self._trusted(carrier, request)
        if found is None:
            return PlainTextResponse("forbidden", 403)
        status = found.form.get("DialCallStatus", "")
        if status in ("completed", "answered") or not self._is_open():
            return xml_response(hang_up_xml())
        return self._stream(carrier, found, {RETURNED: _RETURNS.get(status, "failed")}, request)

    def _stream(self, carrier: str, found: TrustedForm, given: dict[str, str], request: Request) -> Response:
        """Instructions to stream a call. Telnyx uses different call ids in the webhook and in the stream, so a token
        for Telnyx is valid for any call."""
        form = found.form
        call = form.get("CallSid", "")
        token = self._tokens.mint(carrier, call if carrier == "twilio" else "", found.announcement)
        given = {CALLER: form.get("From", ""), CALLED: form.get("To", ""), CALL_ID: call, **given}
        given |= to_stream(parameters_of(request.query_params, form))
        write = twiml if carrier == "twilio" else texml
        return xml_response(write(self._settings, token, {name: value for name, value in given.items() if value}))

    async def _trusted(self, carrier: str, request: Request) -> TrustedForm | None:
        """Read and check the request's form. Returns None if the form is too large, or if its signature is missing or
        wrong. With `allow_unsigned`, a request from this machine needs no signature."""
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


def twiml(settings: PhoneSettings, token: str, given: Mapping[str, str] | None = None) -> str:
    """TwiML that connects the stream. The token and other facts are parameters, because Twilio drops the query of a
    stream's URL."""
    response, stream = _connect(f"{settings.stream_url}/phone/twilio/stream")
    for name, value in {"token": token, **(given or {})}.items():
        stream.parameter(name=name, value=value)
    return str(response)


def texml(settings: PhoneSettings, token: str, given: Mapping[str, str] | None = None) -> str:
    """TeXML that connects the stream. The stream must be bidirectional and raw, which isn't Telnyx's default. TeXML is
    TwiML with a few more attributes, so Twilio's builder writes it too."""
    if settings.telnyx_codec == "L16":
        codec = {"bidirectionalSamplingRate": str(settings.telnyx_rate_hz)}
    else:
        codec = {"codec": settings.telnyx_codec}
    facts = "".join(f"&{quote(name)}={quote(value)}" for name, value in (given or {}).items())
    response, _ = _connect(
        f"{settings.stream_url}/phone/telnyx/stream?token={quote(token)}{facts}",
        track="inbound_track",
        bidirectionalMode="rtp",
        bidirectionalCodec=settings.telnyx_codec,
        **codec,
    )
    return str(response)


def _connect(url: str, **attributes: str) -> tuple[Any, Any]:
    """Make a TwiML response that connects a stream, and hangs up when the stream has ended. Returns the response and
    its stream element."""
    response = voice_response().VoiceResponse()
    stream = response.connect().stream(url=url, **attributes)
    response.hangup()
    return response, stream


def pass_on_xml(to: str, caller_id: str, ring_s: int, action: str) -> str:
    """Instructions to call this number and connect the caller with it. After that call, the carrier requests further
    instructions from the URL `action`."""
    response = voice_response().VoiceResponse()
    options = {"caller_id": caller_id} if caller_id and not is_sip(to) else {}
    dial = response.dial(action=action, method="POST", timeout=ring_s, **options)
    (dial.sip if is_sip(to) else dial.number)(to)
    return str(response)


def join_xml(room: str) -> str:
    """Instructions to join a conference. The conference ends when one of its two participants leaves."""
    response = voice_response().VoiceResponse()
    response.dial().conference(room, beep="false", start_conference_on_enter=True, end_conference_on_exit=True)
    return str(response)


def hang_up_xml() -> str:
    response = voice_response().VoiceResponse()
    response.hangup()
    return str(response)


def voice_response() -> Any:
    """The module of Twilio's library that writes instructions as XML."""
    return _load("twilio.twiml.voice_response", "a carrier")


def _closed(carrier: str) -> Response:
    """A response with status 503, which makes the carrier try the number's fallback address."""
    LOG.info("%s: refused a call, the server is stopping", carrier)
    return PlainTextResponse("this server is stopping\n", 503)


def xml_response(text: str) -> Response:
    return Response(text, media_type="application/xml")
