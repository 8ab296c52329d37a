"""The simulated telephone menu: keys, wrong keys, waits, and the end."""

from __future__ import annotations

import asyncio

from duologue.audio.g711 import pcm_to_ulaw
from duologue.lab.sim.call_script import Say
from duologue.lab.sim.phone_menu import MenuPage, MenuState, PhoneMenu, press, serve_menu, time_out
from duologue.lab.sim.scripted_carrier import ScriptedCarrier
from duologue.lines.phone.carriers import TWILIO, write_media
from duologue.lines.phone.tones import tones_of
from duologue.runtime.simulated_clock import run_simulated

MENU = PhoneMenu(
    {
        "main": MenuPage("Press 1 or 22.", {"1": "card", "22": "end"}),
        "card": MenuPage("Your card?", {"47#": "end"}),
        "end": MenuPage("Goodbye."),
    },
    "main",
    tries_max=2,
)
MAIN = MenuState("main")


def test_a_key_leads_to_its_page() -> None:
    assert press(MENU, MAIN, "1") == (MenuState("card"), "Your card?")


def test_an_option_of_two_keys_waits_for_the_second() -> None:
    state, said = press(MENU, MAIN, "2")
    assert (state.typed, said) == ("2", "")
    assert press(MENU, state, "2") == (MenuState("end"), "Goodbye.")


def test_a_wrong_key_is_told_and_the_page_is_said_again_until_the_menu_hangs_up() -> None:
    state, said = press(MENU, MAIN, "9")
    assert (state, said) == (MenuState("main", tries=2), "That is not a valid choice. Press 1 or 22.")
    state, said = press(MENU, state, "9")
    assert (state.is_over, said) == (True, "")


def test_a_page_whose_option_ends_with_hash_is_wrong_only_at_hash() -> None:
    state = MenuState("card")
    for key in "99":
        state, said = press(MENU, state, key)
        assert (said, state.tries) == ("", 1)
    state, said = press(MENU, state, "#")
    assert said == "That is not a valid choice. Your card?"
    for key in "47":
        state, _ = press(MENU, state, key)
    assert press(MENU, state, "#")[0] == MenuState("end")


def test_a_menu_without_a_key_repeats_and_then_hangs_up() -> None:
    state, said = time_out(MENU, MAIN)
    assert (state.tries, said) == (2, "Press 1 or 22.")
    assert time_out(MENU, state)[0].is_over
    assert time_out(MENU, MenuState("main", typed="2"))[1].startswith("That is not a valid choice.")
    assert time_out(MENU, MenuState("end"))[0].is_over, "the last page has been said"


def test_the_menu_speaks_hears_tones_over_its_own_words_and_hangs_up() -> None:
    async def run() -> list[str]:
        carrier = ScriptedCarrier(lambda text: None)
        carrier.connect()
        noted: list[str] = []

        async def sounds(step: Say) -> bytes:
            return b"\xff" * 8_000  # a second

        serving = asyncio.ensure_future(serve_menu(MENU, carrier, sounds, noted.append))
        await asyncio.sleep(0.3)
        coded = pcm_to_ulaw(tones_of("22", 8_000))
        for at in range(0, len(coded), 160):
            carrier.receive(write_media(TWILIO, carrier.stream, coded[at : at + 160]))
        await serving
        assert carrier.is_over
        return noted

    noted = run_simulated(run())
    assert noted[:4] == ['menu: "Press 1 or 22."', "hears the key 2", "hears the key 2", 'menu: "Goodbye."']
    assert noted[-1] == "hangs up on the caller"
