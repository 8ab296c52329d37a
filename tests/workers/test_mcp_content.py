"""Arguments and results of MCP tools, between JSON and text."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from duologue.ports import ServiceError
from duologue.workers.mcp_content import check_arguments, text_of
from tests.workers.errand_shop import Shop, ask


def test_results_are_text_and_pictures_are_named(shop: Shop) -> None:
    weather = str(shop.run(ask(shop.workers["weather"], city="Rome")))
    assert weather.count("Rome") == 1, "structured content that the text repeats is included once"
    assert shop.run(ask(shop.workers["picture"])) == "Here it is.\n[image: image/png, 3 kB]"
    assert shop.run(ask(shop.workers["nothing"])) == "done"


# -- What servers write: results and schemas


@pytest.mark.parametrize(
    ("texts", "structured", "said"),
    [
        (["5"], {"result": 5}, "5"),
        (['{"result": 5}'], {"result": 5}, '{"result": 5}'),
        (["one", "two"], {"result": ["one", "two"]}, "one\ntwo"),
        (["sunny"], {"degrees": 21}, 'sunny\n{"degrees":21}'),
        ([], {"degrees": 21}, '{"degrees":21}'),
        ([], None, "done"),
    ],
)
def test_structured_content_is_included_unless_the_text_says_the_same(
    texts: list[str], structured: Any, said: str
) -> None:
    content: list[ContentBlock] = [TextContent(text=text) for text in texts]
    assert text_of(CallToolResult(content=content, structured_content=structured)) == said


def test_files_and_audio_are_named() -> None:
    content: list[ContentBlock] = [
        AudioContent(data="A" * 8192, mime_type="audio/wav"),
        ResourceLink(name="menu", uri="file:///menu.pdf"),
        EmbeddedResource(resource=TextResourceContents(uri="file:///note.txt", text="Closed on Mondays.")),
        EmbeddedResource(resource=BlobResourceContents(uri="file:///plan.png", blob="AAAA")),
    ]
    assert text_of(CallToolResult(content=content)).splitlines() == [
        "[audio: audio/wav, 6 kB]",
        "[file: menu, file:///menu.pdf]",
        "Closed on Mondays.",
        "[file: file:///plan.png, unknown type, 1 kB]",
    ]


@pytest.mark.parametrize(
    ("schema", "arguments", "said"),
    [
        ({"properties": {"n": {"minimum": 3}}}, {"n": 1}, "`n` breaks minimum: 3"),
        ({"properties": {"n": {"const": "x"}}}, {"n": "y" * 500}, "`n` should be x"),
        ({"additionalProperties": False}, {"secret": "y" * 500}, "`secret` is not an argument"),
        (
            {"properties": {"at": {"properties": {"x": {"type": ["integer", "null"]}}, "required": ["x", "y"]}}},
            {"at": {"x": "left"}},
            '`at.y` is missing; `at.x` should be of type ["integer","null"]',
        ),
        ({"minProperties": 1}, {}, "`arguments` breaks minProperties: 1"),
    ],
)
def test_wrong_arguments_are_named_and_not_quoted(schema: dict[str, Any], arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ServiceError) as refused:
        check_arguments({"type": "object"} | schema, arguments)
    assert str(refused.value) == f"wrong arguments: {said}"


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"$ref": "https://example.invalid/schema"}, {"properties": 3}], ids=str
)
def test_an_unusable_schema_leaves_the_check_to_the_server(schema: dict[str, Any]) -> None:
    check_arguments(schema, {"n": 1})
