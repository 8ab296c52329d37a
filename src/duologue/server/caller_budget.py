"""What one conversation's client may still send: typed turns, characters, commands and sound. The functions are pure:
the time is an argument.

A conversation has one budget, even if its client changes sockets. Rule: each refusal has a sentence for the client.
Sound that comes too fast is left out, and the client is told how many milliseconds were left out, at most once in
`TELL_MS` milliseconds.
"""

from __future__ import annotations

from typing import NamedTuple

from duologue.fairness.bucket import Bucket, full, full_in_ms, left, take

from .settings import Limits

TELL_MS = 5_000


class Refused(NamedTuple):
    """A refusal: the name of the limit, for metrics, and one sentence for the client. The client may send the same
    input again after `wait_ms` milliseconds. `wait_ms` is None if waiting alone doesn't help."""

    limit: str
    message: str
    wait_ms: int | None = None


class Unanswered(NamedTuple):
    """How many turns and characters the agent hasn't answered yet."""

    turns: int
    chars: int


class CallerBudget(NamedTuple):
    """How much the client may still send, and how much sound was left out that the client hasn't been told of yet."""

    typed_turns: Bucket
    typed_chars: Bucket
    sound_ms: Bucket
    commands: Bucket
    untold_ms: int = 0  # of sound that was left out
    told_at_ms: int | None = None


def new_budget(limits: Limits, now_ms: int) -> CallerBudget:
    """The budget of a conversation that starts."""
    rates = (limits.typed_turns, limits.typed_chars, limits.sound_ms, limits.commands)
    turns, chars, sound, commands = (full(rate, now_ms) for rate in rates)
    return CallerBudget(turns, chars, sound, commands)


def type_text(
    limits: Limits, budget: CallerBudget, chars: int, unanswered: Unanswered, now_ms: int
) -> tuple[CallerBudget, Refused | None]:
    """Take a typed text of `chars` characters from the budget. Returns the new budget, and the refusal, which is None
    if the text is accepted. If the text is refused, the budget is unchanged."""
    if unanswered.turns >= limits.unanswered_turns_max:
        message = f"{unanswered.turns} messages wait for an answer, and that is the limit: wait for the next answer"
        return budget, Refused("unanswered_turns", message)
    if unanswered.chars and unanswered.chars + chars > limits.unanswered_chars_max:
        message = (
            f"{unanswered.chars} characters wait for an answer, and with these {chars} it would be more than "
            f"{limits.unanswered_chars_max}: wait for the next answer"
        )
        return budget, Refused("unanswered_chars", message)
    turns, wait_ms = take(limits.typed_turns, budget.typed_turns, 1, now_ms)
    if wait_ms != 0:
        return budget, Refused("typed_turns", f"too many messages at once: send it again in {_s(wait_ms)}", wait_ms)
    texts, wait_ms = take(limits.typed_chars, budget.typed_chars, chars, now_ms)
    if wait_ms != 0:
        return budget, Refused("typed_chars", f"too much text at once: send it again in {_s(wait_ms)}", wait_ms)
    return budget._replace(typed_turns=turns, typed_chars=texts), None


class TurnsLeft(NamedTuple):
    """The limit for typed turns: `limit` turns may be typed in quick succession, `remaining` of them may be typed now,
    and after `full_in_ms` milliseconds without typing, all of them may be typed again."""

    limit: int
    remaining: int
    full_in_ms: int


def turns_left(limits: Limits, budget: CallerBudget, now_ms: int) -> TurnsLeft:
    """What is left of the client's limit for typed turns."""
    rate, bucket = limits.typed_turns, budget.typed_turns
    return TurnsLeft(rate.burst, left(rate, bucket, now_ms), full_in_ms(rate, bucket, now_ms))


def command(limits: Limits, budget: CallerBudget, now_ms: int) -> tuple[CallerBudget, Refused | None]:
    """Take one command from the budget, such as pressing a button. Returns the new budget, and the refusal, which is
    None if the command is accepted."""
    bucket, wait_ms = take(limits.commands, budget.commands, 1, now_ms)
    if wait_ms != 0:
        return budget, Refused("commands", f"too many commands at once: send it again in {_s(wait_ms)}", wait_ms)
    return budget._replace(commands=bucket), None


def hear_sound(limits: Limits, budget: CallerBudget, ms: int, now_ms: int) -> tuple[CallerBudget, bool, Refused | None]:
    """Take `ms` milliseconds of sound from the budget. Returns three values: the new budget, whether the sound may be
    heard, and what to tell the client now. The third value is None if there is nothing to tell."""
    bucket, wait_ms = take(limits.sound_ms, budget.sound_ms, ms, now_ms)
    is_heard = wait_ms == 0
    if is_heard and not budget.untold_ms:
        return (
            CallerBudget(budget.typed_turns, budget.typed_chars, bucket, budget.commands, 0, budget.told_at_ms),
            True,
            None,
        )
    budget = budget._replace(sound_ms=bucket, untold_ms=budget.untold_ms + (0 if is_heard else ms))
    if budget.told_at_ms is not None and now_ms - budget.told_at_ms < TELL_MS:
        return budget, is_heard, None
    message = f"sound comes faster than it is spoken: {budget.untold_ms} ms of it were left out"
    return budget._replace(untold_ms=0, told_at_ms=now_ms), is_heard, Refused("sound", message)


def _s(wait_ms: int | None) -> str:
    return "a while" if wait_ms is None else f"{max(1, -(-wait_ms // 1000))} s"
