"""The page on Realtime models is true, and its example works with a Realtime model and as a cascade."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from openai.types.realtime import RealtimeClientEvent

from duologue import ToolCall
from duologue.brains.realtime.server_events import IGNORED, TABLE
from duologue.core.settings import Settings
from duologue.testing import Call, ScriptedBrain
from duologue.testing.realtime.server import CallTool, RealtimeServer, Speak
from tests.limits import WAIT_S

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "realtime.md").read_text(encoding="utf-8")

from tests.brains.realtime_call import RealtimeCall  # noqa: E402 (a folder of tests is no package)

GREETING = "The museum of small things, good day!"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "CASCADE", "REALTIME_URL", "REALTIME_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def example() -> ModuleType:
    """The example, imported afresh."""
    spec = importlib.util.spec_from_file_location("realtime_agent", ROOT / "examples" / "realtime_agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_code_on_the_page_runs() -> None:
    seen: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, seen)
    assert seen["azure"].endpoint.url.startswith("wss://NAME.openai.azure.com/openai/v1/realtime?")  # type: ignore[attr-defined]
    assert isinstance(seen["late"], Settings)


def test_every_event_that_means_something_is_on_the_page() -> None:
    table = PAGE.split("## The events")[1].split("## Testing")[0]
    whole = table
    for prefix, short in re.findall(r"`((?:[a-z_]+\.)+)[a-z_]+`((?:, `\.[a-z_]+`)+)", table):
        whole += "".join(f" `{prefix}{name}`" for name in re.findall(r"`\.([a-z_]+)`", short))
    assert {kind for kind in TABLE if f"`{kind}`" not in whole} == set()
    assert f"| {len(IGNORED)} others" in table
    union = get_args(get_args(RealtimeClientEvent)[0])
    ours = {get_args(model.model_fields["type"].annotation)[0] for model in union}
    unused = {"conversation.item.retrieve", "output_audio_buffer.clear"}
    assert {kind for kind in ours - unused if f"`{kind}`" not in whole} == set()


def test_the_example_works_with_a_realtime_model(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> list[str]:
        script = [CallTool("opening_hours", {"day": "Monday"}), Speak("We are closed on Mondays.")]
        async with asyncio.timeout(WAIT_S), RealtimeServer(script) as server:
            monkeypatch.setenv("REALTIME_URL", server.url)
            agent = example().agent
            call = RealtimeCall(server, agent.brain, agent, None)
            async with call.conversation:
                await call.until(lambda: call.heard == [GREETING])
                await call.says("are you open on Monday")
                await call.until(lambda: len(call.heard) == 2)
            return call.heard

    assert asyncio.run(run()) == [GREETING, "We are closed on Mondays."]


def test_the_example_works_as_a_cascade() -> None:
    brain = ScriptedBrain([ToolCall("opening_hours", {"day": "Monday"}), "We are closed on Mondays."])
    with Call(example().museum(brain)) as call:
        call.user("are you open on Monday").expect_called("opening_hours").expect_heard("We are closed on Mondays.")
        assert call.heard[0] == GREETING


def test_the_cascade_of_the_example_is_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    agent = example().cascade()
    assert agent.ears is not None
    assert agent.voice is not None
