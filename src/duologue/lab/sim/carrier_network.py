"""A simulated carrier with an API: it places calls, streams them, transfers them and reports their progress.

It talks to the server as Twilio or Telnyx does: it signs its webhooks in the same way, and checks requests and
instructions against the names in the carrier's own library. Rule: everything that a real carrier would refuse is
refused here, too, and noted in `refused`.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode
from xml.etree import ElementTree

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from duologue.lines.phone.carriers import CARRIERS

from .carrier_rules import NUMBER, NotAccepted, check_instructions, check_request
from .carrier_wires import CarrierWires, SocketWires
from .dial import WEBHOOKS
from .scripted_carrier import Network, ScriptedCarrier
from .telephones import AnsweredBy, NetworkLog, Telephone

ACCOUNT, SECRET, API_KEY = "AC00000000000000000000000000000000", "a-simulated-auth-token", "a-simulated-api-key"
_STATUSES = {AnsweredBy.BUSY: "busy", AnsweredBy.NO_ANSWER: "no-answer"}

Behave = Callable[["Leg", ScriptedCarrier], Awaitable[None]]


@dataclass(eq=False)
class Leg:
    """One telephone call in the network. `instructions` has new instructions that will replace the current ones; None
    if there are no new ones."""

    call: str
    number: str  # the telephone at the other end
    status_url: str = ""
    answer_url: str = ""  # gets what the carrier's machine detection finds out, if that was asked for
    caller: str = ""  # who calls
    called: str = ""
    fields: dict[str, str] = field(default_factory=dict)  # in each webhook, such as SIP headers
    is_over: bool = False
    instructions: ElementTree.Element | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    scripted: ScriptedCarrier | None = None


class CarrierNetwork:
    """The network of one carrier. `behave` plays the role of the person or the answering machine at the other end of a
    stream."""

    def __init__(
        self,
        carrier: str,
        book: Mapping[str, Telephone],
        behave: Behave,
        network: Network | None = None,
        wires: CarrierWires | None = None,
    ) -> None:
        self.carrier = carrier
        self.book = dict(book)
        self.url = ""  # of the server that is called, with its public scheme and host
        self.refused: list[str] = []
        self.rooms: dict[str, list[str]] = {}  # conferences, and the numbers in them
        self.bridges: list[tuple[str, str]] = []  # numbers that were connected without the agent
        self.recordings: list[str] = []  # what was done to recordings
        self.legs: dict[str, Leg] = {}
        self.wires = wires or SocketWires()  # to the server
        self._behave = behave
        self._network = network or Network()
        loop = asyncio.get_running_loop()
        began = loop.time()
        self.log = NetworkLog(lambda: round((loop.time() - began) * 1000))
        self._tasks: set[asyncio.Task[None]] = set()
        self._key: Any = None

    # -- Secrets

    @property
    def secrets(self) -> dict[str, str]:
        """The settings that a server needs to trust this carrier."""
        if self.carrier == "twilio":
            return {"twilio_account_sid": ACCOUNT, "twilio_auth_token": SECRET}
        public = base64.b64encode(bytes(self._signing_key().verify_key)).decode()
        return {"telnyx_api_key": API_KEY, "telnyx_account": ACCOUNT, "telnyx_public_key": public}

    def _signing_key(self) -> Any:
        if self._key is None:
            from nacl.signing import SigningKey

            self._key = SigningKey.generate()
        return self._key

    def _signature(self, url: str, form: dict[str, str], body: bytes) -> dict[str, str]:
        if self.carrier == "twilio":
            validator = importlib.import_module("twilio.request_validator").RequestValidator(SECRET)
            return {"X-Twilio-Signature": validator.compute_signature(url, form)}
        stamp = str(int(time.time()))
        signed = self._signing_key().sign(f"{stamp}|".encode() + body).signature
        return {"telnyx-signature-ed25519": base64.b64encode(signed).decode(), "telnyx-timestamp": stamp}

    # -- The API

    def routes(self) -> list[BaseRoute]:
        """The carrier's API, as routes."""
        if self.carrier == "twilio":
            calls = "/2010-04-01/Accounts/{account}/Calls"
            return [
                Route(f"{calls}.json", self._create, methods=["POST"]),
                Route(f"{calls}/{{call}}.json", self._update, methods=["POST"]),
                Route(f"{calls}/{{call}}/Recordings.json", self._record, methods=["POST"]),
                Route(f"{calls}/{{call}}/Recordings/{{recording}}.json", self._record, methods=["POST"]),
            ]
        calls = "/v2/texml/Accounts/{account}/Calls"
        return [
            Route(calls, self._create, methods=["POST"]),
            Route(f"{calls}/{{call}}", self._update, methods=["POST"]),
            Route(f"{calls}/{{call}}/Recordings.json", self._record, methods=["POST"]),
            Route(f"{calls}/{{call}}/Recordings/{{recording}}.json", self._record, methods=["POST"]),
        ]

    async def _read(self, request: Request) -> dict[str, Any] | None:
        """The fields of a request. None if its credentials are wrong."""
        given = request.headers.get("authorization", "")
        basic = base64.b64encode(f"{ACCOUNT}:{SECRET}".encode()).decode()
        wanted = f"Basic {basic}" if self.carrier == "twilio" else f"Bearer {API_KEY}"
        if given != wanted or request.path_params["account"] != ACCOUNT:
            return None
        body = await request.body()
        if self.carrier == "twilio":
            return dict(parse_qsl(body.decode(), keep_blank_values=True))
        found = json.loads(body or b"{}")
        return found if isinstance(found, dict) else {}

    def _refuse(self, status: int, code: int, why: str) -> Response:
        self.refused.append(why)
        self.log.note("carrier", f"refuses: {why}")
        if self.carrier == "twilio":
            return JSONResponse({"code": code, "message": why, "more_info": "", "status": status}, status)
        return JSONResponse({"errors": [{"code": str(code), "title": why, "detail": why}]}, status)

    async def _create(self, request: Request) -> Response:
        given = await self._read(request)
        if given is None:
            return self._refuse(401, 20003, "Authenticate")
        try:
            check_request(self.carrier, "create", given)
        except NotAccepted as problem:
            return self._refuse(400 if self.carrier == "twilio" else 422, 21201, str(problem))
        to = str(given["To"])
        if to not in self.book or not (NUMBER.fullmatch(to) or to.startswith("sip:")):
            return self._refuse(400 if self.carrier == "twilio" else 422, 21211, "The phone number is not valid")
        leg = self._add_leg(to, str(given["From"]), to, str(given.get("StatusCallback", "")))
        leg.answer_url = str(given.get("AsyncAmdStatusCallback", ""))
        self._start(self._ring(leg, str(given["Url"]), int(given.get("Timeout", 60)) * 1000))
        if self.carrier == "telnyx":
            return JSONResponse({"from": given["From"], "to": to, "status": "queued"})
        return JSONResponse({"sid": leg.call, "status": "queued", "to": to, "from": given["From"]}, 201)

    async def _update(self, request: Request) -> Response:
        given = await self._read(request)
        leg = self.legs.get(request.path_params["call"])
        if given is None:
            return self._refuse(401, 20003, "Authenticate")
        if leg is None or leg.is_over:
            return self._refuse(404 if leg is None else 400, 21220, "Call is not in-progress. Cannot redirect.")
        try:
            check_request(self.carrier, "update", given)
            xml = given.get("Twiml") or given.get("Texml")
            if given.get("Status") not in (None, "completed", "canceled") or bool(xml) == bool(given.get("Status")):
                raise NotAccepted("either Status or instructions are required")
            if xml:
                leg.instructions = check_instructions(self.carrier, str(xml))
        except NotAccepted as problem:
            return self._refuse(400, 21218, str(problem))
        if not xml:
            leg.is_over = True
        leg.changed.set()
        if leg.scripted is not None:
            leg.scripted.hang_up()
        return JSONResponse({"sid": leg.call, "status": "in-progress"})

    async def _record(self, request: Request) -> Response:
        given, params = await self._read(request), request.path_params
        leg = self.legs.get(params["call"])
        if given is None or leg is None or leg.is_over:
            return self._refuse(404, 20404, "The requested resource was not found")
        recording = params.get("recording", "")
        if recording and recording not in ("Twilio.CURRENT", "RE01"):
            return self._refuse(404, 20404, "The recording was not found")
        self.recordings.append(str(given.get("Status") or "started"))
        self.log.note("carrier", f"recording {self.recordings[-1]}")
        return JSONResponse({"sid": "RE01", "call_sid": leg.call, "status": "in-progress"}, 201)

    # -- Calls

    def _add_leg(self, number: str, caller: str, called: str, status_url: str = "") -> Leg:
        leg = Leg(f"CA{len(self.legs) + 1:04}", number, status_url, caller=caller, called=called)
        self.legs[leg.call] = leg
        return leg

    def call_in(self, number: str, called: str, query: str = "", **fields: str) -> Leg:
        """Let the person at this telephone call the server's number. `query` is that of the webhook's address, which
        the operator has set. The webhooks have these additional fields, such as SIP headers."""
        leg = self._add_leg(number, number, called)
        leg.fields = fields
        self.log.note(number, f"calls {called}")
        self._start(self.answer(leg, self.url + WEBHOOKS[self.carrier] + query))
        return leg

    async def _ring(self, leg: Leg, url: str, limit_ms: int) -> None:
        phone = self.book[leg.number]
        await self._report(leg, "initiated")
        await self._report(leg, "ringing")
        self.log.note(leg.number, "rings")
        ring_ms = limit_ms if phone.answer is AnsweredBy.NO_ANSWER else min(phone.ring_ms, limit_ms)
        with suppress(TimeoutError):
            await asyncio.wait_for(leg.changed.wait(), ring_ms / 1000)
        if leg.is_over or phone.answer in _STATUSES:
            self.log.note(leg.number, "stops ringing" if leg.is_over else phone.answer.value.replace("_", " "))
            await self._report(leg, "canceled" if leg.is_over else _STATUSES[phone.answer])
            leg.is_over = True
            return
        self.log.note(leg.number, f"is answered by a {phone.answer.value}")
        await self._report(leg, "in-progress")
        if leg.answer_url and phone.detected:
            self._start(self._detect(leg, phone))
        await self.answer(leg, url)

    async def _detect(self, leg: Leg, phone: Telephone) -> None:
        """Simulate the carrier's detection of answering machines: report what it has found out."""
        await asyncio.sleep(phone.detected_ms / 1000)
        if not leg.is_over:
            self.log.note("carrier", f"detects {phone.detected}")
            found = {"AnsweredBy": phone.detected, "MachineDetectionDuration": str(phone.detected_ms)}
            await self._post(leg, leg.answer_url, found)

    async def answer(self, leg: Leg, url: str) -> None:
        """Answer the call: request instructions from this webhook, follow them, and hang up."""
        status, xml = await self._post(leg, url, {})
        if status != 200:
            self.log.note(leg.number, f"the server answers {status}")
        else:
            await self._follow(leg, check_instructions(self.carrier, xml))
        leg.is_over = True
        self.log.note(leg.number, "hangs up")
        await self._report(leg, "completed")

    async def _follow(self, leg: Leg, instructions: ElementTree.Element) -> None:
        """Follow these instructions to their end. Then follow the instructions that replace or continue them, if there
        are any."""
        following: ElementTree.Element | None = instructions
        while following is not None and not leg.is_over:
            leg.instructions = None
            next_ones = await self._run(leg, following)
            following = leg.instructions if leg.instructions is not None else next_ones

    async def _run(self, leg: Leg, instructions: ElementTree.Element) -> ElementTree.Element | None:
        leg.changed.clear()
        for verb in instructions:
            stream, room = verb.find("Stream"), verb.find("Conference")
            if verb.tag == "Connect" and stream is not None:
                await self._stream(leg, stream)
            elif verb.tag == "Dial" and room is not None:
                await self._meet(leg, str(room.text))
            elif verb.tag == "Dial":
                return await self._pass_on(leg, verb)
            if verb.tag == "Hangup" or leg.instructions is not None or leg.is_over:
                return None
        return None

    async def _stream(self, leg: Leg, stream: ElementTree.Element) -> None:
        parameters = {each.attrib["name"]: each.attrib["value"] for each in stream.findall("Parameter")}
        carrier = CARRIERS[self.carrier]
        async with self.wires.stream(
            stream.attrib["url"], parameters, carrier, call=leg.call, network=self._network
        ) as scripted:
            leg.scripted = scripted
            behaving = asyncio.ensure_future(self._behave(leg, scripted))
            while not scripted.is_over:
                scripted.changed.clear()
                await scripted.changed.wait()
            behaving.cancel()
            leg.scripted = None
            if leg.instructions is None and scripted.caller_hung_up:
                leg.is_over = True

    async def _meet(self, leg: Leg, room: str) -> None:
        self.rooms.setdefault(room, []).append(leg.number)
        self.log.note(leg.number, "joins the conference")
        await asyncio.sleep(self.book[leg.number].talk_ms / 1000 if leg.number in self.book else 0.3)

    async def _pass_on(self, leg: Leg, dial: ElementTree.Element) -> ElementTree.Element | None:
        target = dial.find("Number") if dial.find("Number") is not None else dial.find("Sip")
        assert target is not None
        number = str(target.text)
        phone = self.book.get(number)
        status = "failed" if phone is None else _STATUSES.get(phone.answer, "completed")
        self.log.note(number, "rings" if phone is not None else "doesn't exist")
        await asyncio.sleep((phone.ring_ms if phone is not None else 0) / 1000)
        if phone is not None and status == "completed":
            self.bridges.append((leg.number, number))
            self.log.note(number, f"talks to {leg.number}")
            await asyncio.sleep(phone.talk_ms / 1000)
        elif phone is not None:
            self.log.note(number, phone.answer.value.replace("_", " "))
        if "action" not in dial.attrib:
            return None
        code, xml = await self._post(leg, dial.attrib["action"], {"DialCallStatus": status})
        return check_instructions(self.carrier, xml) if code == 200 else None

    # -- Webhooks

    async def _report(self, leg: Leg, status: str) -> None:
        if leg.status_url:
            await self._post(leg, leg.status_url, {"CallStatus": status})

    async def _post(self, leg: Leg, url: str, fields: dict[str, str]) -> tuple[int, str]:
        form = {"CallSid": leg.call, "From": leg.caller, "To": leg.called, **leg.fields, **fields}
        body = urlencode(form).encode()
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self.wires.post(url, {**kind, **self._signature(url, form, body)}, body)

    def _start(self, doing: Any) -> None:
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def is_busy(self) -> bool:
        """Is any call in progress?"""
        return bool(self._tasks)

    async def close(self) -> None:
        """End every call."""
        for leg in self.legs.values():
            leg.is_over = True
            leg.changed.set()
            if leg.scripted is not None:
                leg.scripted.hang_up()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
