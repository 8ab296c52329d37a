"""A person talks to the page: a recording, a booking of our own voice, an interruption, a cough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spoken
from agents_here import desk
from playwright.async_api import expect

# What is said, and the beginning of the question that follows.
BOOKING = (
    ("I'd like a plane ticket.", "Where would you like to fly from"),
    ("London.", "Where would you like to fly to"),
    ("Paris.", "When would you like to depart"),
    ("Next Monday.", "How many people"),
    ("Two people.", "2 from London to Paris"),
)
REPEATS_MAX = 2  # of a whole booking: a person who is not understood says it again


@pytest.mark.req("C-UI", "C-INT-004")
async def test_a_booking_that_is_spoken_is_understood_and_answered_aloud(visit: Any, real_ears: Any) -> None:
    here = await visit(desk(real_ears))
    panel = here.panel
    await panel.start()
    await panel.state("listening")
    said = [*BOOKING]
    repeats = 0
    while said:
        words, question = said[0]
        turns = await panel.said_by("user").count()
        await panel.say(words)
        await expect(panel.said_by("user")).to_have_count(turns + 1)
        await panel.state("speaking")
        await panel.state("listening")
        print(await panel.transcript(), await panel.rendered_ms())
        if await panel.said_by("assistant").filter(has_text=question).count():
            said.pop(0)
        else:
            repeats += 1
            assert repeats <= REPEATS_MAX
    await panel.slot("origin", "London")
    await panel.slot("destination", "Paris")
    await panel.slot("passengers", "2")
    await panel.say("Yes.")
    await expect(panel.said_by("assistant").filter(has_text="It is booked")).to_have_count(1)
    await panel.state("listening")
