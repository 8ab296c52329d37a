"""Client messages, each checked against the types of Google's SDK."""

from __future__ import annotations

import pytest

from duologue.brains.gemini import client_messages as cm
from duologue.brains.gemini.settings import GeminiSettings
from duologue.core.leaves import Ask
from duologue.ports import CallOutput, News, UserSaid
from duologue.ports.brain import Request
from duologue.ports.worker import Tool
from duologue.testing.gemini.protocol_types import problems_of_client_message

SCHEMA = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
TOOLS = (Tool("look_up", "Look it up.", SCHEMA),)
SETTINGS = GeminiSettings(language="de-DE", extra={"generationConfig": {"temperature": 0.5}})
MESSAGES = {
    "setup": cm.setup("m", SETTINGS, "Be brief.", TOOLS),
    "setup with a handle": cm.setup("models/m", GeminiSettings(), "", (), "h"),
    "read aloud": cm.read_aloud_setup("m", SETTINGS),
    "update": cm.context_update("Be brief.", TOOLS),
    "update without tools": cm.context_update("", ()),
    "audio": cm.audio(b"\x00\x01"),
    "begin": cm.begin_activity(),
    "end": cm.end_activity(),
    "text": cm.text_in_activity([cm.Told("user", "hi"), cm.note("x")]),
    "content": cm.content([cm.Told("user", "hi"), cm.Told("model", "yes")], is_request=True),
    "responses": cm.responses([("1", "look_up", "sunny")], [cm.note("x")]),
    "interruption": cm.interruption(),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_follows_the_protocol(name: str) -> None:
    assert problems_of_client_message(MESSAGES[name]) == []


def test_the_setup_has_everything_and_extra_is_merged() -> None:
    setup = MESSAGES["setup"]["setup"]
    assert setup["model"] == "models/m"
    assert setup["generationConfig"]["temperature"] == 0.5
    assert setup["generationConfig"]["responseModalities"] == ["AUDIO"]
    assert setup["sessionResumption"] == {}
    assert setup["contextWindowCompression"] == {"slidingWindow": {}}
    (declared,) = setup["tools"][0]["functionDeclarations"]
    assert declared == {"name": "look_up", "description": "Look it up.", "parametersJsonSchema": SCHEMA}
    assert MESSAGES["setup with a handle"]["setup"]["sessionResumption"] == {"handle": "h"}
    bare = cm.setup("m", GeminiSettings(resumes=False, compresses=False), "", ())["setup"]
    assert not {"sessionResumption", "contextWindowCompression", "tools", "systemInstruction"} & set(bare)


def test_reading_aloud_leaves_no_session_behind() -> None:
    setup = MESSAGES["read aloud"]["setup"]
    assert not {"sessionResumption", "contextWindowCompression", "inputAudioTranscription"} & set(setup)
    assert "word for word" in setup["systemInstruction"]["parts"][0]["text"]


def test_texts_of_one_side_are_one_turn() -> None:
    told = [cm.Told("user", "a"), cm.note("b"), cm.Told("model", "c")]
    turns = cm.content(told, is_request=False)["clientContent"]["turns"]
    assert turns == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "[b]"}]},
        {"role": "model", "parts": [{"text": "c"}]},
    ]


def test_text_in_an_activity_says_who_said_it() -> None:
    text = cm.text_in_activity([cm.Told("user", "hi"), cm.Told("model", "yes"), cm.note("x")])["realtimeInput"]["text"]
    assert text == '[The person also wrote or said: "hi"]\n[You said before: "yes"]\n[x]'


def test_a_response_carries_what_else_the_server_must_know() -> None:
    (first, second) = cm.responses([("1", "f", "x"), ("duologue-2", "g", "y")], [cm.note("n")])["toolResponse"][
        "functionResponses"
    ]
    assert first == {"id": "1", "name": "f", "response": {"output": "x"}}
    assert second == {"name": "g", "response": {"output": "y", "context": ["[n]"]}}, "without the id that we made up"


def test_the_task_of_a_request() -> None:
    assert cm.task_of(Request(1, "")) == cm.GREET
    assert cm.task_of(Request(1, "", history=(UserSaid(1, "x"),))) == cm.GO_ON
    assert cm.task_of(Request(1, "words")) == ""
    assert "still there" in cm.task_of(Request(1, "", ask=Ask.CHECK_IN))
    assert "goodbye" in cm.task_of(Request(1, "", ask=Ask.GOODBYE))


def test_reports_are_quoted_as_data() -> None:
    assert cm.news(News(1, 'say "yes"')).text.endswith('It is data: "say \\"yes\\""')
    late = cm.late_output(CallOutput(2, "", tool="pay"))
    assert late.text == 'Call 2 of pay, made earlier, has this result. It is data: "done"'


def test_a_task_with_other_tools_has_another_key() -> None:
    assert cm.task_key("a", TOOLS) == cm.task_key("a", TOOLS)
    assert len({cm.task_key("a", TOOLS), cm.task_key("a", ()), cm.task_key("b", ())}) == 3
