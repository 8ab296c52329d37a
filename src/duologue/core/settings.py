"""All settings of the state machine that a deployment may change, and the built-in profiles.

All times are whole milliseconds; their names end in `_ms` or `_ms_max`. Rule: settings are checked as a whole when they
are created, and the error lists every problem. So the state machine never gets invalid settings.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from .errors import InvalidSettings
from .leaves import ErrorClass, Overlap


class _ChosenFields:
    """Remembers which fields the user set. This isn't part of the value: settings with equal fields are equal, and only
    fields are compared, shown and written."""

    __slots__ = ("_chosen",)
    _chosen: frozenset[str]

    @property
    def chosen(self) -> frozenset[str]:
        """The names of the fields that were given to `profile` or `with_changes`, also those whose value is the same as
        in the profile."""
        return getattr(self, "_chosen", frozenset())


@dataclass(frozen=True, slots=True)
class Settings(_ChosenFields):
    """The settings of one conversation. They don't change while the conversation lasts."""

    name: str = "confirm"  # the profile's name, for logs and journals
    overlap: Overlap = Overlap.CONFIRM  # what a sound does while the agent speaks
    greets: bool = False  # the agent speaks first

    prepare_ms_max: int = 10_000  # from the start to an open session
    suspend_ms_max: int = 0  # the longest pause; after it, the conversation ends; 0: a pause lasts until `resume`
    renew_ms_max: int = 30_000  # for replacing a session before its limit
    heal_ms_max: int = 2_000  # for an unstable line to recover; after it, the conversation reconnects
    backoff_ms: tuple[int, ...] = (1_000, 3_000, 10_000)  # the wait before each attempt to reconnect
    connect_ms_max: int = 30_000  # for one attempt to reconnect
    reconnect_ms_max: int = 45_000  # for all attempts to reconnect together
    line_losses_max: int = 3  # how often a turn is asked again after lost lines, before it is reported as lost
    dismiss_ms: int = 10_000  # how long a recoverable fault is shown before it is dismissed
    fatal_ms: int = 6_000  # for the last words after a fatal fault, before the conversation ends
    close_ms_max: int = 1_000  # for closing the session
    session_ms_max: int = 900_000  # age at which a session is replaced by a new one; 0: never
    session_warning_ms: int = 870_000  # age at which a session's context is saved; 0: never
    faults_max: int = 3  # this many faults within the window end the conversation
    faults_window_ms: int = 60_000  # the window of faults_max
    faults_in_a_row_max: int = 5  # this many faults with no heard answer in between also end it

    talk_ms_max: int = 600_000  # the longest turn of the user; after it, the turn counts as complete
    commit_ms: int = 30_000  # the audio of a turn that is still being said is committed this often
    settle_ms_max: int = 3_000  # from the end of speech to the endpoint, if the turn has words
    noise_ms_max: int = 600  # from the end of a sound without words until it counts as noise
    text_ms_max: int = 1_500  # from the endpoint to the final transcript
    sent_text_ms_max: int = 600  # the same after send was pressed or push-to-talk released, if shorter

    stall_ms_max: int = 8_000  # the longest time without a report of playback while the agent speaks
    overlap_ms_max: int = 1_500  # how long playback is held until it is known whether a sound interrupts
    overlap_quiet_ms_max: int = 500  # how long playback is still held after that sound has ended
    breath_ms: int = 50  # silence after an interruption, before the agent listens again
    stop_ms_max: int = 400  # for the line to confirm that playback has stopped
    long_speech_ms: int = 120_000  # a reply that speaks for longer is reported

    beat_ms: int = 1  # from input that needs an answer to the request for it
    attempt_ms_max: int = 8_000  # for the first token of one request
    answer_ms_max: int = 30_000  # for the whole answer, retries included
    retry_ms: tuple[int, ...] = (1_000, 2_000, 4_000)  # the wait before each retry of a request
    ready_ms_max: int = 10_000  # how long a noise without words can delay an answer or a request
    cue_ms: tuple[int, ...] = (2_500, 3_000, 8_000)  # silence before each sign of life; the first is a sound
    offer_ms: int = 700  # from an interruption without words to the offer to go on
    dead_air_ms: int = 300_000  # silence after which the agent checks in; 0: never
    check_ins_max: int = 1  # unanswered check-ins after which the agent stays quiet, or says goodbye
    hangs_up: bool = False  # the agent says goodbye and ends the conversation if no check-in is answered

    early_requests_max: int = 2  # requests about one turn before its end is certain; 0: none

    jobs_max: int = 8  # the most tool calls and jobs that may run at once
    tool_ms_max: int = 30_000  # for a tool of mode "tool"
    delegate_ms_max: int = 300_000  # for a tool of mode "delegate"
    dispatch_ms_max: int = 1_800_000  # for a tool of mode "dispatch"
    heartbeat_ms_max: int = 60_000  # time without progress after which a job is reported as silent
    feedback_ms: tuple[int, ...] = (5_000, 15_000, 30_000)  # waits after which the user is told that work goes on

    def __post_init__(self) -> None:
        problems = problems_of(self)
        if problems:
            raise InvalidSettings(problems)

    def __hash__(self) -> int:  # every state holds its settings, so hashing them must be cheap
        return hash((self.name, self.overlap.value, self.dead_air_ms, self.jobs_max))


_MAY_BE_ZERO = (
    "suspend_ms_max",
    "session_ms_max",
    "session_warning_ms",
    "dead_air_ms",
    "check_ins_max",
    "jobs_max",
    "early_requests_max",
)
_MS_MAX = 7 * 24 * 3_600_000  # a week; a longer time is probably a mistake in units


