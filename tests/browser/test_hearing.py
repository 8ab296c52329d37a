"""Is the user heard? Label, hint and picture say what the server says, and "listening" only while it is so."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from duologue.core.views import PHASES
from duologue.observe.hearing_fact import HearingStatus
from tests.browser.fake_server import FakeServer
from tests.browser.scenes import SCENES, begin

SCENE = {scene.name: scene for scene in SCENES}
OPEN = ("listening", "user_speaking", "interrupted")
LABELS = {"loading": "One moment", "muted": "Muted", "broken": "I can't hear you", "none": "Your turn"}


@pytest.mark.req("H-11.shown")
@pytest.mark.parametrize("hearing", [status.value for status in HearingStatus if status.value != "on"])
def test_an_open_floor_is_called_listening_only_if_the_user_is_heard(
    page: Page, server: FakeServer, hearing: str
) -> None:
    begin(page, server)
    server.status(hearing=hearing)
    for phase in OPEN:
        server.state(phase)
        expect(page.locator("body")).to_have_attribute("data-phase", phase)
        expect(page.locator("#state-label")).to_have_text(LABELS[hearing])
        assert page.locator("#state-hint").inner_text()
        assert "listening" not in page.title().lower()
    server.status(hearing="on")
    server.state("listening")
    expect(page.locator("#state-label")).to_have_text("Listening")


# The computed accent, and the computed colour of a token.
ACCENT = """(token) => {
  const probe = document.createElement("i");
  probe.style.setProperty("color", `var(--${token})`);
  document.body.append(probe);
  const wanted = getComputedStyle(probe).color;
  probe.style.setProperty("color", "var(--accent)");
  const found = getComputedStyle(probe).color;
  probe.remove();
  return [found, wanted];
}"""
ACCENTS = {"on": "teal", "loading": "blue", "muted": "quiet", "broken": "red", "none": "quiet"}


@pytest.mark.req("H-11.shown")
@pytest.mark.parametrize("hearing", [status.value for status in HearingStatus])
def test_the_colour_of_an_open_floor_shows_whether_the_user_is_heard(
    page: Page, server: FakeServer, hearing: str
) -> None:
    begin(page, server)
    server.status(hearing=hearing)
    for phase in OPEN:
        server.state(phase)
        expect(page.locator("body")).to_have_attribute("data-phase", phase)
        expect(page.locator("body")).to_have_attribute("data-hearing", hearing)
        found, wanted = page.evaluate(ACCENT, ACCENTS[hearing])
        assert found == wanted, phase


@pytest.mark.req("H-11.shown")
def test_the_other_phases_keep_their_labels_whether_the_user_is_heard_or_not(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.status(hearing="muted")
    for phase in [phase for phase in list(PHASES)[1:] if phase not in OPEN]:
        server.state(phase)
        expect(page.locator("body")).to_have_attribute("data-phase", phase)
        expect(page.locator("#state-label")).not_to_have_text("Muted")


@pytest.mark.req("H-11.shown")
def test_the_mute_button_tells_the_server_and_never_leaves_listening_on_the_screen(
    page: Page, server: FakeServer
) -> None:
    SCENE["muted"].play(page, server)
    assert server.wait("microphone", count=2) == {"state": "muted"}
    expect(page.locator("#state-label")).to_have_text("Muted")
    expect(page.locator("#state-hint")).to_contain_text("Unmute it, or write")
    page.locator("#mute").click()
    expect(page.locator("#state-label")).to_have_text("Listening")
    assert server.wait("microphone", count=3) == {"state": "on"}


def test_a_conversation_that_starts_muted_never_says_listening(page: Page, server: FakeServer) -> None:
    SCENE["muted"].play(page, server)
    page.locator("#end").click()
    page.evaluate(
        """() => {
          window.labels = [];
          const label = document.getElementById("state-label");
          new MutationObserver(() => window.labels.push(label.textContent)).observe(label, { childList: true });
        }"""
    )
    page.locator("#start:not([disabled])").click()
    expect(page.locator("#state-label")).to_have_text("Muted")
    assert server.wait("start", count=2) == {"microphone": "muted"}
    assert "Listening" not in page.evaluate("window.labels")


# The contrast of two colours by WCAG: 3 is enough for an icon.
CONTRAST = """(disc) => {
  const paper = document.createElement("canvas").getContext("2d");
  const light = (colour) => {
    paper.fillStyle = colour;
    paper.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...paper.getImageData(0, 0, 1, 1).data].map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const { color, backgroundColor } = getComputedStyle(disc);
  const [low, high] = [light(color), light(backgroundColor)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("pressed", ["mute", "pause"])
def test_a_pressed_button_can_be_read_also_under_the_mouse(
    page: Page, server: FakeServer, pressed: str, theme: Literal["light", "dark"]
) -> None:
    page.emulate_media(color_scheme=theme)
    begin(page, server)
    disc = page.locator(f"#{pressed} .disc")
    assert disc.evaluate(CONTRAST) >= 7
    if pressed == "pause":
        server.state("paused", "listening", "SuspendRequested")
    else:
        page.locator("#mute").click()
    expect(page.locator(f"#{pressed}")).to_have_attribute("aria-pressed", "true")
    for place in (f"#{pressed}", "#typed"):
        page.locator(place).hover()
        assert disc.evaluate(CONTRAST) >= 7


def test_push_to_talk_says_your_turn_until_the_button_is_held(page: Page, server: FakeServer) -> None:
    SCENE["pushing"].play(page, server)
    expect(page.locator("#state-label")).to_have_text("Your turn")


@pytest.mark.req("H-11.shown")
def test_a_page_that_only_writes_has_no_ears(page: Page, server: FakeServer) -> None:
    SCENE["writing_only"].play(page, server)
    expect(page.locator("body")).to_have_attribute("data-hearing", "none")
    expect(page.locator("#state-label")).to_have_text("Your turn")
    expect(page.locator("#state-hint")).to_have_text("Write something below")
