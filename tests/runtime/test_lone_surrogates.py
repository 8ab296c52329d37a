"""A lone surrogate in a text costs no answer, wherever it comes from."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from duologue.observe.recorder import words_path
from duologue.ports import Request, Show, ToolCall
from duologue.ports.ears import Final, SpeechBegan, SpeechEnded
from duologue.ports.sound import Sound
from duologue.testing import ScriptedVoice, scripted_tool
from tests.runtime.runtime_fakes import Stage, play


class Strict(ScriptedVoice):
    """Takes text that can be written down, as a voice of C or of a network does."""

    async def speak(self, text: str) -> AsyncIterator[Sound]:
        text.encode()
        async for sound in ScriptedVoice.speak(self, text):
            yield sound


def strict(answer: Any) -> Any:
    """A brain that sends the whole history to a service every time."""

    async def reply(request: Request) -> AsyncIterator[Any]:
        str(request.history).encode()
        request.text.encode()
        assert all(json.dumps(vars_of(item), ensure_ascii=False).encode() for item in request.history)
        for part in answer(request):
            yield part

    return reply


def vars_of(item: Any) -> dict[str, str]:
    return {name: str(getattr(item, name)) for name in item.__dataclass_fields__}


async def twice(stage: Stage) -> None:
    await stage.say("hello there")
    await stage.rest()
    await stage.say("and now")
    await stage.rest()
    assert stage.problems == []


@pytest.mark.req("L-12")
@pytest.mark.parametrize(
    ("parts", "heard"),
    [
        (["Well done \ud83d", "\ude00 you."], "Well done 😀 you."),
        (["Well done \ud83d"], "Well done \ufffd"),
        (["Well done \udcff you."], "Well done \ufffd you."),
        (["Well done.", Show("\ud83d"), Show("\ude00")], "Well done. 😀"),
    ],
)
def test_a_lone_surrogate_from_the_brain_is_spoken_and_harms_no_later_answer(parts: list[Any], heard: str) -> None:
    stage = play(twice, strict(lambda request: parts), voice=Strict())
    assert stage.heard == [heard, heard]


@pytest.mark.req("L-07", "L-12")
def test_a_lone_surrogate_in_a_result_harms_no_later_answer() -> None:
    """Python writes what is no text in the name of a file as such halves."""
    found = scripted_tool("find", b"caf\xe9.txt".decode(errors="surrogateescape"))

    def answer(request: Request) -> list[Any]:
        return ["I have found it."] if request.outputs or request.text == "and now" else [ToolCall("find", {}, "c1")]

    stage = play(twice, strict(answer), voice=Strict(), tools=[found])
    assert [output.output for output in stage.outputs] == ["caf\ufffd.txt"]
    assert stage.heard == ["I have found it."] * 2


@pytest.mark.req("C-SEC-002")
def test_a_lone_surrogate_costs_no_line_of_the_words_on_disk(tmp_path: Path) -> None:
    stage = play(twice, lambda request: Show("It is \ud83d"), journal=tmp_path / "call.jsonl")
    lines = [json.loads(line) for line in words_path(tmp_path / "call.jsonl").read_text().splitlines()]
    assert [line["kind"] for line in lines[1:]] == ["user", "agent"] * 2
    assert stage.heard == ["It is \ufffd"] * 2


def test_a_lone_surrogate_that_was_typed_or_heard_is_answered() -> None:
    async def scene(stage: Stage) -> None:
        stage.conversation.type("typed \ud83d")
        await stage.rest()
        stage.ears.tell(SpeechBegan(1))
        await stage.sleep(300)
        stage.ears.tell(SpeechEnded(1))
        stage.ears.tell(Final("spoken \ude00 words", 0.9, 1))
        await stage.sleep(1_000)
        await stage.rest()
        assert stage.said == ["typed \ufffd", "spoken \ufffd words"]

    assert play(scene, strict(lambda request: ["Good day."])).heard == ["Good day."] * 2
