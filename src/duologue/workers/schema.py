"""The JSON schema of a function's parameters, made from its type hints, and the check of arguments.

pydantic makes the schema and checks the arguments. It is imported only when a function is declared as a tool. Rule: a
function that can't be described raises TypeError when it is declared, never when it is called.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, ServiceError
from duologue.ports.context import Context

from .results import shorten

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

PROBLEMS_MAX = 5
PROBLEM_CHARS_MAX = 200
NAME_CHARS_MAX = 60
_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):\s*$")
_ENTRY = re.compile(r"\s*(\w+)\s*(?:\([^)]*\))?:\s*(.*)")


@dataclass(frozen=True, slots=True)
class Contract:
    """The parameters of a function: their schema, and the method `check`, which checks arguments against the schema."""

    schema: dict[str, Any]
    jobs: tuple[str, ...]  # the parameters that get the running job
    contexts: tuple[str, ...]  # the parameters that get the context of the call
    needs_self: bool  # the function is a method, whose first parameter is `self` or `cls`
    _model: type[BaseModel]
    _names: dict[str, str]  # field of the model -> name of the parameter

    def check(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """These arguments, converted to the types of the function's parameters. Arguments that were omitted stay
        omitted, so the function uses its own defaults. Raises a ServiceError (INVALID_ARGS) that names the wrong
        arguments."""
        from pydantic import ValidationError

        try:
            values = self._model.model_validate(arguments)
        except ValidationError as failure:
            # pydantic's own message quotes the arguments, so it isn't passed on.
            raise ServiceError(ErrorClass.INVALID_ARGS, self._say(failure)) from None
        given = values.model_fields_set
        return {name: getattr(values, field) for field, name in self._names.items() if field in given}

    def _say(self, failure: ValidationError) -> str:
        problems = failure.errors(include_url=False, include_context=False, include_input=False)
        said = [self._say_one(problem) for problem in problems[:PROBLEMS_MAX]]
        if len(problems) > PROBLEMS_MAX:
            said.append(f"and {len(problems) - PROBLEMS_MAX} more")
        return "wrong arguments: " + "; ".join(said)

    def _say_one(self, problem: ErrorDetails) -> str:
        place = shorten(".".join(str(part) for part in problem["loc"]), NAME_CHARS_MAX, "…")
        if not place:
            return "expected one JSON object"
        if problem["type"] == "missing":
            return f"`{place}` is missing"
        if problem["type"] == "extra_forbidden":
            known = ", ".join(f"`{name}`" for name in self._names.values()) or "none"
            return f"`{place}` is not an argument (known: {known})"
        text = problem["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
        return shorten(f"`{place}`: {text.replace('Input should', 'should', 1)}", PROBLEM_CHARS_MAX, "…")


def contract_of(function: Callable[..., Any], namespace: Mapping[str, Any] | None = None) -> Contract:
    """The contract of a function. The function's type hints may use names in its module and names in `namespace`."""
    _refuse_generators(function)
    parameters = list(inspect.signature(function).parameters.values())
    needs_self = bool(parameters) and _is_self(parameters[0])
    parameters = parameters[1:] if needs_self else parameters
    for parameter in parameters:
        _refuse_unclear(function, parameter)
    hints = _hints(function, namespace)
    jobs = tuple(p.name for p in parameters if _is_job(hints[p.name]))
    contexts = tuple(p.name for p in parameters if _is_context(hints[p.name]))
    described = [p for p in parameters if p.name not in (*jobs, *contexts)]
    names = {f"argument_{number}": p.name for number, p in enumerate(described)}
    model = _model(function, names, described, hints)
    return Contract(_schema(function, model), jobs, contexts, needs_self, model, names)


def description_of(function: Callable[..., Any]) -> str:
    """The first paragraph of the function's docstring, joined into one line."""
    paragraph = []
    for line in inspect.cleandoc(function.__doc__ or "").splitlines():
        if not line.strip() or _SECTION.match(line):
            break
        paragraph.append(line.strip())
    return " ".join(paragraph)


def notes_of(function: Callable[..., Any]) -> dict[str, str]:
    """The descriptions in the `Args:` section of the function's docstring, by the names of the parameters."""
    notes: dict[str, str] = {}
    inside, depth, name = False, 0, ""
    for line in inspect.cleandoc(function.__doc__ or "").splitlines():
        if not line.startswith(" "):
            inside = line.rstrip() in ("Args:", "Arguments:") or (inside and not line)
            continue
        if not inside or not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        depth = depth or indent
        entry = _ENTRY.match(line) if indent == depth else None
        if entry:
            name = entry[1]
            notes[name] = entry[2].strip()
        elif name:
            notes[name] = f"{notes[name]} {line.strip()}".strip()
    return notes


