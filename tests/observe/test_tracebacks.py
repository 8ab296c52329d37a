"""A traceback begins in the developer's code, and only its text has the message."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import duologue
from duologue.core.leaves import ErrorClass
from duologue.observe import signals as sg
from duologue.observe.tracebacks import CHARS_MAX, is_own, root_of, traceback_of
from duologue.ports.failure import ServiceError
from duologue.testing import Call, Fail, ScriptedBrain

HERE = __file__


def look_up(name: str) -> str:
    return {}[name]  # type: ignore[no-any-return]


def raised_by(act: Callable[[], object]) -> BaseException:
    try:
        act()
    except Exception as failure:  # noqa: BLE001 - it is what the test is about
        return failure
    raise AssertionError("nothing was raised")


def test_a_failure_of_a_brain_is_shown_from_the_first_line_of_its_own_code() -> None:
    with Call(lambda request: look_up(request.text)) as call:
        found: list[sg.Raised] = []
        texts: list[str] = []
        call.conversation.on(sg.Raised, found.append)
        call.conversation.engine.failure_watchers.append(lambda raised: texts.append(traceback_of(raised.failure).text))
        call.user("Anna Meier")
        call.until(lambda: found)
    (first, *_) = found
    assert first.where == "brain"
    assert first.error == "KeyError"
    assert [frame.rpartition(" ")[2] for frame in first.frames] == ["<lambda>", "look_up"]
    assert all(frame.startswith(HERE) for frame in first.frames)
    assert "Anna" not in repr(first)
    assert "return {}[name]" in texts[0]
    assert texts[0].endswith("KeyError: 'Anna Meier'")


def test_a_tool_is_shown_by_what_it_raised_and_not_by_what_duologue_made_of_it() -> None:
    wrapped = ServiceError(ErrorClass.TOOL_ERROR, "no such name")
    wrapped.__cause__ = raised_by(lambda: look_up("x"))
    assert root_of(wrapped) is wrapped.__cause__
    shown = traceback_of(wrapped)
    assert shown.error == "KeyError"
    assert "ServiceError" not in shown.text


def test_a_failure_inside_duologue_keeps_all_its_frames() -> None:
    shown = traceback_of(raised_by(lambda: asyncio.run(None)))  # type: ignore[arg-type]
    assert shown.frames
    assert shown.error in ("TypeError", "ValueError")


def test_an_expected_failure_without_the_developers_code_is_shown_by_its_message_alone() -> None:
    def refuse() -> None:
        raise ServiceError(ErrorClass.AUTH_FAILURE, "api.example needs a key")

    with Call(ScriptedBrain([Fail(ErrorClass.AUTH_FAILURE, "api.example needs a key")])) as call:
        call.user("hello").until(lambda: call.conversation.engine.failures)
        shown = traceback_of(call.conversation.engine.failures[0].failure)
    assert shown.text == "duologue.ports.failure.ServiceError: api.example needs a key"
    assert shown.frames
    assert "in refuse" in traceback_of(raised_by(refuse)).text


def test_a_mistake_of_syntax_is_shown_alone() -> None:
    shown = traceback_of(raised_by(lambda: compile("def broken(:", "agent.py", "exec")))
    assert "tracebacks.py" not in shown.text
    assert "agent.py" in shown.text


def test_a_cause_is_shown_too() -> None:
    def fail() -> None:
        try:
            look_up("x")
        except KeyError as missing:
            raise RuntimeError("can't book") from missing

    shown = traceback_of(raised_by(fail))
    assert "KeyError" in shown.text
    assert shown.text.endswith("RuntimeError: can't book")


def test_a_long_message_is_shortened_in_the_middle() -> None:
    def fail() -> None:
        raise ValueError("x" * CHARS_MAX + "end")

    shown = traceback_of(raised_by(fail))
    assert len(shown.text) < CHARS_MAX + 10
    assert shown.text.endswith("end")
    assert "…" in shown.text


def test_what_is_own_is_duologue_and_python_but_not_the_demo() -> None:
    package = Path(duologue.__file__).parent
    assert is_own(str(package / "runtime" / "engine.py"))
    assert is_own(asyncio.__file__)
    assert is_own("<frozen importlib>")
    assert not is_own(str(package / "starter" / "project" / "actions.py"))
    assert not is_own(HERE)
