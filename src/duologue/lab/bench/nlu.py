"""Measures how well the NLU understands the messages of a test file, and what that costs.

The file is JSON: `examples` (phrases by intent), `test` (pairs of message and intent), and `out_of_scope`
(messages that fit no intent), which may be empty. Rule: the NLU gets the examples and then one message at a
time, as in a conversation. It never gets the expected intent.
"""

from __future__ import annotations

import json
import statistics
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duologue.core.errors import DuologueError
from duologue.nlu import Intent, LocalNlu, MessageScope, Understanding

from .budget import Budget

BUDGETS: tuple[Budget, ...] = (Budget("ms_per_message", "understanding one message", 40, "ms"),)
NOTE = (
    "Times are CPU time on one core, except wall_*. `auroc`: how well the score separates messages in scope from those "
    "out of scope. `kept` and `turned_away`: the share of each that the threshold classifies correctly."
)


class UnusableFile(DuologueError):
    """The test file can't be read or has the wrong form. The message is one line that names the file."""


@dataclass(frozen=True, slots=True)
class Exam:
    """A test file: the examples, the test messages with their intents, and the messages out of scope."""

    name: str
    scope: MessageScope
    test: tuple[tuple[str, str], ...]
    out_of_scope: tuple[str, ...]


def read_exam(path: Path) -> Exam:
    """Read a test file, or raise `UnusableFile`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        intents = tuple(Intent(str(name), _texts(phrases)) for name, phrases in data["examples"].items())
        test = tuple((str(message), str(intent)) for message, intent in data["test"])
        exam = Exam(str(data.get("name", path.stem)), MessageScope(intents), test, _texts(data.get("out_of_scope", ())))
    except OSError as error:
        raise UnusableFile(f"{path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        raise UnusableFile(f"{path}: expected JSON with `examples`, `test` and `out_of_scope`") from None
    unknown = {intent for _, intent in test} - {intent.name for intent in intents}
    if unknown or not test:
        wrong = f"`examples` lacks the intent {min(unknown)!r} of `test`" if unknown else "`test` is empty"
        raise UnusableFile(f"{path}: {wrong}")
    return exam


def _texts(data: object) -> tuple[str, ...]:
    if not isinstance(data, list | tuple) or not all(isinstance(text, str) for text in data):
        raise TypeError
    return tuple(data)


def bench_nlu(exam: Exam, nlu: LocalNlu, progress: Callable[[int], None] = lambda _done: None) -> dict[str, Any]:
    """Train the NLU with the examples of a test file, then measure it with the messages. `progress` is called with the
    number of messages done so far."""
    before, cpu, wall = _memory_mb(), time.process_time(), time.perf_counter()
    nlu.prepare(exam.scope)
    learn_s, wall_learn_s = time.process_time() - cpu, time.perf_counter() - wall
    answers, cpu_ms, wall_ms = [], [], []
    for message in [message for message, _ in exam.test] + list(exam.out_of_scope):
        cpu, wall = time.process_time(), time.perf_counter()
        answers.append(nlu.judge(message, exam.scope))
        cpu_ms.append(1000 * (time.process_time() - cpu))
        wall_ms.append(1000 * (time.perf_counter() - wall))
        progress(len(answers))
    result = {
        "file": exam.name,
        "by": answers[0].by,
        "intents": len(exam.scope.intents),
        "messages": len(answers),
        **_marks(exam, answers[: len(exam.test)], answers[len(exam.test) :]),
        "ms_per_message": round(statistics.fmean(cpu_ms), 2),
        "ms_max": round(max(cpu_ms), 2),
        "wall_ms_p50": round(statistics.median(wall_ms), 2),
        "wall_ms_p95": round(sorted(wall_ms)[len(wall_ms) * 95 // 100], 2),
        "learn_s": round(learn_s, 2),
        "wall_learn_s": round(wall_learn_s, 2),
        "memory_mb": round(_memory_mb() - before),
        "notice": nlu.notice,
        "note": NOTE,
    }
    result["within_budget"] = {budget.key: budget.holds(result[budget.key]) for budget in BUDGETS}
    return result


def _marks(exam: Exam, inside: Sequence[Understanding], outside: Sequence[Understanding]) -> dict[str, Any]:
    wanted = [intent for _, intent in exam.test]
    right = [bool(one.guesses) and one.guesses[0].intent == want for one, want in zip(inside, wanted, strict=True)]
    apart = auroc([one.in_scope for one in inside], [one.in_scope for one in outside])
    away = [not one.is_in_scope for one in outside]
    return {
        "accuracy": round(statistics.fmean(right), 4),
        "auroc": None if apart is None else round(apart, 4),
        "kept": round(statistics.fmean(one.is_in_scope for one in inside), 4),
        "turned_away": round(statistics.fmean(away), 4) if away else None,
    }


def auroc(inside: Sequence[float], outside: Sequence[float]) -> float | None:
    """How well the scores separate messages in scope (`inside`) from messages out of scope (`outside`). The result is
    the share of all pairs (one message of each kind) in which the message in scope has the higher score. Ties count
    half. None if either list is empty."""
    if not inside or not outside:
        return None
    ranked = sorted(outside)
    wins = sum(bisect_left(ranked, each) + bisect_right(ranked, each) for each in inside)
    return wins / (2 * len(inside) * len(outside))


def _memory_mb() -> float:
    """The resident memory of this process in MB, or 0 if /proc isn't available."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * 4096 / 1e6