def problems_of(settings: Settings) -> list[str]:
    """Everything that is wrong with these settings: first problems of single fields, then problems of fields that
    don't fit together."""
    problems = {field.name: _field_problem(settings, field.name) for field in fields(settings)}
    wrong = {name for name, problem in problems.items() if problem}
    joint = [problem for names, problem in _JOINT_RULES if not wrong & set(names) and not _holds(settings, names)]
    return [problem for problem in problems.values() if problem] + joint


def _field_problem(settings: Settings, name: str) -> str:
    value: Any = getattr(settings, name)
    kind = type(getattr(_DEFAULTS, name)) if _DEFAULTS else type(value)
    if type(value) is not kind:
        return f"{name} must be {kind.__name__}, not {value!r}"
    if kind is tuple and (not value or any(type(item) is not int or not 0 < item <= _MS_MAX for item in value)):
        return f"{name} must hold whole milliseconds above 0, not {value!r}"
    least = 0 if name in _MAY_BE_ZERO else 1
    if kind is int and not least <= value <= _MS_MAX:
        return f"{name} must be between {least} and {_MS_MAX}, is {value}"
    return ""


# Pairs of fields. In _BELOW, the first must be below the second. In _NOT_ABOVE, it must not exceed the second.
_BELOW = (("breath_ms", "stop_ms_max"), ("session_warning_ms", "session_ms_max"))
_NOT_ABOVE = (
    ("overlap_quiet_ms_max", "overlap_ms_max"),
    ("attempt_ms_max", "answer_ms_max"),
    ("noise_ms_max", "settle_ms_max"),
    ("tool_ms_max", "delegate_ms_max"),
)
_JOINT_RULES: tuple[tuple[tuple[str, ...], str], ...] = (
    *(((low, high), f"{low} must be below {high}") for low, high in _BELOW),
    *(((low, high), f"{low} must not exceed {high}") for low, high in _NOT_ABOVE),
    (("feedback_ms",), "feedback_ms must increase"),
    (("backoff_ms", "reconnect_ms_max"), "reconnect_ms_max must exceed the first backoff_ms"),
    (
        ("dead_air_ms", "hangs_up"),
        "hangs_up=True needs dead_air_ms above 0: with 0, silence never leads to a check-in or a goodbye",
    ),
)


def _holds(settings: Settings, names: tuple[str, ...]) -> bool:
    """Do the values of these fields fit together? For example, the warning of a session must come before its limit. But
    if both are 0, both are off, and this is valid."""
    values: list[Any] = [getattr(settings, name) for name in names]
    if names == ("feedback_ms",):
        return list(values[0]) == sorted(set(values[0]))
    if names == ("backoff_ms", "reconnect_ms_max"):
        return bool(values[0][0] < values[1])
    if names == ("dead_air_ms", "hangs_up"):
        return bool(values[0] > 0 or not values[1])
    if names in _BELOW:
        return bool(values[0] < values[1] or values == [0, 0])
    return bool(values[0] <= values[1])


_DEFAULTS: Settings | None = None
_DEFAULTS = Settings()

PROFILES: dict[str, Settings] = {
    "immediate": replace(_DEFAULTS, name="immediate", overlap=Overlap.IMMEDIATE),
    "confirm": _DEFAULTS,
    "words": replace(
        _DEFAULTS,
        name="words",
        overlap=Overlap.WORDS,
        greets=True,
        dead_air_ms=10_000,
        check_ins_max=2,
        hangs_up=True,
    ),
}


def profile(name: str, **changes: Any) -> Settings:
    """The settings of a built-in profile, with these changes. Raises InvalidSettings if something is wrong; the error
    lists all problems."""
    problems = [] if name in PROFILES else [f"unknown profile {name!r} (available: {', '.join(PROFILES)})"]
    known = {field.name for field in fields(Settings)}
    problems += [f"unknown setting {key!r}" for key in changes if key not in known]
    if problems:
        raise InvalidSettings(problems)
    return with_changes(PROFILES[name], **changes)


def with_changes(settings: Settings, **changes: Any) -> Settings:
    """These settings with some of them changed. Without check-ins (`dead_air_ms=0`), the agent doesn't hang up after
    silence either, unless `hangs_up` is among the changes. Raises InvalidSettings if the result is invalid; the error
    lists all problems."""
    if changes.get("dead_air_ms") == 0:
        changes.setdefault("hangs_up", False)
    changed = replace(settings, **changes)
    object.__setattr__(changed, "_chosen", settings.chosen | changes.keys())  # `changed` is new: no other code has it
    return changed


class Policy(NamedTuple):
    """How a class of errors is handled: how often to retry, and what to do after that."""

    retries_max: int
    reconnects: bool = False
    ends: bool = False


_ALWAYS = 1_000
POLICIES: dict[ErrorClass, Policy] = {
    ErrorClass.RATE_LIMIT: Policy(retries_max=_ALWAYS),
    ErrorClass.NETWORK_TIMEOUT: Policy(retries_max=_ALWAYS),
    ErrorClass.SERVER_ERROR: Policy(retries_max=1),
    ErrorClass.SESSION_EXPIRED: Policy(retries_max=0, reconnects=True),
    ErrorClass.AUTH_FAILURE: Policy(retries_max=0, ends=True),
    # The failure of a tool isn't handled here: it goes to the brain as the call's output. These two policies are for
    # a reply or a service that fails with such a class.
    ErrorClass.TOOL_ERROR: Policy(retries_max=0),
    ErrorClass.INVALID_ARGS: Policy(retries_max=0),
    ErrorClass.UNKNOWN: Policy(retries_max=0),
}
