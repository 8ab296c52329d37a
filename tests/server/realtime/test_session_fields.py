"""Every field of the official types has an effect, is answered with what is in effect, or is refused by its name."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from openai.types.realtime import RealtimeResponseCreateParams, RealtimeSessionCreateRequest

from duologue.ports.worker import Tool
from duologue.server.realtime.session_config import SessionConfig, TranscriptWish
from duologue.testing import ScriptedBrain
from tests.server.realtime.client_script import WEATHER, ScriptedClient, play, words_of
from tests.server.realtime.official_fields import paths_of
from tests.server.realtime.tone_agent import ToneEars, ToneVoice, silence, tone, tone_agent

DOCS = Path(__file__).parents[3] / "docs" / "clients.md"
MCP = {"type": "mcp", "server_label": "shop"}
SERVER_VAD, SEMANTIC_VAD = {"type": "server_vad"}, {"type": "semantic_vad"}


@dataclass(frozen=True)
class Works:
    """The field has an effect, which `check` sees: a script of a client, which sends the field itself."""

    check: Callable[[ScriptedClient], Awaitable[None]]


@dataclass(frozen=True)
class Only:
    """Only the value that is in effect anyway is accepted. Any other one is refused."""

    accepted: Any
    refused: Any
    beside: Any = None  # fields that must be sent with it
    code: str = "unsupported_parameter"


@dataclass(frozen=True)
class Answered:
    """Any value is accepted, and the answer says what is in effect."""

    sent: Any
    shown: Any
    beside: Any = None


@dataclass(frozen=True)
class Refused:
    """The field is refused."""

    sent: Any
    beside: Any = None


Probe: TypeAlias = Works | Only | Answered | Refused


def with_field(path: str, value: Any, beside: Any = None) -> dict[str, Any]:
    """An object in which only this field is set, and fields `beside` it."""
    first, _, rest = path.partition(".")
    inner: Any = with_field(rest, value, beside) if rest else value
    if beside is not None and (first.endswith("[]") or (rest and "." not in rest)):
        inner = {**beside, **inner}
    return {first.removesuffix("[]"): [inner] if first.endswith("[]") else inner}


async def ask(client: ScriptedClient, text: str = "hello", **response: Any) -> dict[str, Any]:
    """Write something, ask for a response with these settings, and wait for it."""
    before = len(client.told("response.done"))
    await client.write(text)
    await client.send("response.create", response=response)
    return await client.done(before)


def brain_of(client: ScriptedClient) -> ScriptedBrain:
    assert isinstance(client.agent.brain, ScriptedBrain)
    return client.agent.brain


# -- Effects of a session's fields


async def instructions_reach_the_brain(client: ScriptedClient) -> None:
    await client.configure(instructions="Be brief.")
    await ask(client)
    assert brain_of(client).requests[-1].instructions == "Be brief."
    assert client.told("session.updated")[-1]["session"]["instructions"] == "Be brief."


async def modalities_choose_text(client: ScriptedClient) -> None:
    await client.configure(output_modalities=["text"])
    done = await ask(client)
    assert [part["type"] for part in done["output"][0]["content"]] == ["output_text"]


def known_tools(client: ScriptedClient) -> list[Tool]:
    return list(brain_of(client).requests[-1].tools)


async def tools_reach_the_brain(client: ScriptedClient) -> None:
    await client.configure(tools=[WEATHER])
    await ask(client)
    (tool,) = known_tools(client)
    assert (tool.name, tool.description) == (WEATHER["name"], WEATHER["description"])
    assert tool.parameters == WEATHER["parameters"]


async def tool_choice_none_hides_tools(client: ScriptedClient) -> None:
    await client.configure(tools=[WEATHER], tool_choice="none")
    await ask(client)
    assert known_tools(client) == []
    await client.configure(tool_choice="auto")
    await ask(client)
    assert [tool.name for tool in known_tools(client)] == ["get_weather"]


async def input_format_is_heard(client: ScriptedClient) -> None:
    await client.configure(audio={"input": {"format": {"type": "audio/pcmu"}}})
    await client.send("input_audio_buffer.append", audio=base64.b64encode(bytes(800)).decode())
    await asyncio.sleep(0.2)
    assert isinstance(client.agent.ears, ToneEars)
    assert (client.agent.ears.rates, client.agent.ears.heard_ms) == ({8_000}, 100)


async def output_format_is_sent(client: ScriptedClient) -> None:
    await client.configure(audio={"output": {"format": {"type": "audio/pcma"}}})
    done = await ask(client)
    sent = sum(len(base64.b64decode(one["delta"])) for one in client.told("response.output_audio.delta"))
    assert sent == pytest.approx(3 * 120 * 8, abs=80), words_of(done)


async def voice_speaks(client: ScriptedClient) -> None:
    """The voice `low` says each word in 240 ms, the agent's own one in 120 ms."""
    lasted = []
    for voice in ("low", "marin", {"id": "low"}, None):
        await client.configure(audio={"output": {"voice": voice}})
        shown = client.told("session.updated")[-1]["session"]["audio"]["output"]["voice"]
        done = await ask(client)
        assert done["audio"]["output"]["voice"] == shown
        lasted.append((shown, client.sound_ms(done["output"][0]["id"]) // 3))
        await asyncio.sleep(3)
    assert lasted == [("low", 240), ("agent", 120), ("low", 240), ("agent", 120)]


async def silence_ends_turns(client: ScriptedClient) -> None:
    await client.configure(audio={"input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 1_500}}})
    await client.hear(tone(300) + silence(1_300))
    assert client.told("input_audio_buffer.committed") == []
    await client.hear(silence(500))
    await client.expect("input_audio_buffer.committed")


async def padding_moves_the_start(client: ScriptedClient) -> None:
    starts = []
    for padding_ms in (0, 400):
        turns = {"type": "server_vad", "prefix_padding_ms": padding_ms}
        await client.configure(audio={"input": {"turn_detection": turns}})
        before_ms = client.call.state.appended_ms
        await client.hear(silence(1_000))
        await client.speak()
        await client.done(len(starts))
        started = client.told("input_audio_buffer.speech_started")[-1]["audio_start_ms"]
        starts.append(started - before_ms)
        await asyncio.sleep(3)
    assert starts[0] - starts[1] == 400


async def eagerness_ends_turns_sooner(client: ScriptedClient) -> None:
    assert isinstance(client.agent.ears, ToneEars)
    client.agent.ears.otherwise = "I would like to"  # the user may go on
    waits = []
    for eagerness in ("low", "high"):
        turns = {"type": "semantic_vad", "eagerness": eagerness}
        await client.configure(audio={"input": {"turn_detection": turns}})
        await client.hear(tone(300))
        before_ms = client.call.state.appended_ms
        while len(client.told("input_audio_buffer.committed")) == len(waits):
            await client.hear(silence(20))
        waits.append(client.call.state.appended_ms - before_ms)
        await client.done(len(waits) - 1)
        await asyncio.sleep(3)
    assert waits[1] < waits[0]


async def detection_is_chosen(client: ScriptedClient) -> None:
    await client.configure(audio={"input": {"turn_detection": None}})
    await client.speak()
    assert client.told("input_audio_buffer.committed") == []
    await client.send("input_audio_buffer.clear")
    for turns in (SERVER_VAD, SEMANTIC_VAD):
        await client.configure(audio={"input": {"turn_detection": turns}})
        told = client.told("session.updated")[-1]["session"]
        assert told["audio"]["input"]["turn_detection"]["type"] == turns["type"]
    await client.speak()
    await client.expect("input_audio_buffer.committed")


SESSION: dict[str, Probe] = {
    "type": Only("realtime", "transcription"),
    "instructions": Works(instructions_reach_the_brain),
    "output_modalities": Works(modalities_choose_text),
    "tools[].type": Works(tools_reach_the_brain),
    "tools[].name": Works(tools_reach_the_brain),
    "tools[].description": Works(tools_reach_the_brain),
    "tools[].parameters": Works(tools_reach_the_brain),
    "tool_choice": Works(tool_choice_none_hides_tools),
    "tool_choice.type": Refused("function", {"name": "get_weather"}),
    "tool_choice.name": Refused("get_weather", {"type": "function"}),
    "tool_choice.server_label": Refused("shop", {"type": "mcp"}),
    "audio.input.format.type": Works(input_format_is_heard),
    "audio.input.format.rate": Only(24_000, 16_000, {"type": "audio/pcm"}, "invalid_value"),
    "audio.input.noise_reduction.type": Refused("near_field"),
    "audio.input.noise_reduction.strength": Refused(0.5),
    "audio.input.transcription.model": Answered("whisper-1", "agent"),
    "audio.input.transcription.language": Only("en", "de"),
    "audio.input.transcription.languages": Only(["de", "en-GB"], ["de", "fr"]),
    "audio.input.transcription.prompt": Refused("Words about boats."),
    "audio.input.transcription.keywords": Refused(["jib"]),
    "audio.input.transcription.delay": Refused("low"),
    "audio.input.turn_detection.type": Works(detection_is_chosen),
    "audio.input.turn_detection.silence_duration_ms": Works(silence_ends_turns),
    "audio.input.turn_detection.prefix_padding_ms": Works(padding_moves_the_start),
    "audio.input.turn_detection.threshold": Only(0.5, 0.7, SERVER_VAD),
    "audio.input.turn_detection.idle_timeout_ms": Refused(6_000, SERVER_VAD),
    "audio.input.turn_detection.eagerness": Works(eagerness_ends_turns_sooner),
    "audio.input.turn_detection.create_response": Only(True, False, SERVER_VAD),
    "audio.input.turn_detection.interrupt_response": Only(True, False, SEMANTIC_VAD),
    "audio.output.format.type": Works(output_format_is_sent),
    "audio.output.format.rate": Only(24_000, 16_000, {"type": "audio/pcm"}, "invalid_value"),
    "audio.output.speed": Only(1.0, 1.2),
    "audio.output.voice": Works(voice_speaks),
    "audio.output.voice.id": Works(voice_speaks),
    "model": Answered("gpt-realtime", ""),
    "tracing": Answered("auto", None),
    "tracing.workflow_name": Refused("w"),
    "tracing.group_id": Refused("g"),
    "tracing.metadata": Refused({"a": "b"}),
    "truncation": Only("auto", "disabled"),
    "truncation.type": Refused("retention_ratio", {"retention_ratio": 0.8}),
    "truncation.retention_ratio": Refused(0.8, {"type": "retention_ratio"}),
    "truncation.token_limits.post_instructions": Refused(5_000),
    "include": Only(None, ["item.input_audio_transcription.logprobs"]),
    "max_output_tokens": Only("inf", 100),
    "parallel_tool_calls": Only(True, False),
    "prompt.id": Refused("p"),
    "prompt.version": Refused("2", {"id": "p"}),
    "prompt.variables": Refused({"a": "b"}, {"id": "p"}),
    "reasoning.effort": Refused("low"),
    **{path: Refused("x", MCP) for path in paths_of(RealtimeSessionCreateRequest) if path.startswith("tools[].")
       and path.partition(".")[2] not in ("type", "name", "description", "parameters")},
}  # fmt: skip


# -- Effects of a response's fields


async def instructions_of_one_response(client: ScriptedClient) -> None:
    await ask(client, instructions="Only now.")
    await ask(client)
    assert [request.instructions for request in brain_of(client).requests] == ["Only now.", ""]


async def modalities_of_one_response(client: ScriptedClient) -> None:
    kinds = [(await ask(client, output_modalities=[one]))["output"][0]["content"] for one in ("text", "audio")]
    assert [part[0]["type"] for part in kinds] == ["output_text", "output_audio"]


async def metadata_comes_back(client: ScriptedClient) -> None:
    done = await ask(client, metadata={"topic": "boats"})
    assert done["metadata"] == client.told("response.created")[0]["response"]["metadata"] == {"topic": "boats"}


async def tools_of_one_response(client: ScriptedClient) -> None:
    await ask(client, tools=[WEATHER])
    (tool,) = known_tools(client)
    assert (tool.name, tool.description) == (WEATHER["name"], WEATHER["description"])
    assert tool.parameters == WEATHER["parameters"]
    await ask(client)
    assert known_tools(client) == []


async def tool_choice_of_one_response(client: ScriptedClient) -> None:
    await client.configure(tools=[WEATHER])
    await ask(client, tool_choice="none")
    assert known_tools(client) == []
    await ask(client)
    assert [tool.name for tool in known_tools(client)] == ["get_weather"]


async def voice_of_one_response(client: ScriptedClient) -> None:
    lasted = []
    for fields in ({"audio": {"output": {"voice": "low"}}}, {}, {"audio": {"output": {"voice": {"id": "low"}}}}):
        done = await ask(client, **fields)
        lasted.append((done["audio"]["output"]["voice"], client.sound_ms(done["output"][0]["id"]) // 3))
        await asyncio.sleep(3)
    assert lasted == [("low", 240), ("agent", 120), ("low", 240)]


RESPONSE: dict[str, Probe] = {
    "conversation": Only("auto", "none"),
    "input": Refused([{"type": "message", "role": "user", "content": []}]),
    "instructions": Works(instructions_of_one_response),
    "metadata": Works(metadata_comes_back),
    "output_modalities": Works(modalities_of_one_response),
    "tools[].type": Works(tools_of_one_response),
    "tools[].name": Works(tools_of_one_response),
    "tools[].description": Works(tools_of_one_response),
    "tools[].parameters": Works(tools_of_one_response),
    "tool_choice": Works(tool_choice_of_one_response),
    "audio.output.format.type": Only("audio/pcm", "audio/pcmu"),
    "audio.output.voice": Works(voice_of_one_response),
    "audio.output.voice.id": Works(voice_of_one_response),
    **{path: SESSION[path] for path in paths_of(RealtimeResponseCreateParams) if path in SESSION
       and (path.startswith(("tools[].", "tool_choice.", "prompt.", "reasoning."))
            or path in ("max_output_tokens", "parallel_tool_calls", "audio.output.format.rate"))
       and not isinstance(SESSION[path], Works)},
}  # fmt: skip


async def send_session(client: ScriptedClient, fields: Any) -> dict[str, Any]:
    """Configure the session. Returns the session that the server answers with."""
    await client.send("session.update", session={"type": "realtime", **fields}, event_id="it", is_valid=False)
    told = client.told("session.updated")
    return told[-1]["session"] if told else {}


async def send_response(client: ScriptedClient, fields: Any) -> dict[str, Any]:
    """Ask for a response. Returns the response that the server answers with."""
    await client.write("hello")
    await client.send("response.create", response=fields, event_id="it", is_valid=False)
    if client.errors:
        return {}
    await client.done()
    shown: dict[str, Any] = client.told("response.created")[-1]["response"]
    return shown


FIELDS = {"session": (SESSION, RealtimeSessionCreateRequest, send_session),
          "response": (RESPONSE, RealtimeResponseCreateParams, send_response)}  # fmt: skip
CASES = [(kind, path) for kind, (_, model, _) in FIELDS.items() for path in paths_of(model)]


@pytest.mark.parametrize(("kind", "path"), CASES, ids=[f"{kind}.{path}" for kind, path in CASES])
def test_every_official_field_has_an_effect_or_is_refused_by_its_name(kind: str, path: str) -> None:
    probes, _, send = FIELDS[kind]
    assert path in probes, f"{kind}.{path} is new in the package openai: give it an effect, or refuse it"
    probe = probes[path]

    async def is_refused(client: ScriptedClient, value: Any, code: str = "unsupported_parameter") -> None:
        await send(client, with_field(path, value, probe.beside if not isinstance(probe, Works) else None))
        (event,) = client.told("error")
        error = event["error"]
        assert (error["code"], error["type"], error["event_id"]) == (code, "invalid_request_error", "it")
        named = error["param"].replace("[0]", "[]").removeprefix(f"{kind}.")
        assert (
            path == named or path.startswith(f"{named}.") or (path.startswith("tools[].") and named == "tools[].type")
        )
        assert error["param"] in error["message"]

    async def is_accepted(client: ScriptedClient, value: Any) -> dict[str, Any]:
        answer = await send(client, with_field(path, value, probe.beside if not isinstance(probe, Works) else None))
        assert client.told("error") == []
        return answer

    async def answers(client: ScriptedClient) -> None:
        assert isinstance(probe, Answered)
        shown: Any = await is_accepted(client, probe.sent)
        for name in path.removesuffix(".id").split("."):
            shown = shown[name]
        assert shown == probe.shown

    match probe:
        case Works():
            assert play(probe.check, tone_agent(voices={"low": ToneVoice(240)})).errors == []
        case Only():
            play(lambda client: is_accepted(client, probe.accepted), tone_agent())  # type: ignore[arg-type]
            play(lambda client: is_refused(client, probe.refused, probe.code), tone_agent())
        case Answered():
            play(answers, tone_agent())
        case Refused():
            play(lambda client: is_refused(client, probe.sent), tone_agent())


@pytest.mark.parametrize("kind", FIELDS)
def test_the_docs_say_of_every_official_field_what_happens(kind: str) -> None:
    probes, model, _ = FIELDS[kind]
    found = re.search(rf"<!-- {kind} fields -->\n(.*?)<!-- /{kind} fields -->", DOCS.read_text("utf-8"), re.DOTALL)
    assert found is not None
    documented: dict[str, str] = {}
    for line in found[1].splitlines()[3:]:
        if line.startswith("|"):
            _, names, what, _ = (cell.strip() for cell in re.split(r"(?<!\\)\|", line))
            documented |= dict.fromkeys(re.findall(r"`([^`]+)`", names), what)
    words = {Works: "has an effect", Only: "only", Answered: "answered", Refused: "refused"}
    for path in paths_of(model):
        pattern = next((one for one in documented if one.endswith(".*") and path.startswith(one[:-1])), "")
        what = documented.get(path, documented.get(pattern, ""))
        assert what.startswith(f"{words[type(probes[path])]}"), f"{path}: {what!r}"
    assert [one for one in documented if not one.endswith(".*") and one not in paths_of(model)] == []


def test_a_session_of_a_key_that_this_agent_cant_do_is_reported_and_left_out() -> None:
    async def script(client: ScriptedClient) -> None:
        (event,) = client.told("error")
        assert event["error"]["param"] == "session.audio.input.transcription.language"
        assert client.told("session.created")[0]["session"]["audio"]["input"]["transcription"] is None
        assert words_of(await ask(client)) == "You said hello."

    play(script, tone_agent(), config=SessionConfig(transcription=TranscriptWish(("de",))))
