"""The script of a simulated telephone call: its steps as data, and how they are read from YAML.

Rule: a script is checked as a whole before the call starts, and one error lists every problem.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TypeAlias

from duologue.core.errors import DuologueError
from duologue.lines.phone.carriers import CARRIERS, KEYS

from .scripted_carrier import Network

STEPS_MAX = 500
PAUSE_MS_MAX = 600_000


class InvalidCallScript(DuologueError, ValueError):
    """A script that can't be played. The message lists every problem."""


@dataclass(frozen=True, slots=True)
class Say:
    """The caller says this text."""

    text: str


@dataclass(frozen=True, slots=True)
class PlayWav:
    """The caller plays a WAV file."""

    file: str


@dataclass(frozen=True, slots=True)
class Wait:
    """The caller does nothing for this long."""

    ms: int


@dataclass(frozen=True, slots=True)
class Press:
    """The caller presses telephone keys."""

    keys: str


@dataclass(frozen=True, slots=True)
class Beep:
    """An answering machine beeps."""

    hz: int = 1_000
    ms: int = 400


@dataclass(frozen=True, slots=True)
class Hear:
    """Wait until the agent has spoken without a gap for this many milliseconds."""

    ms: int


@dataclass(frozen=True, slots=True)
class Listen:
    """Wait until the agent has spoken and is silent again."""


@dataclass(frozen=True, slots=True)
class Expect:
    """Wait until all conditions that are given hold. `heard`: since the caller last did something, the agent understood
    these words. `said`: the agent said these words. `interrupted`: whether the agent was interrupted since the caller
    last did something. `over`: the call is over."""

    heard: str = ""
    said: str = ""
    interrupted: bool | None = None
    over: bool = False


@dataclass(frozen=True, slots=True)
class HangUp:
    """The caller hangs up."""


Step: TypeAlias = Say | PlayWav | Wait | Press | Beep | Hear | Listen | Expect | HangUp


@dataclass(frozen=True, slots=True)
class CallScript:
    """A whole script: its steps and the settings of the call."""

    steps: tuple[Step, ...]
    carrier: str = "twilio"
    agent: str = ""  # as module:agent
    greeting: str = "Hello, this is the demo line. How can I help you?"  # what the built-in agent says first
    network: Network = field(default_factory=Network)
    wait_s: float = 20.0  # how long each step may take


def read_script(data: object) -> CallScript:
    """Read a script from parsed YAML. Raises InvalidCallScript if the script can't be played."""
    if not isinstance(data, Mapping):
        raise InvalidCallScript("a script must be a mapping with `steps`")
    problems: list[str] = []
    known = {each.name for each in fields(CallScript)}
    problems += [f"unknown key {key!r}" for key in data if key not in known]
    steps = read_steps(data.get("steps"), problems)
    network = _network(data.get("network", {}), problems)
    carrier, wait_s = data.get("carrier", "twilio"), data.get("wait_s", 20.0)
    if not isinstance(carrier, str) or carrier not in CARRIERS:
        problems.append(f"carrier must be one of {', '.join(CARRIERS)}")
    if type(wait_s) not in (int, float) or not 0 < wait_s <= 600:
        problems.append("wait_s must be a number above 0 and at most 600")
    texts = {name: data.get(name, getattr(_DEFAULT, name)) for name in ("agent", "greeting")}
    problems += [f"{name} must be text" for name, text in texts.items() if not isinstance(text, str)]
    if problems:
        raise InvalidCallScript("; ".join(problems))
    return CallScript(steps, str(carrier), network=network, wait_s=float(wait_s), **texts)


_DEFAULT = CallScript(())


def read_steps(given: object, problems: list[str], where: str = "") -> tuple[Step, ...]:
    """Read a list of steps. Adds a message to `problems` for everything that is wrong. Each message begins with
    `where`."""
    if not isinstance(given, list) or not 0 < len(given) <= STEPS_MAX:
        problems.append(f"{where}steps must be a list of 1 to {STEPS_MAX} steps")
        return ()
    steps = []
    for number, item in enumerate(given, start=1):
        try:
            steps.append(_step(item))
        except (ValueError, TypeError) as problem:
            problems.append(f"{where}step {number}: {problem}")
    return tuple(steps)


def _step(item: object) -> Step:
    if item == "listen":
        return Listen()
    if item == "hang_up":
        return HangUp()
    if not isinstance(item, Mapping) or len(item) != 1:
        raise ValueError(f"must be listen, hang_up, or a mapping with one of these keys: {', '.join(_MAKERS)}")
    ((name, value),) = item.items()
    if name not in _MAKERS:
        raise ValueError(f"unknown step {name!r}; the steps are listen, hang_up, {', '.join(_MAKERS)}")
    return _MAKERS[name](value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be text that isn't empty")
    return value


def _ms(value: object) -> int:
    if type(value) is not int or not 0 < value <= PAUSE_MS_MAX:
        raise ValueError(f"must be whole milliseconds from 1 to {PAUSE_MS_MAX}")
    return value


def _keys(value: object) -> str:
    keys = str(value) if type(value) is int else _text(value)
    if any(key not in KEYS for key in keys):
        raise ValueError(f"unknown key; a telephone has only the keys {KEYS}")
    return keys


def _beep(value: object) -> Beep:
    given = {"hz": value} if type(value) is int else value
    if not isinstance(given, Mapping) or not set(given) <= {"hz", "ms"}:
        raise ValueError("beep must be a frequency in Hz, or a mapping with hz and ms")
    if any(type(number) is not int or not 0 < number <= limit for number, limit in _beep_limits(given)):
        raise ValueError("beep: hz must be from 1 to 4000, and ms from 1 to 10000")
    return Beep(**given)


def _beep_limits(given: Mapping[str, object]) -> list[tuple[object, int]]:
    return [(number, 4_000 if name == "hz" else 10_000) for name, number in given.items()]


def _expect(value: object) -> Expect:
    names = {each.name for each in fields(Expect)}
    if not isinstance(value, Mapping) or not value or not set(value) <= names:
        raise ValueError(f"expect must be a mapping; its keys are {', '.join(sorted(names))}")
    for name in ("heard", "said"):
        if name in value:
            _text(value[name])
    for name in ("interrupted", "over"):
        if not isinstance(value.get(name, False), bool):
            raise ValueError(f"{name} must be true or false")
    return Expect(**value)


_MAKERS: dict[str, Callable[[object], Step]] = {
    "say": lambda value: Say(_text(value)),
    "wav": lambda value: PlayWav(_text(value)),
    "pause": lambda value: Wait(_ms(value)),
    "dtmf": lambda value: Press(_keys(value)),
    "beep": _beep,
    "hear": lambda value: Hear(_ms(value)),
    "expect": _expect,
}


def _network(given: object, problems: list[str]) -> Network:
    names = {each.name for each in fields(Network)}
    if not isinstance(given, Mapping) or not set(given) <= names:
        problems.append(f"network must be a mapping; its keys are {', '.join(sorted(names))}")
        return Network()
    wrong = [
        f"network.{name} must be a number from 0 to 1"
        for name in ("loss", "duplicates", "reordered")
        if name in given and not (type(given[name]) in (int, float) and 0 <= given[name] <= 1)
    ]
    wrong += [
        f"network.{name} must be a whole number of at least 0"
        for name in ("jitter_ms", "seed")
        if name in given and not (type(given[name]) is int and given[name] >= 0)
    ]
    problems += wrong
    return Network() if wrong else Network(**given)
