"""Functions as tools: schemas from hints, checked arguments, jobs, threads."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field, field_validator

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, Mode, ServiceError, Tool
from duologue.workers import FunctionWorker, as_worker, tool
from duologue.workers.function_tools import ThreadJob
from tests.workers.worker_fakes import WAIT_S_MAX, NotedJob


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Guest(BaseModel):
    name: str
    age: int = 18

    @field_validator("name")
    @classmethod
    def is_known(cls, name: str) -> str:
        if name == "nobody":
            raise ValueError("nobody is not a guest")
        return name


@dataclass
class Place:
    street: str
    floor: int = 0


@tool
def book(
    day: date,
    guests: list[Guest],
    where: Place,
    colour: Colour = Colour.RED,
    meal: Literal["lunch", "dinner"] = "dinner",
    note: Optional[str] = None,  # noqa: UP045 - people still write it
    seats: Annotated[int, Field(ge=1, le=12, description="How many chairs.")] = 2,
    extras: dict[str, float] | None = None,
) -> str:
    """Book a table
    for some guests.

    Only on weekdays.

    Args:
        day: The day of the visit,
            in the local calendar.
        note (str, optional): Anything else.
        seats: Not this, the hint says it better.

    Returns:
        day: not a parameter.
    """
    return f"{day:%d.%m.} {[g.name for g in guests]} {where} {colour} {meal} {note} {seats} {extras}"


def run(work: object, arguments: dict[str, Any], job: Job | None = None) -> Any:
    async def main() -> object:
        return await asyncio.wait_for(as_worker(work).run(arguments, job or NotedJob()), WAIT_S_MAX)

    return asyncio.run(main())


def refusal(work: object, arguments: dict[str, Any]) -> str:
    with pytest.raises(ServiceError) as refused:
        run(work, arguments)
    assert refused.value.error is ErrorClass.INVALID_ARGS
    return str(refused.value)


# -- Schemas


def test_the_hints_become_a_json_schema() -> None:
    schema = as_worker(book).tool.parameters
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["day", "guests", "where"]
    properties = schema["properties"]
    assert list(properties) == ["day", "guests", "where", "colour", "meal", "note", "seats", "extras"]
    assert properties["day"] == {
        "type": "string",
        "format": "date",
        "description": "The day of the visit, in the local calendar.",
    }
    assert properties["guests"] == {"type": "array", "items": {"$ref": "#/$defs/Guest"}}
    assert properties["meal"] == {"type": "string", "enum": ["lunch", "dinner"], "default": "dinner"}
    assert properties["note"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert properties["note"]["description"] == "Anything else."
    assert properties["seats"]["description"] == "How many chairs."
    assert (properties["seats"]["minimum"], properties["seats"]["maximum"]) == (1, 12)
    assert properties["colour"]["default"] == "red"
    assert schema["$defs"]["Colour"] == {"type": "string", "enum": ["red", "blue"]}
    assert schema["$defs"]["Guest"]["required"] == ["name"]
    assert schema["$defs"]["Place"]["properties"]["floor"] == {"type": "integer", "default": 0}
    assert "title" not in str(schema)


def test_the_first_paragraph_is_the_description() -> None:
    assert as_worker(book).tool.description == "Book a table for some guests."


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def now() -> str:
        return "noon"

    worker = as_worker(now)
    assert worker.tool == Tool("now", "", {"type": "object", "properties": {}, "additionalProperties": False})
    assert run(now, {}) == "noon"


def test_parameters_may_have_names_that_pydantic_uses_itself() -> None:
    @tool
    def odd(schema: str, json: int, model_config: str, _hidden: str, title: str, copy: bool = False) -> list[object]:
        return [schema, json, model_config, _hidden, title, copy]

    properties = as_worker(odd).tool.parameters["properties"]
    assert list(properties) == ["schema", "json", "model_config", "_hidden", "title", "copy"]
    given = {"schema": "a", "json": 1, "model_config": "b", "_hidden": "c", "title": "d"}
    assert run(odd, given) == ["a", 1, "b", "c", "d", False]


def test_only_made_up_titles_are_left_out_of_the_schema() -> None:
    def lend(book: dict[str, str] = {"title": "Emma"}) -> None: ...  # noqa: B006

    assert as_worker(lend).tool.parameters["properties"]["book"]["default"] == {"title": "Emma"}


def test_hints_may_name_types_that_are_local_to_the_decorated_function() -> None:
    class Local(BaseModel):
        n: int

    @tool
    def double(value: Local) -> int:
        return value.n * 2

    assert run(double, {"value": {"n": 4}}) == 8


def test_the_hint_of_the_result_is_not_looked_at() -> None:
    def f(n: int) -> NoSuchType:  # type: ignore[name-defined] # noqa: F821
        return n

    assert run(f, {"n": 1}) == 1


def test_options_name_the_tool_and_say_how_it_is_treated() -> None:
    @tool(name="dig-deep", description="Digs.", mode="delegate", cancellable=True)
    def dig(metres: int) -> int:
        return metres

    made = as_worker(dig).tool
    assert (made.name, made.description, made.mode, made.cancellable) == ("dig-deep", "Digs.", Mode.DELEGATE, True)
    assert tool(mode=Mode.DISPATCH)(dig) is dig
    assert as_worker(dig).tool.mode is Mode.DISPATCH


def test_a_decorated_function_is_still_that_function() -> None:
    @tool
    def add(a: int, b: int = 1) -> int:
        return a + b

    assert add(2) == 3
    assert not isinstance(add, FunctionWorker)


# -- What is refused when it is declared


def no_hint(a) -> None: ...  # type: ignore[no-untyped-def]
def many(*names: str) -> None: ...
def options(**names: str) -> None: ...
def by_place(a: int, /) -> None: ...
def unknown(a: NoSuchType) -> None: ...  # type: ignore[name-defined] # noqa: F821
def no_json(a: threading.Lock) -> None: ...
def a_function(a: Callable[[int], int]) -> None: ...
def field_default(a: int = Field(3, description="three")) -> None: ...  # type: ignore[assignment]


async def pieces(a: int) -> AsyncIterator[str]:
    yield str(a)


def items(a: int) -> Iterator[str]:
    yield str(a)


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (no_hint, "no_hint: `a` has no type hint: add one, such as `a: str`"),
        (many, r"`\*names: 'str'` can't be described to a brain: give every argument a name and a type"),
        (options, "give every argument a name and a type"),
        (by_place, "positional-only, but a brain passes arguments by name: remove the `/`"),
        (unknown, "the type 'NoSuchType' in its hints is not known here: define or import it"),
        (no_json, "no_json: a type in its hints has no JSON form"),
        (a_function, "a_function: a type in its hints has no JSON form"),
        (field_default, r"write `a: Annotated\[<type>, Field\(...\)\]`"),
        (pieces, r"pieces is a generator.*add a parameter `job: Job` and call job.progress\(\)"),
        (items, "items is a generator"),
        (lambda: 1, "'<lambda>' can't be a tool's name"),
        (staticmethod(by_place), "write @staticmethod above @tool"),
        (len, "a tool must be a function, a method or a worker"),
        (functools.partial(no_hint, 1), "a tool must be a function, a method or a worker, not partial"),
    ],
    ids=lambda value: getattr(value, "__name__", None) or type(value).__name__,
)
def test_a_function_that_cannot_be_described_is_refused_with_advice(function: Any, advice: str) -> None:
    with pytest.raises(TypeError, match=advice):
        tool(function)
    with pytest.raises(TypeError, match=advice):
        as_worker(function)


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "dot.ted"])
def test_a_name_that_models_do_not_accept_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="can't be a tool's name: pass name="):
        tool(name=name)(many)


def test_an_unknown_mode_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="'tool', 'delegate', 'dispatch', not 'later'"):
        tool(mode="later")(run)  # type: ignore[arg-type]


# -- Arguments


def test_arguments_arrive_as_the_hints_say() -> None:
    said = run(
        book,
        {
            "day": "2026-11-15",
            "guests": [{"name": "Ada"}],
            "where": {"street": "Elm"},
            "colour": "blue",
            "seats": "4",
            "extras": {"cake": 2},
        },
    )
    assert said == "15.11. ['Ada'] Place(street='Elm', floor=0) Colour.BLUE dinner None 4 {'cake': 2.0}"


@pytest.mark.req("L-07")
def test_arguments_that_do_not_fit_are_refused_before_anything_runs() -> None:
    ran = []

    def work(n: int) -> None:
        ran.append(n)

    for arguments in ({}, {"n": "many"}, {"n": 1, "m": 2}, {"n": None}, {"n": [1]}):
        refusal(work, arguments)
    assert ran == []


def test_a_refusal_names_every_wrong_argument_in_plain_words() -> None:
    said = refusal(
        book, {"guests": [{"name": "nobody"}], "where": {"street": "Elm"}, "seats": 40, "meal": "tea", "tip": 3}
    )
    assert said == (
        "wrong arguments: `day` is missing; `guests.0.name`: nobody is not a guest;"
        " `meal`: should be 'lunch' or 'dinner'; `seats`: should be less than or equal to 12;"
        " `tip` is not an argument (known: `day`, `guests`, `where`, `colour`, `meal`, `note`, `seats`, `extras`)"
    )


def test_a_refusal_does_not_repeat_what_was_sent() -> None:
    def work(n: int) -> None: ...

    secret = "secret" * 200
    said = refusal(work, {"n": secret, secret: 1})
    assert secret not in said
    assert len(said) < 400
    with pytest.raises(ServiceError) as refused:
        run(work, {"n": secret})
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_a_long_list_of_problems_is_cut() -> None:
    def work(n: int) -> None: ...

    assert refusal(work, {f"x{i}": i for i in range(20)}).endswith("and 16 more")


def test_arguments_that_are_no_object_are_refused() -> None:
    def work(n: int) -> None: ...

    assert refusal(work, [1]) == "wrong arguments: expected one JSON object"  # type: ignore[arg-type]


def test_what_is_left_out_keeps_the_default_of_the_function_itself() -> None:
    default: list[str] = []

    @tool
    def work(tags: list[str] = default) -> object:
        return tags

    assert run(work, {}) is default


# -- Running


def test_an_async_function_is_awaited() -> None:
    @tool
    async def fetch(n: int) -> dict[str, int]:
        await asyncio.sleep(0)
        return {"n": n}

    assert run(fetch, {"n": 1}) == {"n": 1}


def test_a_plain_function_runs_beside_the_event_loop_with_its_context() -> None:
    caller: contextvars.ContextVar[str] = contextvars.ContextVar("caller")
    seen: list[object] = []
    go_on = threading.Event()

    def work() -> str:
        seen.append((caller.get(), threading.current_thread() is threading.main_thread()))
        return "free" if go_on.wait(WAIT_S_MAX) else "the loop was held up"

    async def main() -> object:
        caller.set("Ada")
        running = asyncio.create_task(as_worker(work).run({}, NotedJob()))
        await asyncio.sleep(0)
        go_on.set()  # only a loop that goes on gets here
        return await running

    assert asyncio.run(main()) == "free"
    assert seen == [("Ada", False)]


def test_methods_know_their_object() -> None:
    class Shop:
        def __init__(self, stock: dict[str, int]) -> None:
            self.stock = stock

        @tool(cancellable=True)
        async def find(self, what: str) -> int:
            """How many there are."""
            return self.stock[what]

        def count(self) -> int:
            return len(self.stock)

        @classmethod
        @tool
        def name(cls) -> str:
            return cls.__name__

        @staticmethod
        @tool
        def twice(n: int) -> int:
            return 2 * n

    shop, other = Shop({"apple": 3}), Shop({"apple": 5, "pear": 1})
    assert as_worker(shop.find).tool.parameters["required"] == ["what"]
    assert as_worker(shop.find).tool.cancellable
    assert run(shop.find, {"what": "apple"}) == 3
    assert run(other.find, {"what": "apple"}) == 5
    assert run(other.count, {}) == 2
    assert run(shop.name, {}) == "Shop"
    assert run(Shop.twice, {"n": 4}) == 8
    with pytest.raises(TypeError, match=r"find is a method: pass it from an object"):
        as_worker(Shop.find)


def test_a_wrapped_function_keeps_its_hints_and_is_awaited() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return wrapper

    @tool
    @logged
    async def find(what: str, job: Job) -> str:
        return f"{what}? {await job.ask('Which one?')}"

    assert list(as_worker(find).tool.parameters["properties"]) == ["what"]
    assert run(find, {"what": "apple"}, NotedJob(answer="the red one")) == "apple? the red one"


def test_a_worker_is_already_a_worker() -> None:
    worker = as_worker(book)
    assert as_worker(worker) is worker
    with pytest.raises(TypeError, match="FunctionWorker is a class: pass an object of it"):
        as_worker(FunctionWorker)


# -- Jobs


def test_a_parameter_of_type_job_gets_the_running_job_and_is_not_in_the_schema() -> None:
    @tool(mode="delegate")
    async def plan(goal: str, job: Job) -> str:
        """Plan something.

        Args:
            goal: What for.
            job: Not for brains.
        """
        job.progress("thinking", 0.5)
        job.partial("half a plan")
        job.detach()
        return f"{goal} by {await job.ask('When?')}, call {job.call}"

    job = NotedJob(call=7, answer="Friday")
    assert list(as_worker(plan).tool.parameters["properties"]) == ["goal"]
    assert run(plan, {"goal": "party"}, job) == "party by Friday, call 7"
    assert (job.told, job.partials, job.asked, job.detached) == ([("thinking", 0.5)], ["half a plan"], ["When?"], True)
    assert "`job` is not an argument" in refusal(plan, {"goal": "x", "job": 1})


def test_an_optional_job_is_a_job_too() -> None:
    def work(job: Job | None = None) -> bool:
        return job is not None

    assert run(work, {}) is True
    assert as_worker(work).tool.parameters["properties"] == {}


def test_a_thread_tells_its_job_in_the_event_loop() -> None:
    threads = []

    class Watching(NotedJob):
        def progress(self, text: str, fraction: float | None = None) -> None:
            threads.append(threading.current_thread())
            super().progress(text, fraction)

    def work(job: Job) -> int:
        job.progress("one", 0.1)
        job.partial("some")
        job.detach()
        job.progress("two")
        return job.call

    async def main() -> Watching:
        job = Watching(call=3)
        assert await as_worker(work).run({}, job) == 3
        return job

    job = asyncio.run(main())
    assert job.told == [("one", 0.1), ("two", None)]
    assert (job.partials, job.detached) == (["some"], True)
    assert set(threads) == {threading.main_thread()}


def test_where_there_are_no_threads_the_job_is_told_at_once() -> None:
    async def main() -> None:
        job = NotedJob()
        ThreadJob(job).progress("now")
        assert job.told == [("now", None)]

    asyncio.run(main())


def test_only_an_async_function_can_ask() -> None:
    def work(job: Job) -> str:
        return job.ask("Which?")  # type: ignore[return-value]

    with pytest.raises(ServiceError, match="write `async def`"):
        run(work, {})


def test_a_cancelled_thread_has_nobody_left_to_tell() -> None:
    go_on, ended = threading.Event(), threading.Event()

    def work(job: Job) -> None:
        job.progress("started")
        go_on.wait(WAIT_S_MAX)
        job.progress("too late")
        ended.set()

    async def main() -> NotedJob:
        job = NotedJob()
        running = asyncio.create_task(as_worker(work).run({}, job))
        await job.hears("started")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        go_on.set()
        assert await asyncio.to_thread(ended.wait, WAIT_S_MAX)
        await asyncio.sleep(0)
        return job

    assert asyncio.run(main()).told == [("started", None)]


def test_cancelling_the_job_cancels_an_async_function() -> None:
    seen = []

    async def work(job: Job) -> None:
        job.progress("started")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def main() -> None:
        job = NotedJob()
        running = asyncio.create_task(as_worker(work).run({}, job))
        await job.hears("started")
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert seen == ["cancelled"]


# -- Failures


@pytest.mark.req("L-12")
def test_a_function_that_raises_is_a_tool_error_whatever_it_raised() -> None:
    def locked() -> None:
        raise PermissionError("the door is locked")

    async def empty() -> None:
        raise KeyError

    for work, said in ((locked, "the door is locked"), (empty, "KeyError")):
        with pytest.raises(ServiceError) as failed:
            run(work, {})
        assert failed.value.error is ErrorClass.TOOL_ERROR
        assert str(failed.value) == said
        assert isinstance(failed.value.__cause__, PermissionError | KeyError)


def test_a_function_may_classify_its_failure_itself() -> None:
    def busy() -> None:
        raise ServiceError(ErrorClass.RATE_LIMIT, "later")

    with pytest.raises(ServiceError) as failed:
        run(busy, {})
    assert failed.value.error is ErrorClass.RATE_LIMIT


# -- What it costs


def in_a_fresh_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_workers_loads_neither_pydantic_nor_the_mcp_sdk() -> None:
    code = "import sys, duologue.workers; print(sorted({'pydantic', 'mcp', 'mcp_types', 'httpx2'} & set(sys.modules)))"
    assert in_a_fresh_python(code) == "[]"


@pytest.mark.parametrize(
    ("missing", "use", "advice"),
    [
        ("pydantic", "duologue.workers.as_worker(f)", "pip install 'duologue[tools]'"),
        ("mcp", "asyncio.run(duologue.workers.McpServer.stdio('x').open())", "pip install 'duologue[mcp]'"),
    ],
)
def test_what_is_not_installed_is_named_in_one_line(missing: str, use: str, advice: str) -> None:
    code = (
        f"import asyncio, sys; sys.modules['{missing}'] = None\n"
        f"import duologue.workers\ndef f(n: int) -> int: ...\n"
        f"try:\n    {use}\nexcept ImportError as missing: print(missing)"
    )
    assert in_a_fresh_python(code).endswith(advice)
