"""Nothing that was said, and nothing that opens a door, is in any line of any log (C-SEC-001)."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Iterator

import pytest

from duologue.core.leaves import ErrorClass
from duologue.testing import Fail
from tests.limits import WAIT_S
from tests.server.running_server import RunningServer, agent_that_says, serve

TOKEN = "planted-token-4711"
SEAT = "planted-seat-4712"
TYPED = "planted typed words 4713"
SPOKEN = "planted spoken words 4714"
SAID = "planted answer 4715"
FAILURE = "planted failure 4716"
WRONG = "planted wrong thing 4717"
UVICORN = ("uvicorn", "uvicorn.error", "uvicorn.asgi", "uvicorn.access")


class Everything(logging.Handler):
    """All lines of all loggers, with what they would show of a failure."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[tuple[str, int, str]] = []
        self.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.name, record.levelno, self.format(record)))


@pytest.fixture
def log() -> Iterator[Everything]:
    """At DEBUG everywhere, but for what the server itself turns down."""
    handler, root = Everything(), logging.getLogger()
    loggers = [root, *(logging.getLogger(name) for name in ("duologue", "duologue.server", "websockets", "asyncio"))]
    before = [logger.level for logger in loggers]
    gc.collect()  # what earlier tests left says its last words before anybody listens
    root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield handler
    root.removeHandler(handler)
    for name in UVICORN:
        logging.getLogger(name).removeHandler(handler)
    for logger, level in zip(loggers, before, strict=True):
        logger.setLevel(level)


def listen_to_uvicorn(handler: logging.Handler) -> None:
    """Its loggers lead nowhere else, once a server has set them up."""
    for name in UVICORN:
        logging.getLogger(name).addHandler(handler)


@pytest.mark.req("C-SEC-001", "C-SEC-003")
def test_no_log_line_contains_words_or_secrets(log: Everything) -> None:
    keys: list[str] = []

    async def script(running: RunningServer) -> None:
        listen_to_uvicorn(log)
        await (await running.connect()).hello(SEAT, token=WRONG)
        client = await running.connect()
        began = await client.begin(SEAT, token=TOKEN)
        keys.extend((began["key"], began["conversation"]))
        await client.send("type", text=TYPED)
        await client.expect("caption", role="assistant", final=True)
        await running.say(SPOKEN)
        await client.expect("caption", role="user", final=True, text=SPOKEN)
        await client.expect("caption", after=1, role="assistant", final=True)
        await client.send("type", text="fail")
        await client.expect("state", state="faulted")
        await client.send("dismiss")
        for wrong in (WRONG, f'{{"type":"{WRONG}"}}', f'{{"type":"type","payload":{{"{WRONG}":1}}}}', WRONG.encode()):
            await client.raw_send(wrong)
        await client.send("answer", call=99, text=WRONG)
        await client.expect("error", after=3)
        seated = await running.connect()
        await seated.hello(SEAT, token=TOKEN, conversation=began["conversation"], key=began["key"], take_over=False)
        await seated.gone()
        client.vanish()
        again = await running.connect()
        await again.hello(SEAT, token=TOKEN, conversation=began["conversation"], key=began["key"])
        await again.expect("conversation")
        late = await running.connect()
        await late.hello("another seat", token=TOKEN, conversation=WRONG, key=WRONG)
        await late.expect("notification", code="gone")
        evil = await running.connect(origin=f"http://{WRONG.replace(' ', '-')}[")
        await evil.gone()
        await running.get(f"/conversations/{began['conversation']}/journal", X_Conversation_Key=WRONG)
        await running.get("/metrics", Authorization=f"Bearer {WRONG}")
        await running.get("/debug/replay", data=WRONG.encode(), Authorization=f"Bearer {TOKEN}")
        await running.get(f"/?token={TOKEN}")
        ws = await running.connect(path=f"/ws?token={TOKEN}")
        await ws.socket.send(b"\xff" + WRONG.encode(), text=True)
        await ws.gone()
        await asyncio.wait_for(running.conversations.drain(), WAIT_S)

    def answer(request: object) -> object:
        return [Fail(ErrorClass.UNKNOWN, FAILURE)] if getattr(request, "text", "") == "fail" else SAID

    serve(script, agent_that_says(answer, private=True), token=TOKEN)
    assert [line for name, _, line in log.lines if name == "duologue.server"], "it does log"
    planted = (TOKEN, SEAT, TYPED, SPOKEN, SAID, WRONG, WRONG.replace(" ", "-"), *keys)
    ours = [line for name, _, line in log.lines if not name.startswith("websockets.client")]
    assert not [line for line in ours for secret in planted if secret in line]
    assert not [line for name, level, line in log.lines if level >= logging.ERROR and "UTF-8" not in line]
    assert not [line for line in ours if "never retrieved" in line or "Traceback" in line.split("UTF-8")[0]]
    assert not [line for line in ours if FAILURE in line]


def test_failures_are_logged_by_their_kind(log: Everything) -> None:
    async def script(running: RunningServer) -> None:
        client = await running.connect()
        await client.begin("alice")
        served = next(iter(running.conversations.served.values()))

        def fail(pcm: bytes) -> None:
            raise RuntimeError(WRONG)

        served.line.hear = fail  # type: ignore[method-assign]
        await client.raw_send(bytes(640))
        await client.gone()

    serve(script)
    assert [line for name, _, line in log.lines if name == "duologue.server" and "RuntimeError" in line]
    assert not [line for name, _, line in log.lines if WRONG in line and not name.startswith("websockets.client")]
