"""A simulated telephone menu (IVR): it speaks a page, hears keys as tones, and goes to the next page.

`press` and `time_out` are pure functions that decide what happens. `serve_menu` speaks and listens. Rule: if no option
of the page begins with the pressed keys, they are wrong, and the page is said again. A page with an option that ends
with # waits until # is pressed. A page that gets no key is said again, and after a few times the menu hangs up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from duologue.audio.g711 import ulaw_to_pcm
from duologue.lines.phone.tones import KeyDetector

from .call_script import Say
from .scripted_carrier import ScriptedCarrier

POLL_MS = 20


@dataclass(frozen=True, slots=True)
class MenuPage:
    """A page: what the menu says, and to which page each option leads. An option may have several keys, such as
    "4711#". A page without options ends the call."""

    say: str
    keys: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class PhoneMenu:
    """A menu. `start` is the name of its first page."""

    pages: Mapping[str, MenuPage] = field(hash=False)
    start: str
    wait_ms: int = 4_000  # how long the menu waits for a key after it has spoken
    tries_max: int = 3  # how often a page is said before the menu hangs up
    wrong: str = "That is not a valid choice."


@dataclass(frozen=True, slots=True)
class MenuState:
    """Where a caller is in the menu. `typed` has the keys that were pressed on this page so far. `tries` says how often
    the page was said."""

    page: str
    typed: str = ""
    tries: int = 1
    is_over: bool = False


def press(menu: PhoneMenu, state: MenuState, key: str) -> tuple[MenuState, str]:
    """The state after a key, and what the menu says next. The text is empty if the menu waits for more keys."""
    typed, keys = state.typed + key, menu.pages[state.page].keys
    if typed in keys:
        following = MenuState(keys[typed])
        return following, menu.pages[following.page].say
    if any(option.startswith(typed) for option in keys) or (key != "#" and any("#" in option for option in keys)):
        return replace(state, typed=typed), ""
    return _again(menu, state, f"{menu.wrong} ")


def time_out(menu: PhoneMenu, state: MenuState) -> tuple[MenuState, str]:
    """The state after a wait in which no key was pressed, and what the menu says next."""
    if not menu.pages[state.page].keys:
        return replace(state, is_over=True), ""
    return _again(menu, state, f"{menu.wrong} " if state.typed else "")


def _again(menu: PhoneMenu, state: MenuState, before: str) -> tuple[MenuState, str]:
    if state.tries >= menu.tries_max:
        return replace(state, is_over=True), ""
    return replace(state, typed="", tries=state.tries + 1), before + menu.pages[state.page].say


async def serve_menu(
    menu: PhoneMenu,
    carrier: ScriptedCarrier,
    sounds: Callable[[Say], Awaitable[bytes]],
    note: Callable[[str], None],
) -> None:
    """Answer a call with this menu. `sounds` synthesizes what the menu says. `note` is called with a line of text for
    everything that happens."""
    state, detector, seen = MenuState(menu.start), KeyDetector(), 0
    say, waited_ms = menu.pages[state.page].say, 0
    while not state.is_over:
        if say:
            carrier.hush()
            carrier.speak(await sounds(Say(say)))
            note(f'menu: "{say}"')
            say, waited_ms = "", 0
        await asyncio.sleep(POLL_MS / 1000)
        waited_ms = 0 if carrier.is_speaking else waited_ms + POLL_MS
        frames, seen = carrier.frames[seen:], len(carrier.frames)
        for key in filter(None, (detector.hear(ulaw_to_pcm(frame.coded)) for frame in frames)):
            note(f"hears the key {key}")
            state, say = press(menu, state, key)
            waited_ms = 0
        if not say and waited_ms >= menu.wait_ms:
            state, say = time_out(menu, state)
            note("hangs up on the caller" if state.is_over else "repeats the menu")
    carrier.hang_up()
