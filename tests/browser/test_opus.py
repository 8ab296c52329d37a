"""Opus over the socket, decoded and encoded by a real browser: positions to the sample, reconnects, cues, failures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from playwright.async_api import expect
from playwright.sync_api import Page

from duologue.lines.opus import OpusDecoder
from duologue.server.voice_frames import OpusFrames
from tests.browser.agents_here import scripted
from tests.browser.fake_server import RATE_HZ, FakeServer
from tests.browser.scenes import begin, tone, until

BOTH = {"input": "opus", "output": "opus"}
LENGTHS = (2400, 2400, 37, 1_333, 2_400, 480, 61, 2_399, 420)  # in samples: chunks have any length
# What the player gives to its worklet, in a page that was just opened.
NOTE_PUSHES = """() => {
  window.pushes = [];
  const { player } = duologue;
  const post = player.post.bind(player);
  player.post = (message) => {
    if (message.do === "push") pushes.push({ ...message, samples: Array.from(message.samples) });
    post(message);
  };
}"""


@pytest.fixture
def talking(page: Page, server: FakeServer) -> Page:
    """A page that uses Opus both ways."""
    assert server.wait("hello")["audio"] == {"rate_hz": 16_000, "input": ["opus"], "output": ["opus"]}
    server.formats = BOTH
    server.forget()
    server.close(1012)
    server.wait("hello")
    page.evaluate(NOTE_PUSHES)
    begin(page, server)
    return page


def chunks_of(pcm: bytes, lengths: Sequence[int] = LENGTHS) -> list[bytes]:
    starts = np.cumsum((0, *lengths))
    assert starts[-1] * 2 <= len(pcm)
    return [pcm[start * 2 : (start + length) * 2] for start, length in zip(starts, lengths, strict=False)]


def played(page: Page, voice: int) -> np.ndarray[Any, Any]:
    """The samples of a voice at their places. Every place was given, and none after a gap."""
    pushes = [push for push in page.evaluate("pushes") if push["voice"] == voice]
    sound = np.zeros(max(push["from"] + len(push["samples"]) for push in pushes))
    end = pushes[0]["from"]
    for push in pushes:
        assert push["from"] <= end
        end = push["from"] + len(push["samples"])
        sound[push["from"] : end] = push["samples"]
    return sound


def likeness(sound: np.ndarray[Any, Any], pcm: bytes) -> float:
    """The signal-to-noise ratio in dB. A shift by one sample would cost most of it."""
    real = np.frombuffer(pcm, dtype="<i2").astype(float)
    assert len(sound) == len(real)
    return float(10 * np.log10((real**2).sum() / ((sound - real) ** 2).sum()))


def test_a_voice_has_every_sample_at_its_place_and_is_heard_to_the_millisecond(
    talking: Page, server: FakeServer
) -> None:
    frames, pcm = OpusFrames(), tone(0.5)[: sum(LENGTHS) * 2]
    for number, chunk in enumerate(chunks_of(pcm), 1):
        server.send_frame(frames.chunk(1, number, chunk))
    rest = frames.rest(1)
    assert rest is not None
    server.send_frame(rest)
    server.say("play", action="finish", voice=1)
    assert server.wait("finished") == {"voice": 1, "ms": round(sum(LENGTHS) * 1000 / RATE_HZ)}
    assert likeness(played(talking, 1), pcm) > 15
    assert talking.evaluate("duologue.player.ends.map(({ samples }) => samples)") == list(np.cumsum((0, *LENGTHS)))
    told = [each["ms"] for each in server.all("played")]
    assert told == sorted(told)


def test_after_a_lost_connection_the_voice_goes_on_at_the_same_sample(talking: Page, server: FakeServer) -> None:
    pcm = tone(3)
    whole = chunks_of(pcm, [2_400] * 30)
    frames = OpusFrames()
    for number in range(1, 11):
        server.send_frame(frames.chunk(1, number, whole[number - 1]))
    until(talking, "duologue.player.chunk === 9")  # the last one isn't complete
    server.forget()
    server.history = []
    server.close(1012)
    position = server.wait("hello")["played"]
    assert (position["voice"], position["chunk"]) == (1, 9)
    again = OpusFrames()  # of another server
    for number in range(10, 31):
        server.send_frame(again.chunk(1, number, whole[number - 1]))
    rest = again.rest(1)
    assert rest is not None
    server.send_frame(rest)
    server.say("play", action="resume", voice=1)
    server.say("play", action="finish", voice=1)
    assert server.wait("finished") == {"voice": 1, "ms": 3_000}
    assert likeness(played(talking, 1), pcm) > 15


def test_a_voice_that_runs_out_of_sound_is_completed_and_goes_on_at_the_same_sample(
    talking: Page, server: FakeServer
) -> None:
    frames, pcm = OpusFrames(), tone(0.5)[: sum(LENGTHS) * 2]
    for number, chunk in enumerate(chunks_of(pcm), 1):  # after each chunk the voice has no more sound for a moment
        server.send_frame(frames.chunk(1, number, chunk))
        rest = frames.rest(1)
        assert rest is not None
        server.send_frame(rest)
    server.say("play", action="finish", voice=1)
    assert server.wait("finished") == {"voice": 1, "ms": round(sum(LENGTHS) * 1000 / RATE_HZ)}
    assert likeness(played(talking, 1), pcm) > 10
    assert talking.evaluate("duologue.player.ends.map(({ samples }) => samples)") == list(np.cumsum((0, *LENGTHS)))


def test_a_clear_is_silent_at_once_and_packets_that_are_decoded_later_are_dropped(
    talking: Page, server: FakeServer
) -> None:
    frames = OpusFrames()
    for number, chunk in enumerate(chunks_of(tone(4), [2_400] * 40), 1):
        server.send_frame(frames.chunk(1, number, chunk))
    server.wait("played", 4)
    server.say("play", action="clear", voice=1)
    stopped = server.wait("stopped")
    assert stopped["voice"] == 1
    given = talking.evaluate("pushes.length")
    server.send_frame(frames.chunk(1, 41, tone(0.1)))
    server.send_frame(frames.chunk(2, 1, tone(0.2)))
    rest = frames.rest(2)
    assert rest is not None
    server.send_frame(rest)
    server.say("play", action="finish", voice=2)
    assert server.wait("finished") == {"voice": 2, "ms": 200}
    assert {push["voice"] for push in talking.evaluate("pushes")[given:]} == {2}


def test_a_cue_is_decoded_as_a_whole_and_a_stop_silences_one_that_is_being_decoded(
    talking: Page, server: FakeServer
) -> None:
    talking.evaluate(
        "() => { window.cues = []; const play = duologue.player.cues.play.bind(duologue.player.cues);"
        "duologue.player.cues.play = (cue, samples) => { cues.push([cue, samples.length]); play(cue, samples); }; }"
    )
    server.send_frame(OpusFrames().cue(7, tone(0.313)))
    server.send_frame(OpusFrames().cue(7, tone(0.2)))  # more of the same
    until(talking, "window.cues.length === 2")
    assert talking.evaluate("cues") == [[7, int(0.313 * RATE_HZ)], [7, int(0.2 * RATE_HZ)]]
    talking.evaluate(
        "(frame) => { duologue.player.receive(new Uint8Array(frame).buffer); duologue.player.cues.stop(); }",
        list(OpusFrames().cue(8, tone(0.2))),
    )
    server.send_frame(OpusFrames().cue(9, tone(0.1)))
    until(talking, "window.cues.length === 3")
    assert talking.evaluate("cues.at(-1)[0]") == 9


def test_the_microphone_comes_as_packets_of_20_ms(talking: Page, server: FakeServer) -> None:
    server.wait_frames(100)
    frames = server.frames[:]
    decoder = OpusDecoder(16_000)
    assert {frame[0] for frame in frames} == {1}
    assert {decoder.samples_of(frame[1:]) for frame in frames} == {320}
    sound = np.frombuffer(b"".join(decoder.decode_exactly(frame[1:], 320) for frame in frames), dtype="<i2")
    assert int(np.abs(sound).max()) > 500, "the fake microphone beeps"
    assert sum(len(frame) for frame in frames) * 8 / (len(frames) * 0.02) < 40_000


def test_a_browser_that_cannot_decode_connects_again_and_gets_pcm(talking: Page, server: FakeServer) -> None:
    server.forget()
    server.send_frame(b"\x01\x02\x3c\x00" + b"\x01\0\0\0" * 2 + b"\x60\x09\0\0" + b"\x03\0\xff\xff\xff")
    assert server.wait("hello")["audio"] == {"rate_hz": 16_000, "input": ["opus"], "output": []}


@pytest.mark.alone
@pytest.mark.req("C-UI", "C-INT-004")
async def test_a_spoken_turn_over_opus_is_understood_and_its_answer_is_heard_to_the_millisecond(
    visit: Any, real_ears: Any
) -> None:
    answer = "There is a table at seven, by the window."
    here = await visit(scripted([answer], real_ears), settings={"opus": True})
    panel = here.panel
    finished: list[dict[str, int]] = []

    def note(frame: str | bytes) -> None:
        if isinstance(frame, str) and '"finished"' in frame:
            finished.append(json.loads(frame)["payload"])

    panel.page.on("websocket", lambda socket: socket.on("framesent", note))
    await panel.page.reload()
    await panel.start()
    assert {name: (await panel.js("duologue.model.ready.audio"))[name] for name in BOTH} == BOTH
    client = here.host.served.client
    assert client is not None
    samples: Counter[int] = Counter()  # that the server has sent of each voice
    send_sound = client.send_sound

    def counted(voice: int, chunk: int, pcm: bytes) -> None:
        samples[voice] += len(pcm) // 2
        send_sound(voice, chunk, pcm)

    client.send_sound = counted
    await panel.say("Is there a table for two tonight?")
    await expect(panel.said_by("user").filter(has_text="table")).to_have_count(1)
    await expect(panel.said_by("assistant").filter(has_text=answer)).to_have_count(1)
    await panel.state("listening")
    assert [(item.text, item.unheard) for item in here.host.said] == [(answer, "")]
    ((voice, sent),) = samples.items()
    assert finished == [{"voice": voice, "ms": round(sent / 24)}]
    assert await panel.js("duologue.player.samples") == sent
    metrics = here.host.server.conversations.gauges()
    assert 'duologue_socket_sound_bytes_total{direction="input",format="pcm"} 0\n' in metrics
    assert 'duologue_socket_sound_bytes_total{direction="output",format="pcm"} 0\n' in metrics
