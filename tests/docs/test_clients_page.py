"""The examples in the page on clients work against a real server, and what it says about embed.js is so."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from duologue.server.static_files import WEB
from tests.docs.printed import page, python_blocks
from tests.needs import needs_model
from tests.server.realtime.client_script import ScriptedClient, play
from tests.server.running_server import RunningServer, serve


def test_the_python_examples_talk_and_follow() -> None:
    seen: dict[str, object] = {}
    (code,) = [block for block in python_blocks(page("clients")) if "duologue.client" in block]
    exec(code, seen)

    async def script(running: RunningServer) -> None:
        url = f"http://127.0.0.1:{running.port}/"
        assert await seen["ask"](url) == "You said hello."  # type: ignore[operator]
        following = asyncio.ensure_future(seen["follow"](url, bytes(3_200)))  # type: ignore[operator]
        served = running.conversations.served
        await running.until(lambda: len(served) == 2)  # the first client has left, and its conversation waits
        await running.until(lambda: list(served.values())[-1].conversation.phase == "listening")
        await running.say("good morning")
        assert await following == ["user: good morning", "assistant: You said good morning."]

    serve(script)


def test_the_voices_of_the_example_are_chosen_by_name() -> None:
    needs_model("espeak-ng")
    seen: dict[str, Any] = {}
    (code,) = [block for block in python_blocks(page("clients")) if "voices=" in block]
    exec(code, seen)

    async def script(client: ScriptedClient) -> None:
        for voice in ("marin", "cedar", "ash"):
            await client.configure(audio={"output": {"voice": voice}})

    client = play(script, seen["agent"])
    shown = [event["session"]["audio"]["output"]["voice"] for event in client.told("session.updated")]
    assert shown == ["marin", "cedar", "agent"]


def test_every_attribute_and_property_of_the_embed_is_on_the_page_and_no_other() -> None:
    text = page("clients")
    loader, widget = ((WEB / name).read_text("utf-8") for name in ("embed.js", "embed/widget.js"))
    taken = re.search(r"async function mount\(\{(.*?)\}\)", widget)
    assert taken
    read = {name.split("=")[0].strip() for name in taken.group(1).split(",")} | {"server"}
    assert {name.removeprefix("data-") for name in re.findall(r"^\| `(data-[a-z]+)`", text, re.MULTILINE)} == read
    assert "script.dataset.server" in loader
    styles = (WEB / "embed" / "embed.css").read_text("utf-8")
    assert set(re.findall(r"var\((--duologue-[a-z]+)", styles)) == set(re.findall(r"`(--duologue-[a-z]+)`", text))


def test_a_refused_page_says_what_the_docs_say() -> None:
    assert "This page can't use its voice agent." in (WEB / "embed.js").read_text("utf-8")
    assert '"This page can\'t use its voice agent."' in page("clients")