def _refuse_generators(function: Callable[..., Any]) -> None:
    if inspect.isasyncgenfunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError(
            f"{function.__qualname__} is a generator, but a tool has one result: return it; to report progress,"
            " add a parameter `job: Job` and call job.progress()"
        )


def _refuse_unclear(function: Callable[..., Any], parameter: inspect.Parameter) -> None:
    where = f"{function.__qualname__}: `{parameter}`"
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise TypeError(f"{where} can't be described to a brain: give every argument a name and a type")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise TypeError(f"{where} is positional-only, but a brain passes arguments by name: remove the `/`")
    if parameter.annotation is parameter.empty:
        raise TypeError(f"{where} has no type hint: add one, such as `{parameter.name}: str`")


def _is_self(first: inspect.Parameter) -> bool:
    return first.name in ("self", "cls") and first.annotation is first.empty


def _is_job(hint: Any) -> bool:
    return hint is Job or Job in typing.get_args(hint)


def _is_context(hint: Any) -> bool:
    kinds = (hint, *typing.get_args(hint))
    return any(kind is Context or typing.get_origin(kind) is Context for kind in kinds)


def _hints(function: Callable[..., Any], namespace: Mapping[str, Any] | None) -> dict[str, Any]:
    """The type hints of the parameters. The hint for the function's result isn't evaluated, so it may contain unknown
    names."""
    inner: Any = inspect.unwrap(function)
    hints = {name: hint for name, hint in inner.__annotations__.items() if name != "return"}
    try:
        return typing.get_type_hints(
            SimpleNamespace(__annotations__=hints), inner.__globals__, dict(namespace or {}), include_extras=True
        )
    except NameError as unknown:
        raise TypeError(
            f"{function.__qualname__}: the type {unknown.name!r} in its hints is not known here: define or"
            " import it at the top of the module, above the function"
        ) from None


def _model(
    function: Callable[..., Any], names: dict[str, str], parameters: list[inspect.Parameter], hints: dict[str, Any]
) -> type[BaseModel]:
    """A pydantic model of the parameters. Its fields are named `argument_0`, `argument_1` and so on, with the names of
    the parameters as aliases, because a parameter may have a name that pydantic doesn't allow for a field, such as
    `schema`."""
    try:
        from pydantic import ConfigDict, Field, create_model
        from pydantic.errors import PydanticUserError
        from pydantic.fields import FieldInfo
    except ImportError:
        raise ImportError("tools made of functions need pydantic: pip install 'duologue[tools]'") from None
    notes = notes_of(function)
    fields: dict[str, Any] = {}
    for field, parameter in zip(names, parameters, strict=True):
        default = ... if parameter.default is parameter.empty else parameter.default
        if isinstance(default, FieldInfo):
            raise TypeError(
                f"{function.__qualname__}: write `{parameter.name}: Annotated[<type>, Field(...)]`;"
                " as a default value, Field() would be passed to the function when it is called directly"
            )
        hint = hints[parameter.name]
        about: dict[str, Any] = {"alias": parameter.name}
        if parameter.name in notes and not _has_description(hint):
            about["description"] = notes[parameter.name]
        fields[field] = (hint, Field(default, **about))
    try:
        model: type[BaseModel] = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    except PydanticUserError as failure:
        raise _indescribable(function, failure) from None
    return model


def _has_description(hint: Any) -> bool:
    return any(getattr(note, "description", None) for note in getattr(hint, "__metadata__", ()))


def _schema(function: Callable[..., Any], model: type[BaseModel]) -> dict[str, Any]:
    from pydantic.errors import PydanticUserError

    try:
        schema = model.model_json_schema(by_alias=True)
    except PydanticUserError as failure:
        raise _indescribable(function, failure) from None
    plain: dict[str, Any] = _untitled({"properties": {}} | schema)
    return plain


def _indescribable(function: Callable[..., Any], failure: Exception) -> TypeError:
    return TypeError(
        f"{function.__qualname__}: a type in its hints has no JSON form ({str(failure).splitlines()[0]}):"
        " use plain types, dataclasses or pydantic models"
    )


def _untitled(schema: Any) -> Any:
    """The schema without the titles that pydantic adds, because they only repeat the names."""
    if isinstance(schema, list):
        return [_untitled(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            plain[key] = {name: _untitled(inner) for name, inner in value.items()}
        elif key in ("default", "const", "enum", "examples"):
            plain[key] = value  # values, not schemas
        elif key != "title":
            plain[key] = _untitled(value)
    return plain
