"""Webhooks: signatures, and the response that connects the stream."""

from __future__ import annotations

import base64
import time
import urllib.parse
from typing import Any
from xml.etree import ElementTree

import pytest

from duologue.lab.sim.jumping_clock import run_jumping
from duologue.server.phone.webhooks import texml, twiml
from tests.server.phone.phone_calls import SECRET, phones, settings

FORM = {"CallSid": "CA0001", "From": "+4930123", "To": "+4930456", "Digits": ""}


# -- Signatures, by the carriers' own libraries


def twilio_headers(url: str, form: dict[str, str], secret: str = SECRET, algorithm: str = "") -> dict[str, str]:
    validator = pytest.importorskip("twilio.request_validator", reason="pip install 'duologue[phone]'")
    signed = validator.RequestValidator(secret).compute_signature(url, form, algorithm or None)
    extra = {validator.SIGNATURE_SETTINGS_HEADER: f"key=k,algorithm={algorithm}"} if algorithm else {}
    return {"X-Twilio-Signature": signed, **extra}


@pytest.mark.parametrize("algorithm", ["", "HMAC_SHA256"])
def test_a_webhook_that_twilio_signed_gets_a_stream_with_a_token(algorithm: str) -> None:
    headers = twilio_headers("https://phone.example/phone/twilio/voice?a=1", FORM, algorithm=algorithm)

    async def run() -> None:
        changes = {"public_url": "https://phone.example", "twilio_auth_token": SECRET, "allow_unsigned": False}
        async with phones(**changes) as server:
            status, answer = await server.post("/phone/twilio/voice?a=1", FORM, headers)
            assert status == 200
            stream = ElementTree.fromstring(answer).find("Connect/Stream")
            assert stream is not None
            assert stream.attrib == {"url": "wss://phone.example/phone/twilio/stream"}

    run_jumping(run())


@pytest.mark.parametrize("wrong", ["secret", "form", "url", "none"])
def test_a_webhook_that_twilio_did_not_sign_gets_nothing(wrong: str, caplog: pytest.LogCaptureFixture) -> None:
    url = "https://phone.example/phone/twilio/voice" if wrong != "url" else "https://other.example/phone/twilio/voice"
    secret = SECRET if wrong != "secret" else "another"
    headers = twilio_headers(url, FORM, secret) if wrong != "none" else {}
    form = {**FORM, "From": "+49666"} if wrong == "form" else FORM

    async def run() -> None:
        changes = {"public_url": "https://phone.example", "twilio_auth_token": SECRET, "allow_unsigned": False}
        async with phones(**changes) as server:
            assert await server.post("/phone/twilio/voice", form, headers) == (403, "forbidden")

    run_jumping(run())
    assert "signature" in caplog.text
    assert SECRET not in caplog.text
    assert "+49" not in caplog.text


def telnyx_key() -> Any:
    pytest.importorskip("telnyx", reason="pip install 'duologue[phone]'")
    return pytest.importorskip("nacl.signing", reason="pip install 'duologue[phone]'").SigningKey.generate()


def telnyx_headers(key: Any, body: bytes, at: float | None = None) -> dict[str, str]:
    stamp = str(int(at or time.time()))
    signed = key.sign(stamp.encode() + b"|" + body).signature
    return {"telnyx-signature-ed25519": base64.b64encode(signed).decode(), "telnyx-timestamp": stamp}


@pytest.mark.parametrize("wrong", ["", "key", "body", "old", "none"])
def test_a_webhook_of_telnyx_is_accepted_only_with_its_signature(wrong: str) -> None:
    key = telnyx_key()
    public = base64.b64encode(bytes(key.verify_key)).decode()
    body = urllib.parse.urlencode(FORM).encode()
    signer = telnyx_key() if wrong == "key" else key
    headers = telnyx_headers(signer, body + b"x" * (wrong == "body"), time.time() - 1_000 * (wrong == "old"))

    async def run() -> None:
        changes = {"public_url": "https://phone.example", "telnyx_public_key": public, "allow_unsigned": False}
        async with phones(**changes) as server:
            status, answer = await server.post("/phone/telnyx/texml", FORM, {} if wrong == "none" else headers)
            assert status == (403 if wrong else 200)
            assert ("token=" in answer) is not bool(wrong)

    run_jumping(run())


def test_a_carrier_that_is_not_configured_has_no_route() -> None:
    pytest.importorskip("twilio", reason="pip install 'duologue[phone]'")

    async def run() -> None:
        changes = {"public_url": "https://phone.example", "twilio_auth_token": SECRET, "allow_unsigned": False}
        async with phones(**changes) as server:
            assert (await server.post("/phone/telnyx/texml"))[0] == 404

    run_jumping(run())


def test_a_webhook_that_is_too_large_is_refused() -> None:
    async def run() -> None:
        async with phones() as server:
            assert (await server.post("/phone/twilio/voice", {"x": "y" * 70_000}))[0] == 403

    run_jumping(run())


# -- The answers


def test_twiml_connects_the_stream_with_its_token_and_hangs_up_after_it() -> None:
    answer = ElementTree.fromstring(twiml(settings(), 'a"<b'))
    assert [element.tag for element in answer] == ["Connect", "Hangup"]
    stream = answer.find("Connect/Stream")
    assert stream is not None
    assert stream.attrib == {"url": "wss://phone.example/phone/twilio/stream"}
    assert [element.attrib for element in stream] == [{"name": "token", "value": 'a"<b'}]


@pytest.mark.parametrize("codec", ["PCMU", "PCMA", "L16"])
def test_texml_asks_for_a_stream_in_both_directions(codec: str) -> None:
    answer = ElementTree.fromstring(texml(settings(telnyx_codec=codec, telnyx_rate_hz=16_000), "a&b"))
    stream = answer.find("Connect/Stream")
    assert stream is not None
    assert stream.attrib["url"] == "wss://phone.example/phone/telnyx/stream?token=a%26b"
    assert stream.attrib["bidirectionalMode"] == "rtp"
    assert stream.attrib["bidirectionalCodec"] == codec
    assert stream.get("bidirectionalSamplingRate") == ("16000" if codec == "L16" else None)


@pytest.mark.parametrize("path", ["voice", "status", "answered", "dialled"])
def test_no_webhook_is_trusted_without_its_signature(path: str) -> None:
    async def run() -> int:
        changes = {"public_url": "https://phone.example", "twilio_auth_token": SECRET, "allow_unsigned": False}
        async with phones(**changes) as server:
            status, _ = await server.post(f"/phone/twilio/{path}?key=x", FORM, {})
            return status

    assert run_jumping(run()) == 403
