"""The panel shows what it is told, sends what the person does, and comes back by itself."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from duologue.core.views import PHASES
from duologue.observe.labels import label
from tests.web.fake_server import FakeServer
from tests.web.scenes import agent, begin, talked, tone, user


def label_of(page: Page) -> str:
    return page.locator("#state-label").inner_text()


# -- States


@pytest.mark.req("C-INT-003", "C-UI")
def test_every_state_is_shown_with_the_servers_label_at_once(page: Page, server: FakeServer) -> None:
    begin(page, server)
    for state in list(PHASES)[1:]:
        server.state(state)
        expect(page.locator("#state-label")).to_have_text(label(state))
        expect(page.locator("body")).to_have_attribute("data-phase", state)
    timings = page.evaluate("duologue.timings")
    assert len(timings) >= len(PHASES) - 1
    assert all(timing["shownAt"] >= timing["receivedAt"] for timing in timings), "how long is told by the bench"


def test_the_page_speaks_the_language_that_it_is_asked_for(page: Page, server: FakeServer) -> None:
    page.goto(f"{server.url}?lang=de")
    expect(page.locator("#start")).to_have_text("Gespräch beginnen")
    expect(page.locator("#state-label")).to_have_text("Bereit")
    assert page.evaluate("document.documentElement.lang") == "de"
    assert server.all("hello")[-1]["language"] == "de"


def test_every_text_is_there_in_every_language(page: Page) -> None:
    missing = page.evaluate(
        """async () => {
            const { LANGUAGES, textsIn } = await import("./texts.js");
            const source = await (await fetch("texts.js")).text();
            const keys = [...source.matchAll(/^  (\\w+): \\[/gm)].map(([, key]) => key);
            return keys.flatMap((key) => LANGUAGES.filter((language) => !textsIn(language)(key)).map((l) => [key, l]));
        }"""
    )
    assert missing == []


def test_the_reducer_changes_nothing_that_it_is_given(page: Page) -> None:
    final = page.evaluate(
        """async () => {
            const { firstModel, reduce } = await import("./model/model.js");
            const frozen = (value) => {
                if (value && typeof value === "object" && !Object.isFrozen(value)) {
                    Object.freeze(value);
                    Object.values(value).forEach(frozen);
                }
                return value;
            };
            const said = { role: "assistant", text: "Hello", unheard: " there", final: false, turn: 0, reply: 1 };
            const messages = [
                ["ready", { agent: { name: "Ada" }, labels: { idle: "Ready" } }],
                ["conversation", { conversation: "c", key: "k", resumed: false }],
                ["caption", said],
                ["caption", { ...said, final: true }],
                ["work", { event: "started", call: 1, tool: "look", mode: "tool" }],
                ["wait", { call: 1, stage: 0, label: "Working", detail: "" }],
                ["work", { event: "ended", call: 1, tool: "look", outcome: "done" }],
                ["dialogue", { flow: "f", title: "", question: "a", slots: [{ name: "a", state: "asked" }] }],
                ["debug", { rows: [], regions: {}, moments: [] }],
                ["moment", { at: 1, event: "E", fired: [], effects: [], regions: {} }],
                ["metrics", { stages: { speechEndToText: 1 } }],
                ["nonsense", {}],
                ["ended", { reason: "hung up", canRestart: true }],
            ];
            const sent = messages.map(([type, payload]) => frozen({ type: `duologue.${type}`, payload }));
            return sent.reduce((model, message) => frozen(reduce(model, message)), frozen(firstModel()));
        }"""
    )
    assert final["captions"][0]["interrupted"] is True
    assert final["dialogue"]["slots"] == [{"name": "a", "state": "empty"}]
    assert final["work"][0]["outcome"] == "done"


# -- Words


def test_the_agents_words_are_dim_until_they_are_heard_and_struck_through_when_cut_off(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)
    agent(server, 1, "There is a table", "at seven or at nine.", final=False)
    expect(page.locator(".unheard")).to_have_text("at seven or at nine.")
    agent(server, 1, "There is a table at seven", "or at nine.")
    expect(page.locator(".heard")).to_have_text("There is a table at seven")
    expect(page.locator("del.cut")).to_have_text("not heard: or at nine.")
    expect(page.locator("#announcer")).to_have_text("Ada: There is a table at seven, not heard: or at nine.")
    expect(page.locator(".line")).to_have_count(1)


def test_partial_words_of_the_person_are_replaced_and_noise_goes_away(page: Page, server: FakeServer) -> None:
    begin(page, server)
    user(server, 1, "a tab", final=False)
    user(server, 1, "a table for two")
    expect(page.locator(".said")).to_have_text("a table for two")
    user(server, 2, "hm", final=False)
    expect(page.locator(".line")).to_have_count(2)
    server.say("turn", event="turn-dropped", turnId="turn-2", role="user", why="noise")
    expect(page.locator(".line")).to_have_count(1)
    server.say("turn", event="turn-dropped", turnId="turn-1", role="user", why="overheard")
    expect(page.locator(".mark-of")).to_have_text("overheard")


def test_typing_works_without_a_microphone(browser: Browser, server: FakeServer) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(
        "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('no', 'NotAllowedError'))"
    )
    page.goto(server.url)
    begin(page, server)
    expect(page.locator("#microphone-trouble")).to_contain_text("The microphone is blocked")
    expect(page.locator("#typed")).to_be_focused()
    page.keyboard.type("a table for two")
    page.keyboard.press("Enter")
    assert server.wait("type")["text"] == "a table for two"
    expect(page.locator("#typed")).to_have_value("")
    context.close()


# -- Work and tasks


def test_slots_fill_in_and_jobs_can_be_answered_and_cancelled(page: Page, server: FakeServer) -> None:
    talked(page, server)
    expect(page.locator("#task .slot[data-state=asked]")).to_contain_text("Asking now")
    server.say("work", event="started", call=7, tool="order_flowers", mode="dispatch")
    server.say("work", event="progressed", call=7, tool="order_flowers", text="halfway", fraction=0.5)
    expect(page.locator("#work [role=progressbar]")).to_have_attribute("aria-valuenow", "50")
    server.say("work", event="asked", call=7, tool="order_flowers", question="Roses or tulips?")
    page.get_by_label("Roses or tulips?").fill("tulips")
    page.keyboard.press("Enter")
    assert server.wait("answer") == {"call": 7, "text": "tulips"}
    expect(page.get_by_label("Roses or tulips?")).to_be_hidden()
    page.get_by_role("button", name="Cancel order flowers").click()
    assert server.wait("cancel") == {"call": 7}
    server.say("work", event="ended", call=7, tool="order_flowers", outcome="cancelled", durationMs=1200)
    expect(page.locator("#work .job-note")).to_have_text("Cancelled · 1.2 s")


@pytest.mark.req("L-10", "C-GUD-003")
def test_a_wait_says_for_what_and_how_it_goes(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.state("working", "thinking", "ToolCalled")
    server.say("work", event="started", call=1, tool="find_tables", mode="tool")
    server.say("wait", call=1, stage=1, label="Still working", detail="room two")
    expect(page.locator("#state-hint")).to_have_text("Waiting for find tables · Still working: room two")
    server.state("speaking", "working")
    expect(page.locator("#state-hint")).not_to_contain_text("Still working")


def test_a_fault_offers_a_retry(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.state("error", "thinking")
    what = {"level": "error", "code": "SERVER_ERROR", "message": "Retry in a moment.", "fatal": False}
    server.say("notification", **what, actions=["retry", "dismiss"])
    page.get_by_role("alert").get_by_role("button", name="Try again").click()
    server.wait("retry")
    expect(page.locator(".notice")).to_have_count(0)


# -- Controls


def test_the_space_bar_talks_while_it_is_held_but_not_in_the_text_box(page: Page, server: FakeServer) -> None:
    begin(page, server)
    page.locator("#modes input[value=push]").click()
    page.locator("#hold").focus()
    server.frames.clear()
    page.wait_for_timeout(700)
    silent = len(server.frames)
    page.keyboard.down("Space")
    server.wait("press")
    expect(page.locator("#hold")).to_contain_text("Release to send")
    server.wait_frames(silent + 6)
    page.keyboard.up("Space")
    server.wait("release")
    assert silent <= 17, "a closed gate sends a short tail of silence and then nothing"
    page.locator("#typed").focus()
    page.keyboard.press("Space")
    assert len(server.all("press")) == 1


def test_the_buttons_send_what_they_say(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.state("speaking", "thinking")
    page.get_by_role("button", name="Hush").click()
    server.wait("interrupt")
    page.get_by_role("button", name="Pause").click()
    server.wait("suspend")
    server.state("paused", "speaking")
    page.get_by_role("button", name="Go on").click()
    server.wait("resume")
    page.get_by_role("button", name="Mute").click()
    expect(page.get_by_role("button", name="Unmute")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="End", exact=True).click()
    server.wait("end")
    expect(page.locator("#start")).to_have_text("Start again")
    expect(page.locator("#start")).to_be_focused()


def test_everything_can_be_reached_with_the_tab_key(page: Page, server: FakeServer) -> None:
    talked(page, server)
    page.locator(".skip").focus()
    reached = []
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    wanted = ["hood-toggle", "theme-toggle", "mute", "pause", "end", "mode", "captions", "typed", "send"]
    assert [name for name in reached if name in wanted][: len(wanted)] == wanted


def test_the_theme_can_be_turned_and_is_remembered(page: Page, server: FakeServer) -> None:
    page.emulate_media(color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(ground) != light
    page.reload()
    assert page.evaluate(ground) != light


# -- The line


def test_a_lost_line_comes_back_with_its_conversation(page: Page, server: FakeServer) -> None:
    talked(page, server)
    said = {"unheard": "", "reply": 0, "overheard": False, "interrupted": False}
    server.history = [{**said, "role": "user", "text": "a table for two", "turn": 1}]
    server.voice(3, 1, tone(0.3))
    server.wait("played")
    server.close(1012)
    hello = server.wait("hello", 2)
    assert (hello["conversation"], hello["key"]) == ("c1", "secret")
    assert hello["played"]["voice"] == 3
    assert hello["played"]["chunk"] == 1
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator(".said")).to_have_text("a table for two")


def test_a_reload_goes_on_in_mid_conversation(page: Page, server: FakeServer) -> None:
    talked(page, server)
    server.history = [{"role": "assistant", "text": "Good evening.", "reply": 1}]
    page.get_by_role("button", name="Mute").click()
    page.reload()
    assert server.wait("hello", 2)["conversation"] == "c1"
    expect(page.locator(".said")).to_have_text("Good evening.")
    expect(page.locator("#end")).to_be_visible()
    expect(page.get_by_role("button", name="Unmute")).to_be_visible()


def test_a_conversation_that_the_server_has_forgotten_ends_with_its_words_on_the_screen(
    page: Page, server: FakeServer
) -> None:
    talked(page, server)
    server.close(1012)
    server.wait("hello", 2)
    expect(page.locator("#over")).to_contain_text("could not be picked up again", timeout=30_000)
    expect(page.locator(".line")).to_have_count(2)
    assert page.evaluate("sessionStorage.getItem('duologue.conversation')") is None


def test_after_45_seconds_it_offers_a_retry_and_the_transcript(page: Page, server: FakeServer) -> None:
    page.clock.install()
    talked(page, server)
    server.refusal = (4503, "stopping")
    server.close(1012)
    for _ in range(60):
        if page.locator("#banner button").count():
            break
        page.clock.run_for(1000)
    expect(page.locator("#banner")).to_contain_text("What was said is still here")
    assert 8 <= len(server.all("hello")) <= 14
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the transcript").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert "You: Hi, I'd like a table for two on Friday" in text
    server.refusal = None
    server.history = []
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#banner")).to_be_hidden()


# -- Writing that is not lost


def write(page: Page, words: str) -> None:
    page.locator("#typed").fill(words)
    page.keyboard.press("Enter")


@pytest.mark.req("L-14")
def test_what_was_written_is_sent_again_until_it_is_safe(page: Page, server: FakeServer) -> None:
    begin(page, server)
    write(page, "a table for two")
    write(page, "and a window")
    first, second = server.wait("type"), server.wait("type", 2)
    assert first["id"] != second["id"]
    server.say("typed", id=first["id"])
    server.history = []
    server.close(1012)
    assert server.wait("type", 3) == second, "the same message, by the same id"
    server.say("typed", id=second["id"])
    server.close(1012)
    server.wait("hello", 3)
    page.wait_for_timeout(300)
    assert len(server.all("type")) == 3
    assert page.evaluate("sessionStorage.getItem('duologue.unsent')") is None


@pytest.mark.req("L-14")
def test_what_is_written_without_a_line_waits_for_one_and_says_so(page: Page, server: FakeServer) -> None:
    begin(page, server)
    server.history = []
    server.refusal = (4503, "stopping")
    server.close(1012)
    expect(page.locator("#banner")).to_be_visible()
    write(page, "are you there")
    line = page.locator(".line[data-unsent=true]")
    expect(line.locator(".said")).to_have_text("are you there")
    expect(line.locator(".mark-of")).to_have_text("not sent yet")
    expect(page.locator("#typed")).to_have_value("")
    server.refusal = None
    sent = server.wait("type", seconds=30)
    assert sent["text"] == "are you there"
    user(server, 1, "are you there")
    server.say("typed", id=sent["id"])
    expect(page.locator(".line")).to_have_count(1)
    expect(line).to_have_count(0)


@pytest.mark.req("L-14")
def test_a_reload_keeps_what_was_written_and_is_not_safe_yet(page: Page, server: FakeServer) -> None:
    begin(page, server)
    write(page, "before the reload")
    sent = server.wait("type")
    server.history = []
    page.reload()
    assert server.wait("type", 2) == sent
    server.say("typed", id=sent["id"])
    page.wait_for_function("sessionStorage.getItem('duologue.unsent') === null")


def test_what_never_went_stays_to_be_read_and_is_not_sent_to_another_conversation(
    page: Page, server: FakeServer
) -> None:
    begin(page, server)
    write(page, "for nobody")
    server.wait("type")
    server.say("ended", reason="hung up", canRestart=True)
    expect(page.locator(".line[data-unsent=true] .said")).to_have_text("for nobody")
    page.locator("#start:not([disabled])").click()
    server.wait("start", 2)
    page.locator("#end").wait_for()
    server.history = []
    server.close(1012)
    server.wait("hello", 2)
    page.wait_for_timeout(300)
    assert len(server.all("type")) == 1


@pytest.mark.parametrize("code", [4409, 4410])
def test_a_conversation_in_another_tab_can_be_taken_over(page: Page, server: FakeServer, code: int) -> None:
    page.locator("#start:not([disabled])").wait_for()
    server.refusal = (code, "elsewhere")
    server.close(code)
    page.get_by_role("button", name="Use it here").click()
    assert server.wait("hello", 2)["take_over"] is True
    expect(page.locator("#start")).to_be_visible()


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (4400, "did not understand"),
        (4403, "does not accept"),
        (4426, "newer version"),
        (1009, "too large"),
    ],
)
def test_a_refusal_is_told_in_words(page: Page, server: FakeServer, code: int, says: str) -> None:
    page.locator("#start:not([disabled])").wait_for()
    server.close(code, "because")
    expect(page.locator("#gate")).to_contain_text(says)
    page.wait_for_timeout(600)
    assert len(server.all("hello")) == 1


def test_a_token_is_asked_for_and_leaves_the_address(browser: Browser, server: FakeServer) -> None:
    server.token = "open sesame"
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url)
    page.get_by_label("Token").fill("open sesame")
    page.keyboard.press("Enter")
    expect(page.locator("#start")).to_be_enabled()
    page.goto(f"{server.url}?token=open%20sesame")
    expect(page.locator("#start")).to_be_enabled()
    expect(page).to_have_url(re.compile(r"/$"))
    context.close()
