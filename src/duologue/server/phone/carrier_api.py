"""Requests to the phone carriers: place a call, give it new instructions, end it, record it. The carriers' own
libraries send the requests.

The libraries block, so each request runs in a thread. Rule: if the carrier refuses, an error says in one line what the
carrier said and which setting to check. It contains no secret and no phone number.
"""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

from duologue.ports.context import NotPossible

from .settings import PhoneSettings

REQUEST_S_MAX = 10.0
# Sends a request (method, URL, headers, body) and returns the status and the text of the response.
SendRequest: TypeAlias = Callable[[str, str, Mapping[str, str], bytes], tuple[int, str]]
STATUS_EVENTS = ("initiated", "ringing", "answered", "completed")


class CarrierRefusal(NotPossible):
    """The carrier has refused a request, or can't be reached. The message says why, and contains no phone number."""


@dataclass(frozen=True, slots=True)
class CallOrder:
    """A phone call that the carrier should place. The carrier gets the call's instructions from `url`, and reports the
    call's progress to `status_url`. If `detects` isn't empty, the carrier also detects whether a person or an answering
    machine has answered, and reports that to `answer_url`: at once if `detects` is "Enable", or at the end of a
    machine's greeting if it is "DetectMessageEnd"."""

    to: str
    caller_id: str
    url: str
    status_url: str
    ring_s: int = 30
    detects: str = ""
    answer_url: str = ""


class CarrierApi(Protocol):
    """The requests that Duologue makes to a carrier. Each raises CarrierRefusal if the carrier refuses or can't be
    reached."""

    async def place(self, order: CallOrder) -> str:
        """Place a phone call. Returns the carrier's id of the call; empty if the carrier reports the id later."""
        ...

    async def instruct(self, call: str, xml: str) -> None:
        """Give the call new instructions. They replace what the call is doing now, such as streaming to the agent."""
        ...

    async def hang_up(self, call: str) -> None:
        """End the call. Does nothing if the call has ended already."""
        ...

    async def record(self, call: str, on: bool) -> None:
        """Start or continue recording the call if `on` is True; otherwise pause the recording."""
        ...


def api_of(carrier: str, settings: PhoneSettings, send: SendRequest | None = None) -> CarrierApi:
    """The object that makes requests to this carrier. The requests are sent over the network, or passed to `send` if it
    is given (in simulations). Raises NotPossible if a setting is missing."""
    needs = {
        "twilio": ("twilio_account_sid", "twilio_auth_token"),
        "telnyx": ("telnyx_api_key", "telnyx_account"),
    }[carrier]
    missing = [name for name in needs if not getattr(settings, name)]
    if missing:
        names = " and ".join(f"{name} ({name.upper()})" for name in missing)
        raise NotPossible(f"calls on {carrier} can't be placed, transferred or recorded: set {names}")
    return TwilioApi(settings, send) if carrier == "twilio" else TelnyxApi(settings, send)


