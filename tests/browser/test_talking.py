"""A person talks to the page: a recording, a booking of our own voice, an interruption, a hum, a button."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from duologue import Agent
from tests.browser import spoken
from tests.browser.agents_here import STORY, desk, scripted
from tests.browser.panel_page import OWN_MICROPHONE, Panel

BECKETT = "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."
# What is said, and the beginning of what is asked then.
BOOKING = (
    ("I'd like a plane ticket.", "Where would you like to fly from"),
    ("London.", "Where would you like to fly to"),
    ("Paris.", "When would you like to depart"),
    ("Next Monday.", "How many people"),
    ("Two people.", "From London to Paris"),
)
REPEATS_MAX = 2  # of a whole booking: a person who is not understood says it again


@pytest.mark.req("C-UI")
async def test_what_is_said_into_the_microphone_can_be_read(visit: Any, real_ears: Any, microphone_file: Path) -> None:
    spoken.write_wav(microphone_file, spoken.recording("beckett.wav"))
    here = await visit(Agent(lambda request: "I see.", ears=real_ears), OWN_MICROPHONE)
    panel = here.panel
    await panel.start()
    await panel.when("window.duologue.level().microphone > 0.01")
    await expect(panel.page.get_by_role("meter")).not_to_have_attribute("aria-valuenow", "0")
    await expect(panel.said_by("user").filter(has_text="better")).to_have_count(1)
    said = " ".join(heard for role, heard, _ in await panel.transcript() if role == "user")
    assert spoken.word_errors(BECKETT, said) <= 0.25, said


@pytest.mark.req("C-UI", "C-INT-004")
async def test_a_booking_that_is_spoken_is_understood_and_answered_aloud(visit: Any, real_ears: Any) -> None:
    panel = (await visit(desk(real_ears))).panel
    await panel.start()
    await panel.been("speaking")
    await panel.state("listening")
    assert await panel.rendered_ms() > 1_000  # the greeting was heard
    to_say, repeats = [*BOOKING], 0
    while to_say:
        words, question = to_say[0]
        turns, answers = await panel.said_by("user").count(), await panel.times_in("speaking")
        await panel.say(words)
        await expect(panel.said_by("user")).to_have_count(turns + 1)
        await panel.been("speaking", answers + 1)
        await panel.when("window.duologue.player.samples > 0")
        await panel.state("listening")
        if await panel.said_by("assistant").filter(has_text=question).count():
            to_say.pop(0)
        else:
            repeats += 1
            assert repeats <= REPEATS_MAX, await panel.transcript()
    await panel.slot("origin", "London")
    await panel.slot("destination", "Paris")
    await panel.slot("passengers", "2")
    await panel.say("Yes.")
    await expect(panel.said_by("assistant").filter(has_text="It is booked")).to_have_count(1)
    await panel.state("listening")


@pytest.mark.req("C-INT-004", "C-UI")
async def test_an_interruption_shows_the_unheard_rest_struck_through(visit: Any, real_ears: Any) -> None:
    here = await visit(scripted([STORY, "All right."], real_ears, wpm=170))
    panel = here.panel
    await panel.start()
    await panel.write("tell me a story")
    await panel.when("window.duologue.player.ms(window.duologue.player.samples) > 2500")
    await panel.watch_player()
    await panel.say("Please stop talking now.")  # in one breath: a pause would make two interruptions of it
    cut = panel.page.locator("#lines del:visible")
    await expect(cut).to_have_count(1)
    assert "clear" in panel.plays  # it was told to be silent, and it was
    assert {"held", "stopped"} & set(await panel.player_told())
    await expect(panel.said_by("assistant").filter(has_text="All right.")).to_have_count(1)
    await panel.state("listening")
    shown = [(heard, cut) for role, heard, cut in await panel.transcript() if role == "assistant"]
    kept = [(" ".join(item.text.split()), " ".join(item.unheard.split())) for item in here.host.said]
    assert shown == kept
    heard, unheard = shown[0]
    assert heard.startswith("There was once a miller")
    assert f"{heard} {unheard}" == STORY


@pytest.mark.req("C-INT-004")
async def test_a_hum_never_costs_a_sentence(visit: Any, real_ears: Any) -> None:
    here = await visit(scripted([STORY], real_ears))
    panel = here.panel
    await panel.start()
    await panel.write("tell me a story")
    await panel.when("window.duologue.player.ms(window.duologue.player.samples) > 1500")
    await panel.watch_player()
    await panel.play(spoken.hum())
    await panel.state("listening")
    assert panel.plays.count("hold") >= 1  # it was heard, and the voice waited
    assert panel.plays.count("resume") == panel.plays.count("hold")
    assert "held" in await panel.player_told()
    assert "clear" not in panel.plays, await panel.transcript()
    # A model may read "mm" into a hum: that is shown as overheard, and never answered.
    answered = [line for line, overheard in await panel.lines_read() if not overheard]
    assert answered == [("user", "tell me a story", ""), ("assistant", STORY, "")]
    assert [item.text for item in here.host.said] == [STORY]


@pytest.mark.req("C-UI")
@pytest.mark.parametrize("way", ["button", "space"])
async def test_push_to_talk_is_heard_only_while_pushed(visit: Any, real_ears: Any, way: str) -> None:
    panel = (await visit(scripted(["Paris it is."], real_ears))).panel
    await panel.start()
    await panel.page.get_by_role("radio", name="Push to talk").check()
    await panel.say("London.")
    await _hold(panel, way)
    await expect(panel.button("hold")).to_have_attribute("data-pressed", "true")
    await panel.say("Paris.")
    await _let_go(panel, way)
    await expect(panel.said_by("assistant").filter(has_text="Paris it is.")).to_have_count(1)
    said = [heard for role, heard, _ in await panel.transcript() if role == "user"]
    assert len(said) == 1
    assert "Paris" in said[0]


async def _hold(panel: Panel, way: str) -> None:
    if way == "button":
        await panel.button("hold").hover()
        await panel.page.mouse.down()
    else:
        await panel.page.evaluate("document.activeElement.blur()")
        await panel.page.keyboard.down("Space")


async def _let_go(panel: Panel, way: str) -> None:
    if way == "button":
        await panel.page.mouse.up()
    else:
        await panel.page.keyboard.up("Space")
