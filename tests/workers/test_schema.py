"""The schema of a function from its hints, and the check of arguments against it."""

from __future__ import annotations

import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel, Field

from duologue.ports import ServiceError, Tool
from duologue.workers import as_worker, tool
from tests.workers.booking_tool import book, refusal, run

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


def test_only_generated_titles_are_left_out_of_the_schema() -> None:
    def lend(book: dict[str, str] = {"title": "Emma"}) -> None: ...  # noqa: B006

    assert as_worker(lend).tool.parameters["properties"]["book"]["default"] == {"title": "Emma"}


def test_hints_may_name_types_that_are_local_to_the_decorated_function() -> None:
    class Local(BaseModel):
        n: int

    @tool
    def double(value: Local) -> int:
        return value.n * 2

    assert run(double, {"value": {"n": 4}}) == 8


def test_the_hint_of_the_result_is_ignored() -> None:
    def f(n: int) -> NoSuchType:  # type: ignore[name-defined] # noqa: F821
        return n

    assert run(f, {"n": 1}) == 1


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
def test_wrong_arguments_are_refused_before_the_function_runs() -> None:
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


def test_a_refusal_does_not_quote_the_arguments() -> None:
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


def test_arguments_that_are_not_an_object_are_refused() -> None:
    def work(n: int) -> None: ...

    assert refusal(work, [1]) == "wrong arguments: expected one JSON object"  # type: ignore[arg-type]


def test_omitted_arguments_get_the_functions_own_default() -> None:
    default: list[str] = []

    @tool
    def work(tags: list[str] = default) -> object:
        return tags

    assert run(work, {}) is default