def _load(module: str, carrier: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise NotPossible(f"requests to {carrier} need its library: pip install 'duologue[phone]'") from None


def _plain(text: object) -> str:
    """A carrier's message as one short line without phone numbers."""
    return re.sub(r"\+?\d{6,}", "…", " ".join(str(text).split()))[:200]


def _hint(status: int, credentials: str) -> str:
    if status in (401, 403):
        return f"; check {credentials}"
    return "; check `to` and the setting `number`" if status in (400, 422) else ""


class TwilioApi:
    """Requests to Twilio."""

    def __init__(self, settings: PhoneSettings, send: SendRequest | None = None) -> None:
        self._settings = settings
        self._send = send
        self._recorded: set[str] = set()

    @cached_property
    def _client(self) -> Any:
        settings, send = self._settings, self._send
        http = _load("twilio.http.http_client", "Twilio")

        class Http(http.TwilioHttpClient):  # type: ignore[misc, name-defined] # loaded late
            def request(self, method: str, url: str, *args: Any, **named: Any) -> Any:
                if settings.api_url:
                    url = url.replace("https://api.twilio.com", settings.api_url.rstrip("/"), 1)
                if send is not None:
                    return _twilio_answer(send, method, url, *args, **named)
                return super().request(method, url, *args, **named)

        client = Http(timeout=REQUEST_S_MAX)
        return _load("twilio.rest", "Twilio").Client(
            settings.twilio_account_sid, settings.twilio_auth_token, http_client=client
        )

    async def place(self, order: CallOrder) -> str:
        detection: dict[str, Any] = {}
        if order.detects:
            detection = {"machine_detection": order.detects, "async_amd": "true"}
            detection |= {"async_amd_status_callback": order.answer_url, "async_amd_status_callback_method": "POST"}
        made = await self._ask(
            lambda client: client.calls.create(
                to=order.to,
                from_=order.caller_id,
                url=order.url,
                status_callback=order.status_url,
                status_callback_event=list(STATUS_EVENTS),
                timeout=order.ring_s,
                **detection,
            )
        )
        return str(made.sid)

    async def instruct(self, call: str, xml: str) -> None:
        await self._ask(lambda client: client.calls(call).update(twiml=xml))

    async def hang_up(self, call: str) -> None:
        await self._ask(lambda client: client.calls(call).update(status="completed"))

    async def record(self, call: str, on: bool) -> None:
        if call not in self._recorded:
            if on:
                await self._ask(lambda client: client.calls(call).recordings.create())
                self._recorded.add(call)
            return
        status = "in-progress" if on else "paused"
        await self._ask(lambda client: client.calls(call).recordings("Twilio.CURRENT").update(status=status))

    async def _ask(self, request: Callable[[Any], Any]) -> Any:
        errors = _load("twilio.base.exceptions", "Twilio")
        try:
            return await asyncio.to_thread(lambda: request(self._client))
        except errors.TwilioRestException as refusal:
            hint = _hint(refusal.status, "twilio_account_sid and twilio_auth_token")
            raise CarrierRefusal(f"twilio refuses ({refusal.code}): {_plain(refusal.msg)}{hint}") from None
        except (errors.TwilioException, OSError) as problem:
            raise CarrierRefusal(f"twilio can't be reached: {type(problem).__name__}") from None


def _twilio_answer(
    send: SendRequest, method: str, url: str, params: Any, data: Any, headers: Any, auth: Any, *_: Any, **__: Any
) -> Any:
    """Pass a request from Twilio's library to `send`, and convert the response to the form that the library expects."""
    request = _load("requests", "Twilio").Request(method, url, headers, data=data, params=params, auth=auth).prepare()
    body = request.body or b""
    status, text = send(method, request.url, request.headers, body if isinstance(body, bytes) else body.encode())
    return _load("twilio.http.response", "Twilio").Response(status, text)


class TelnyxApi:
    """Requests to Telnyx, in its dialect of Twilio's API (TeXML)."""

    def __init__(self, settings: PhoneSettings, send: SendRequest | None = None) -> None:
        self._settings = settings
        self._send = send
        self._recordings: dict[str, str] = {}  # by call

    @cached_property
    def _client(self) -> Any:
        settings = self._settings
        options: dict[str, Any] = {"base_url": settings.api_url.rstrip("/") + "/v2"} if settings.api_url else {}
        telnyx, send = _load("telnyx", "Telnyx"), self._send
        if send is not None:
            options["http_client"] = _httpx_client(send)
        return telnyx.Telnyx(api_key=settings.telnyx_api_key, timeout=REQUEST_S_MAX, max_retries=0, **options)

    async def place(self, order: CallOrder) -> str:
        body: dict[str, Any] = {  # the library passes these names on as they are
            "To": order.to,
            "From": order.caller_id,
            "Url": order.url,
            "StatusCallback": order.status_url,
            "StatusCallbackEvent": " ".join(STATUS_EVENTS),
            "Timeout": min(max(order.ring_s, 5), 120),
        }
        if self._settings.telnyx_application:
            body["ApplicationSid"] = self._settings.telnyx_application
        if order.detects:
            body |= {"MachineDetection": order.detects, "AsyncAmd": True}
            body |= {"AsyncAmdStatusCallback": order.answer_url, "AsyncAmdStatusCallbackMethod": "POST"}
        account = self._settings.telnyx_account
        await self._ask(lambda client: client.texml.accounts.calls.calls(account, body=body))
        return ""  # the id comes with the first report of the call's progress

    async def instruct(self, call: str, xml: str) -> None:
        account = self._settings.telnyx_account
        await self._ask(lambda client: client.texml.accounts.calls.update(call, account_sid=account, texml=xml))

    async def hang_up(self, call: str) -> None:
        account = self._settings.telnyx_account
        await self._ask(
            lambda client: client.texml.accounts.calls.update(call, account_sid=account, status="completed")
        )

    async def record(self, call: str, on: bool) -> None:
        account, known = self._settings.telnyx_account, self._recordings.get(call)
        if known is not None:
            status: Any = "in-progress" if on else "paused"
            await self._ask(
                lambda client: client.texml.accounts.calls.recordings.recording_sid_json(
                    known, account_sid=account, call_sid=call, status=status
                )
            )
        elif on:
            made = await self._ask(
                lambda client: client.texml.accounts.calls.recordings_json.recordings_json(call, account_sid=account)
            )
            self._recordings[call] = str(made.sid)

    async def _ask(self, request: Callable[[Any], Any]) -> Any:
        telnyx = _load("telnyx", "Telnyx")
        try:
            return await asyncio.to_thread(lambda: request(self._client))
        except telnyx.APIStatusError as refusal:
            hint = _hint(refusal.status_code, "telnyx_api_key and telnyx_account")
            raise CarrierRefusal(
                f"telnyx refuses ({refusal.status_code}): {_telnyx_words(refusal.body)}{hint}"
            ) from None
        except telnyx.APIError as problem:
            raise CarrierRefusal(f"telnyx can't be reached: {type(problem).__name__}") from None


def _httpx_client(send: SendRequest) -> Any:
    """An HTTP client for Telnyx's library that passes all requests to `send`."""
    httpx = _load("httpx", "Telnyx")

    def answer(request: Any) -> Any:
        status, text = send(request.method, str(request.url), request.headers, request.read())
        return httpx.Response(status, text=text, headers={"content-type": "application/json"})

    return httpx.Client(transport=httpx.MockTransport(answer))


def _telnyx_words(body: Any) -> str:
    errors = body.get("errors") if isinstance(body, dict) else None
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    return _plain(first.get("detail") or first.get("title") or "no reason given")
