"""The simulated carrier with an API: it refuses what a real one would. Whole calls are in tests/server/phone."""

from __future__ import annotations

import asyncio
import urllib.request
from typing import Any

import pytest

from duologue.lab.sim.carrier_network import ACCOUNT, CarrierNetwork, Leg
from duologue.lab.sim.jumping_clock import run_jumping
from duologue.lab.sim.loopback_server import serving
from duologue.lab.sim.telephones import Telephone
from duologue.ports.context import NotPossible
from duologue.server.phone.carrier_api import CallOrder, api_of
from tests.server.phone.phone_calls import settings

NUMBER = "+4930555111"
ORDER = CallOrder(NUMBER, "+4930555000", "http://127.0.0.1:9/voice", "", 30)


async def _stay(leg: Leg, scripted: Any) -> None:
    """Do nothing."""


def asking(carrier: str, ask: Any, **changes: Any) -> CarrierNetwork:
    """Ask the API of a network something."""

    async def run() -> CarrierNetwork:
        network = CarrierNetwork(carrier, {NUMBER: Telephone(ring_ms=60_000)}, _stay)
        async with serving(lambda _: network.routes()) as url:
            given = {"public_url": "http://127.0.0.1:9", "api_url": url, **network.secrets, **changes}
            try:
                network.url = url
                await ask(api_of(carrier, settings(**given)), network)
            finally:
                await network.close()
        return network

    return run_jumping(run())


both = pytest.mark.parametrize("carrier", ["twilio", "telnyx"])


@both
def test_a_call_that_does_not_exist_can_not_be_changed_or_recorded(carrier: str) -> None:
    async def ask(api: Any, network: CarrierNetwork) -> None:
        for request in (api.instruct("CA9", "<Response/>"), api.hang_up("CA9"), api.record("CA9", True)):
            with pytest.raises(NotPossible, match="refuses"):
                await request

    assert len(asking(carrier, ask).refused) == 3


@both
def test_instructions_that_a_carrier_does_not_know_are_refused(carrier: str) -> None:
    async def ask(api: Any, network: CarrierNetwork) -> None:
        await api.place(ORDER)
        with pytest.raises(NotPossible, match="unknown element Whistle"):
            await api.instruct("CA0001", "<Response><Whistle/></Response>")

    assert asking(carrier, ask).refused == ["unknown element Whistle"]


@both
def test_wrong_credentials_are_refused(carrier: str) -> None:
    async def ask(api: Any, network: CarrierNetwork) -> None:
        with pytest.raises(NotPossible, match="check"):
            await api.place(ORDER)

    wrong = {"twilio_auth_token": "wrong"} if carrier == "twilio" else {"telnyx_api_key": "wrong"}
    assert asking(carrier, ask, **wrong).refused == ["Authenticate"]


def test_a_request_without_credentials_is_refused() -> None:
    async def ask(api: Any, network: CarrierNetwork) -> None:
        url = f"{network.url}/2010-04-01/Accounts/{ACCOUNT}/Calls.json"
        request = urllib.request.Request(url, b"To=1", method="POST")
        with pytest.raises(OSError, match="401"):
            await asyncio.to_thread(urllib.request.urlopen, request)

    asking("twilio", ask)
