"""Cues on the page: heard beside the voice, silenced at once, and reported to no one."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import SCENES, agent, begin, tone, until, user

SCENE = {scene.name: scene for scene in SCENES}

LISTEN = """() => {
  const { cues } = duologue.player;
  const { context } = cues.sound;
  const analyser = new AnalyserNode(cues.sound.context, { fftSize: 1024 });
  cues.output.connect(analyser);
  window.cueLevel = () => {
    const samples = new Float32Array(1024);
    analyser.getFloatTimeDomainData(samples);
    return Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);
  };
  // When the page was told to stop, and when the last sound of a cue came out, on the clock of the sound itself. So a
  // page that is slow to look sees the same times, as long as it looks once in half a second.
  const window_s = 32768 / context.sampleRate;
  const whole = new AnalyserNode(context, { fftSize: 32768 });
  cues.output.connect(whole);
  window.cueTimes = { stopped: null, last: 0, looked: context.currentTime, gap: 0 };
  const stop = cues.stop.bind(cues);
  cues.stop = () => {
    cueTimes.stopped ??= context.currentTime;
    stop();
  };
  setInterval(() => {
    const now = context.currentTime;
    const samples = new Float32Array(32768);
    whole.getFloatTimeDomainData(samples);
    const at = samples.findLastIndex((x) => Math.abs(x) > 0.001);
    if (at >= 0) cueTimes.last = now - (samples.length - 1 - at) / context.sampleRate;
    cueTimes.gap = Math.max(cueTimes.gap, now - cueTimes.looked - window_s);
    cueTimes.looked = now;
  }, 50);
}"""
LOUD = "cueLevel() > 0.02"
SILENT = "cueLevel() < 0.0001"


def start_cue(page: Page, server: FakeServer, number: int, seconds: float) -> None:
    """A cue that can be heard, measured in what the page plays of cues."""
    server.cue(number, tone(seconds))
    until(page, "duologue.player.cues.output !== null")
    page.evaluate(LISTEN)
    until(page, LOUD)


STOP_MS_MAX = 100  # the fade of 15 ms, and what a context renders ahead


def is_silent_soon(page: Page) -> None:
    """The cue of 20 s is silent as soon as the page is told to."""
    until(page, SILENT)
    times = page.evaluate("cueTimes")
    assert times["stopped"] is not None
    assert times["gap"] <= 0, "the page has looked at all of the sound"
    assert (times["last"] - times["stopped"]) * 1000 <= STOP_MS_MAX


def test_a_cue_is_played_to_its_end_and_not_reported(page: Page, server: FakeServer) -> None:
    begin(page, server)
    start_cue(page, server, 1, 0.8)
    until(page, f"!duologue.player.cues.isSounding && {SILENT}")
    assert not server.all("played")
    assert not server.all("finished")
    assert page.evaluate("duologue.level().agent") == 0, "a cue is not the agent's voice"


def test_a_stopped_cue_is_silent_at_once(page: Page, server: FakeServer) -> None:
    begin(page, server)
    start_cue(page, server, 1, 20)
    server.say("cue", action="stop")
    is_silent_soon(page)
    assert not page.evaluate("duologue.player.cues.isSounding")


def test_the_first_chunk_of_a_voice_silences_the_cue_and_is_heard(page: Page, server: FakeServer) -> None:
    begin(page, server)
    start_cue(page, server, 1, 20)
    server.voice(1, 1, tone(0.3))
    server.say("play", action="finish", voice=1)
    is_silent_soon(page)
    assert server.wait("finished") == {"voice": 1, "ms": 300}


def test_another_cue_replaces_the_first_and_more_of_the_same_follows_it(page: Page, server: FakeServer) -> None:
    begin(page, server)
    start_cue(page, server, 1, 20)
    server.cue(2, tone(0.2))
    server.cue(2, tone(0.2))
    until(page, "duologue.player.cues.cue === 2 && duologue.player.cues.sources.length === 2")
    until(page, f"!duologue.player.cues.isSounding && {SILENT}")


def test_the_ambient_sound_is_repeated_quieter_under_a_voice_and_ends_with_the_conversation(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)
    server.ambient(tone(0.5))
    until(page, "duologue.player.cues.ambient?.source.loop")
    server.voice(1, 1, tone(3))
    until(page, "duologue.player.cues.ambient.gain.gain.value < 0.5")
    server.say("play", action="clear", voice=1)
    until(page, "duologue.player.cues.ambient.gain.gain.value > 0.9")
    server.say("ended", reason="user", canRestart=True)
    until(page, "duologue.player.cues.ambient === null")


LINE = '#lines > li[data-cue="true"]'


@pytest.mark.req("H-01.words", "C-UI")
def test_the_words_of_a_cue_can_be_read_until_the_answer_comes(page: Page, server: FakeServer) -> None:
    SCENE["told_why"].play(page, server)
    expect(page.locator(LINE)).to_contain_text("I'm still looking, one moment please.")
    server.say("cue", action="play", cue="sound", text="")
    agent(server, 2, "There is a table at eight.", final=False)
    expect(page.locator("#lines")).to_contain_text("There is a table at eight.")
    expect(page.locator(LINE)).to_have_count(0)


def test_words_about_the_wait_go_when_the_cue_is_silenced_and_an_apology_stays(page: Page, server: FakeServer) -> None:
    SCENE["told_why"].play(page, server)
    server.say("cue", action="stop")
    expect(page.locator(LINE)).to_have_count(0)
    server.say("cue", action="play", cue="apology", text="I'm sorry, please ask me again.")
    server.say("cue", action="stop")
    user(server, 2, "hello?")
    expect(page.locator("#lines > li").last).to_contain_text("hello?")
    expect(page.locator(LINE)).to_contain_text("I'm sorry, please ask me again.")
    assert page.locator("#lines > li").all_inner_texts()[-2].endswith("please ask me again."), "it was said before that"


def test_the_last_words_of_a_conversation_that_could_not_go_on_stay(page: Page, server: FakeServer) -> None:
    SCENE["told_why"].play(page, server)
    server.say("cue", action="play", cue="ended", text="I'm sorry, I can't go on. Goodbye.")
    server.say("ended", reason="fault", canRestart=True)
    expect(page.locator("#over")).to_be_visible()
    expect(page.locator(LINE)).to_contain_text("I'm sorry, I can't go on. Goodbye.")
