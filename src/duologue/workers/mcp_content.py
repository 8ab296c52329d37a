"""Checks the arguments of MCP tools, and turns their results into text.

Rule: pictures, audio and binary files are only named, because a brain that speaks has no use for base64.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
from jsonschema.validators import Draft202012Validator, validator_for  # type: ignore[import-untyped]
from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from referencing import Registry
from referencing.exceptions import Unresolvable

from duologue.core.leaves import ErrorClass
from duologue.ports import Job, ServiceError

from .results import result_text, shorten

PROBLEMS_MAX = 5
PROBLEM_CHARS_MAX = 200
NAME_CHARS_MAX = 60


def text_of(result: CallToolResult) -> str:
    """The result of a tool call as text. Structured content is added only if the text doesn't already contain it."""
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    said = [_name_block(block) for block in result.content]
    if result.structured_content is not None and not _is_said(result.structured_content, texts):
        said.append(result_text(result.structured_content))
    return "\n".join(said) or "done"


def _name_block(block: ContentBlock) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ImageContent | AudioContent):
        return f"[{block.type}: {block.mime_type}, {_size(block.data)}]"
    if isinstance(block, ResourceLink):
        return f"[file: {block.title or block.name}, {block.uri}]"
    inner = block.resource
    if isinstance(inner, TextResourceContents):
        return inner.text
    return f"[file: {inner.uri}, {inner.mime_type or 'unknown type'}, {_size(inner.blob)}]"


def _size(base64: str) -> str:
    return f"{max(1, len(base64) * 3 // 4 // 1024)} kB"


def _is_said(structured: Any, texts: list[str]) -> bool:
    """Do these texts already contain the structured content? Servers repeat the content as text, in one piece or item
    by item, with or without a wrapper named `result`."""
    wrapped = isinstance(structured, dict) and list(structured) == ["result"]
    value = structured["result"] if wrapped else structured
    read = [_read(text) for text in texts]
    return value is None or any(form == value for form in (read, *read, *texts)) or structured in read


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def check_arguments(schema: Mapping[str, Any], arguments: dict[str, Any]) -> None:
    """Check arguments against a tool's schema. Raises a ServiceError (INVALID_ARGS) that names the wrong arguments. If
    the schema itself is invalid, all arguments are accepted here, and the server checks them."""
    # With an empty registry, a schema can't make this process fetch a URL.
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
        problems = sorted(kind(schema, registry=Registry()).iter_errors(arguments), key=lambda each: list(each.path))
    except (SchemaError, Unresolvable, TypeError):
        return
    if problems:
        said = [_say_problem(problem) for problem in problems[:PROBLEMS_MAX]]
        more = [f"and {len(problems) - PROBLEMS_MAX} more"] if len(problems) > PROBLEMS_MAX else []
        raise ServiceError(ErrorClass.INVALID_ARGS, "wrong arguments: " + "; ".join(said + more))


def _say_problem(problem: Any) -> str:
    """Describe one problem with the arguments. The library's own message isn't used, because it quotes the
    arguments."""
    place = ".".join(str(part) for part in problem.absolute_path)
    rule, wanted = problem.validator, problem.validator_value
    if rule == "required":
        missing = [name for name in wanted if name not in problem.instance]
        return "; ".join(f"`{f'{place}.{name}' if place else name}` is missing" for name in missing)
    if rule == "additionalProperties":
        known = problem.schema.get("properties", {})
        extra = [str(name) for name in problem.instance if name not in known]
        return shorten(", ".join(f"`{name}`" for name in extra) + " is not an argument", PROBLEM_CHARS_MAX, "…")
    place = shorten(place, NAME_CHARS_MAX, "…")
    says = {"type": "should be of type", "enum": "should be one of", "const": "should be"}.get(rule, f"breaks {rule}:")
    return shorten(f"`{place or 'arguments'}` {says} {result_text(wanted)}", PROBLEM_CHARS_MAX, "…")


async def answer_elicitation(params: ElicitRequestParams, job: Job | None) -> ElicitResult:
    """Answer a server's request for input. If the server requests a single piece of text, the user is asked for it. Any
    other request is declined."""
    field = _single_text(params)
    if job is None or field is None:
        return ElicitResult(action="decline")
    answer = await job.ask(params.message)
    return ElicitResult(action="accept", content={field: answer})


def _single_text(params: ElicitRequestParams) -> str | None:
    """The name of the requested field, if the server requests exactly one field and the field takes free text.
    Otherwise None."""
    if not isinstance(params, ElicitRequestFormParams):
        return None
    properties = params.requested_schema.get("properties", {})
    if len(properties) != 1:
        return None
    name, schema = next(iter(properties.items()))
    is_free = schema.get("type") == "string" and not {"enum", "oneOf", "format", "pattern"} & schema.keys()
    return name if is_free else None
