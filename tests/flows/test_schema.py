"""The schema for editors, and the page in the docs that describes it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from duologue.flows import flow_schema, parse_flows
from duologue.flows.problems import InvalidFlows
from duologue.flows.schema import STEP_MODELS, FileEntry

ROOT = Path(__file__).parent.parent.parent


# Without stories such as flights.stories.yaml, which are in the same folder.
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.yaml")) if "." not in path.stem]


def fits(value: Any, schema: Any, root: Any) -> bool:
    """Does a value fit a JSON schema? Only the words that ours uses."""
    if "$ref" in schema:
        return fits(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    for word in ("anyOf", "oneOf"):
        if word in schema and sum(fits(value, each, root) for each in schema[word]) != 1:
            return False
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    wanted = schema.get("type", [])
    names = wanted if isinstance(wanted, list) else [wanted]
    is_kind = any(value is None if name == "null" else isinstance(value, kinds[name]) for name in names)
    if names and not is_kind:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "const" in schema and value != schema["const"]:
        return False
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        return False
    if isinstance(value, list):
        return len(value) >= schema.get("minItems", 0) and all(
            fits(item, schema.get("items", {}), root) for item in value
        )
    return not isinstance(value, dict) or _entries_fit(value, schema, root)


def _entries_fit(value: dict[str, Any], schema: Any, root: Any) -> bool:
    if not set(schema.get("required", ())) <= set(value):
        return False
    for key, entry in value.items():
        known = [schema["properties"][key]] if key in schema.get("properties", {}) else []
        known += [each for pattern, each in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
        if not known and schema.get("additionalProperties") is False:
            return False
        if not all(fits(entry, each, root) for each in known):
            return False
    return True


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_fits_the_schema_for_editors(path: Path) -> None:
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    schema = flow_schema()
    assert fits(data, schema, schema)
    assert FileEntry.model_validate(data)
    flow = next(iter(data["flows"].values()))
    flow["steps"][0]["colect"] = "x"
    assert not fits(data, schema, schema)


def test_the_schema_has_every_step() -> None:
    schema = flow_schema()
    assert {model.__name__ for model in STEP_MODELS.values()} <= set(schema["$defs"])
    assert schema["required"] == ["version", "flows"]


def test_the_examples_in_the_docs_load() -> None:
    page = (ROOT / "docs" / "flows.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    whole = [block for block in blocks if block.startswith("version: 1")]
    assert whole
    domain = parse_flows(whole[0], "docs/flows.md")
    assert "order_pizza" in domain.flows
    for block in blocks:
        assert yaml.safe_load(block), block


def test_the_docs_name_every_key() -> None:
    page = (ROOT / "docs" / "flows.md").read_text(encoding="utf-8")
    schema = flow_schema()
    keys = {key for model in schema["$defs"].values() for key in model.get("properties", ())}
    missing = sorted(key for key in {*keys, *schema["properties"]} if f"`{key}`" not in page and f"`{key}:" not in page)
    assert missing == []


def test_a_language_without_a_pack_is_refused_by_line() -> None:
    with pytest.raises(InvalidFlows, match=r"there is no language pack for 'fr'; there are packs for de, en, es"):
        parse_flows("version: 1\nlanguage: fr\nflows: {hello: {steps: [{say: Bonjour}]}}\n")


def test_texts_that_a_file_doesnt_replace_are_in_its_language() -> None:
    file = 'version: 1\nlanguage: de\npatterns: {wait: "Gern."}\nflows: {hello: {steps: [{say: Hallo}]}}\n'
    patterns = parse_flows(file).patterns
    assert (patterns.wait, patterns.silence) == ("Gern.", "Sind Sie noch da?")
