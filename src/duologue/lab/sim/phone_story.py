"""A telephone story as data, read from YAML: the telephones, who calls whom, and what must happen.

Rule: a story is checked as a whole before it is played, and one error lists every problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from duologue.lines.phone.call.state import CallEnd, OnMachine
from duologue.lines.phone.carriers import CARRIERS
from duologue.lines.phone.tones import UnknownKeys, check_keys

from .call_script import InvalidCallScript, read_steps
from .phone_menu import MenuPage, PhoneMenu
from .telephones import AnsweredBy, Telephone

OWN_NUMBER = "+4930555000"
# What a story may set of PhoneSettings.
SETTINGS = ("carrier_amd", "drain_to", "ring_ms", "digits_pause_ms", "digits_terminator")
_PHONE_KEYS = ("number", "answer", "ring_ms", "talk_ms", "detected", "detected_ms", "steps", "menu")


@dataclass(frozen=True, slots=True)
class StoryPhone:
    """A telephone with a name."""

    name: str
    number: str
    telephone: Telephone
    menu: PhoneMenu | None = None


@dataclass(frozen=True, slots=True)
class DialOrder:
    """An order to the agent to make a call."""

    to: str  # the name of a telephone, or a number
    machine_message: str = ""
    on_machine: OnMachine | None = None
    ring_s: float = 30.0


@dataclass(frozen=True, slots=True)
class StopOrder:
    """An order to stop the server `after_ms` after the start of the story."""

    after_ms: int
    drain_s: float = 30.0


@dataclass(frozen=True, slots=True)
class StoryEnd:
    """What the story must have led to at its end. The lines of the timeline must contain all texts in `timeline`, in
    this order."""

    outcome: str = ""
    timeline: tuple[str, ...] = ()


@dataclass(frozen=True)
class PhoneStory:
    """A story. It begins with a call: either the telephone named `call` calls the agent, or the agent makes the call in
    `dial`."""

    story: str
    telephones: tuple[StoryPhone, ...]
    call: str = ""
    query: Mapping[str, str] = field(default_factory=dict)  # of the webhook's address, for `call`
    dial: DialOrder | None = None
    stop: StopOrder | None = None
    expect: StoryEnd = StoryEnd()
    carrier: str = "twilio"
    agent: str = ""  # as module:agent
    settings: Mapping[str, Any] = field(default_factory=dict)
    limit_s: float = 300.0  # a story that lasts longer fails

    def phone(self, name: str) -> StoryPhone | None:
        return next((phone for phone in self.telephones if phone.name == name), None)

    def name_of(self, number: str) -> str:
        """The name of the telephone with this number, or the number itself if no telephone has it."""
        return next((phone.name for phone in self.telephones if phone.number == number), number)


def read_story(data: object) -> PhoneStory:
    """Read a story from parsed YAML. Raises InvalidCallScript."""
    if not isinstance(data, Mapping):
        raise InvalidCallScript("a story must be a mapping with `story`, `telephones`, and `call` or `dial`")
    problems = [f"unknown key {key!r}" for key in data if key not in {each.name for each in fields(PhoneStory)}]
    telephones = _telephones(data.get("telephones"), problems)
    given: dict[str, Any] = {"story": _text(data, "story", problems), "telephones": telephones}
    for name in ("call", "agent"):
        given[name] = _text(data, name, problems, needed=False)
    given["carrier"] = data.get("carrier", "twilio")
    if given["carrier"] not in CARRIERS:
        problems.append(f"carrier must be one of {', '.join(CARRIERS)}")
    names = [phone.name for phone in telephones]
    if ("call" in data) == ("dial" in data):
        problems.append("set either `call`, the telephone that calls, or `dial`, a call of the agent")
    elif "call" in data and given["call"] not in names:
        problems.append(f"call: there is no telephone {given['call']!r}; the telephones are {', '.join(names)}")
    given["query"] = _query(data, problems)
    given["dial"] = _dial(data["dial"], problems) if "dial" in data else None
    given["stop"] = _part(data, "stop", StopOrder, problems) if "stop" in data else None
    given["expect"] = _expect(data.get("expect", {}), problems)
    given["settings"] = _settings(data.get("settings", {}), problems)
    given["limit_s"] = _number(data.get("limit_s", 300.0), "limit_s", problems)
    if problems:
        raise InvalidCallScript("; ".join(problems))
    return PhoneStory(**given)


def _text(data: Mapping[Any, Any], name: str, problems: list[str], needed: bool = True) -> str:
    value = data.get(name, "")
    if not isinstance(value, str) or (needed and not value.strip()):
        problems.append(f"{name} must be text")
        return ""
    return value


def _query(data: Mapping[Any, Any], problems: list[str]) -> dict[str, str]:
    given = data.get("query", {})
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for pair in given.items() for one in pair):
        problems.append("query must be a mapping of texts to texts")
        return {}
    if given and "call" not in data:
        problems.append("query is for a story with `call`: only incoming calls use the webhook's address")
    return dict(given)


def _number(value: object, name: str, problems: list[str]) -> float:
    if type(value) not in (int, float) or not 0 < float(str(value)) <= 3_600:
        problems.append(f"{name} must be a number above 0 and at most 3600")
        return 1.0
    return float(str(value))


def _ms(value: object, where: str, problems: list[str]) -> int:
    if type(value) is not int or not 0 <= value <= 600_000:
        problems.append(f"{where} must be whole milliseconds up to 600000")
        return 0
    return value


def _telephones(given: object, problems: list[str]) -> tuple[StoryPhone, ...]:
    if not isinstance(given, Mapping) or not given:
        problems.append("telephones must be a mapping of names to telephones")
        return ()
    return tuple(
        _telephone(str(name), phone if phone is not None else {}, place, problems)
        for place, (name, phone) in enumerate(given.items(), start=1)
    )


def _telephone(name: str, given: object, place: int, problems: list[str]) -> StoryPhone:
    where = f"telephones.{name}: "
    number = f"+4930555{place:03}"
    if not isinstance(given, Mapping):
        problems.append(f"{where}must be a mapping; its keys are {', '.join(_PHONE_KEYS)}")
        return StoryPhone(name, number, Telephone())
    problems += [f"{where}unknown key {key!r}" for key in given if key not in _PHONE_KEYS]
    answer = given.get("answer", "person")
    kinds = [kind.value for kind in AnsweredBy]
    if answer not in kinds:
        problems.append(f"{where}answer must be one of {', '.join(kinds)}")
        answer = "person"
    steps = read_steps(given["steps"], problems, where) if "steps" in given else ()
    times = {
        key: _ms(given[key], f"{where}{key}", problems) for key in ("ring_ms", "talk_ms", "detected_ms") if key in given
    }
    detected = _text(given, "detected", problems, needed=False)
    menu = _menu(given["menu"], where, problems) if "menu" in given else None
    phone = Telephone(AnsweredBy(answer), steps, detected=detected, **times)
    return StoryPhone(name, str(given.get("number", number)), phone, menu)


def _menu(given: object, where: str, problems: list[str]) -> PhoneMenu | None:
    pages = given.get("pages") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or not isinstance(pages, Mapping) or not pages:
        problems.append(f"{where}menu must be a mapping with `pages`")
        return None
    others = {key: value for key, value in given.items() if key != "pages"}
    known = {"start": str, "wait_ms": int, "tries_max": int, "wrong": str}
    wrong = [key for key, value in others.items() if type(value) is not known.get(str(key))]
    problems += [f"{where}menu.{key} is unknown or of a wrong kind" for key in wrong]
    read = {str(name): _page(str(name), page, where, problems) for name, page in pages.items()}
    start = str(others.pop("start", next(iter(read))))
    targets = [start, *(target for page in read.values() for target in page.keys.values())]
    problems += [f"{where}menu: there is no page {name!r}" for name in sorted({*targets} - {*read})]
    return PhoneMenu(read, start, **({} if wrong else others))


def _page(name: str, given: object, where: str, problems: list[str]) -> MenuPage:
    if not isinstance(given, Mapping) or not set(given) <= {"say", "keys"} or not isinstance(given.get("say"), str):
        problems.append(f"{where}page {name} must be a mapping of `say` and `keys`")
        return MenuPage("")
    keys = given.get("keys", {})
    options = {str(key): str(target) for key, target in keys.items()} if isinstance(keys, Mapping) else {"": ""}
    try:
        for option in options:
            check_keys(option)
    except UnknownKeys as problem:
        problems.append(f"{where}page {name}: {problem}")
        return MenuPage(given["say"])
    return MenuPage(given["say"], options)


def _part(data: Mapping[Any, Any], name: str, kind: Any, problems: list[str]) -> Any:
    given, known = data[name], [each.name for each in fields(kind)]
    if not isinstance(given, Mapping) or not set(given) <= {*known}:
        problems.append(f"{name} must be a mapping; its keys are {', '.join(known)}")
        return None
    try:
        return kind(**given)
    except TypeError:
        problems.append(f"{name}: {known[0]} is missing")
        return None


def _dial(given: object, problems: list[str]) -> DialOrder | None:
    dial = _part({"dial": given}, "dial", DialOrder, problems)
    if dial is None:
        return None
    kinds = [kind.value for kind in OnMachine]
    wanted = dial.on_machine
    if wanted is not None and wanted not in kinds:
        problems.append(f"dial.on_machine must be one of {', '.join(kinds)}")
        return None
    _number(dial.ring_s, "dial.ring_s", problems)
    on_machine = OnMachine(wanted) if wanted is not None else None
    return DialOrder(str(dial.to), str(dial.machine_message), on_machine, dial.ring_s)


def _expect(given: object, problems: list[str]) -> StoryEnd:
    found = _part({"expect": given}, "expect", StoryEnd, problems)
    if found is None:
        return StoryEnd()
    outcomes = [outcome.value for outcome in CallEnd if outcome.value]
    if found.outcome and found.outcome not in outcomes:
        problems.append(f"expect.outcome must be one of {', '.join(outcomes)}")
    lines = found.timeline
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        problems.append("expect.timeline must be a list of texts")
        return StoryEnd()
    return StoryEnd(str(found.outcome), tuple(lines))


def _settings(given: object, problems: list[str]) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not set(given) <= {*SETTINGS}:
        problems.append(f"settings must be a mapping; its keys are {', '.join(SETTINGS)}")
        return {}
    return dict(given)
