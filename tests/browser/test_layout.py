"""The page in windows of every size and in five languages: nothing is cut off, and nothing covers anything else."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.fake_server import FakeServer
from tests.browser.scenes import SCENES

SCENE = {scene.name: scene for scene in SCENES}
SIZES = {"desk": (1280, 800), "low": (900, 420), "phone": (390, 844), "tiny": (360, 600), "across": (844, 390)}
LANGUAGES = ["en", "de", "es", "fr", "ja"]
# Texts and buttons that stick out of the window or of the part they are in, that are cut off, or that are covered.
WRONG = """() => {
  const found = [];
  const box = (element) => element.getBoundingClientRect();
  const seen = (element) => element.checkVisibility() && box(element).width > 1 && box(element).height > 1;
  const names = ".top span, .top button, .state-label, .state-hint, .primary, .hold, .disc, .caption, .modes label, " +
    ".meter, .notice p, .notice button, .banner p, .banner button";
  for (const element of document.querySelectorAll(names)) {
    if (!seen(element)) continue;
    const { left, right, top, bottom } = box(element);
    const around = box(element.closest(".talk, .stage, .controls, .top"));
    const name = `${element.className || element.id || element.tagName} "${element.textContent.trim().slice(0, 30)}"`;
    if (left < around.left - 1 || right > around.right + 1) found.push(`${name}: outside of its part`);
    if (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight) found.push(`${name}: outside of the window`);
    const isCut = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflow !== "visible";
    if (isCut) found.push(`${name}: cut off`);
  }
  const hint = document.getElementById("state-hint");
  for (const button of document.querySelectorAll(".primary, .hold, .disc, .card, .talk")) {
    if (!seen(button) || !hint.textContent) continue;
    const [one, other] = [box(hint), box(button)];
    const above = one.bottom <= other.top + 1 || one.top >= other.bottom;
    const beside = one.right <= other.left || one.left >= other.right;
    if (!above && !beside) found.push(`the hint is covered by ${button.className}`);
  }
  return found;
}"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("scene", ["offered", "retrying", "pushing", "broken_ears", "beyond_repair"])
def test_nothing_is_cut_off_or_covered_in_any_window(page: Page, server: FakeServer, scene: str, language: str) -> None:
    page.goto(f"{server.url}?lang={language}")
    SCENE[scene].play(page, server)
    found = {}
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(30)
        if wrong := page.evaluate(WRONG):
            found[size] = wrong
    assert not found


ROOM = "document.getElementById('captions').clientHeight"


@pytest.mark.parametrize(("width", "height"), [*SIZES.values(), (800, 600), (1100, 520)])
def test_a_small_window_leaves_room_for_the_words(page: Page, server: FakeServer, width: int, height: int) -> None:
    SCENE["queueing"].play(page, server)
    page.set_viewport_size({"width": width, "height": height})
    assert page.evaluate(ROOM) >= 200
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


@pytest.mark.parametrize(("width", "height"), [(900, 420), (1280, 480), (1280, 800)])
def test_beside_the_debug_view_there_is_room_for_the_words(
    page: Page, server: FakeServer, width: int, height: int
) -> None:
    SCENE["queueing"].play(page, server)
    page.locator("#hood-toggle").click()
    page.set_viewport_size({"width": width, "height": height})
    assert page.evaluate(ROOM) >= 110
    expect(page.locator("#composer")).to_be_in_viewport(ratio=0.99)


@pytest.mark.parametrize("width", [390, 900, 1280, 1600])
def test_no_figure_of_the_debug_view_sticks_out_of_its_cell(page: Page, server: FakeServer, width: int) -> None:
    SCENE["hood"].play(page, server)
    page.set_viewport_size({"width": width, "height": 800})
    right = "(one) => one.getBoundingClientRect().right"
    outside = f"""() => [...document.querySelectorAll(".measure")]
      .filter((one) => ({right})(one.querySelector(".figure")) > ({right})(one) - 8).length"""
    assert page.evaluate(outside) == 0


@pytest.mark.parametrize("scene", ["faulted", "beyond_repair"])
@pytest.mark.parametrize("size", SIZES)
def test_notices_leave_room_for_the_words(page: Page, server: FakeServer, size: str, scene: str) -> None:
    page.goto(f"{server.url}?lang=de")  # where the notices are longest
    SCENE[scene].play(page, server)
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    assert page.evaluate(ROOM) >= 100


@pytest.mark.parametrize(("width", "height"), [(800, 420), (844, 390), (390, 844)])
def test_a_notice_cuts_off_no_task_if_there_is_room_for_it(
    page: Page, server: FakeServer, width: int, height: int
) -> None:
    SCENE["beyond_repair"].play(page, server)
    page.set_viewport_size({"width": width, "height": height})
    expect(page.locator(".notice")).to_be_visible()
    expect(page.locator(".slots dd").last).to_be_in_viewport(ratio=0.99)


@pytest.mark.parametrize("size", SIZES)
def test_what_one_could_say_a_result_and_running_work_are_in_sight_in_every_window(
    page: Page, server: FakeServer, size: str
) -> None:
    width, height = SIZES[size]
    for scene, place, words in (
        ("offered", ".offered li >> nth=-1", "“Is my flight on time”"),
        ("booked", '#task .slot[data-state="result"] dd', "BK1234"),
        ("queueing", ".job-head", "Find tables"),
    ):
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(server.url)
        SCENE[scene].play(page, server)
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator(place)).to_contain_text(words, ignore_case=True)
        expect(page.locator(place)).to_be_in_viewport(ratio=0.99)
        if scene != "offered":
            page.locator("#end").click()
