"""The Dockerfile and the compose file name only what exists: paths, extras, models, options and variables."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import typer.main
import yaml

from duologue.cli.app import app
from duologue.models.catalogue import MODELS

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))


def instructions(name: str) -> list[str]:
    """The arguments of every such instruction, with continued lines joined."""
    joined = DOCKERFILE.replace("\\\n", " ")
    return re.findall(rf"^{name} (.*)$", joined, flags=re.MULTILINE)


def serve_options() -> dict[str, Any]:
    """The options of `duologue serve` by their names, and the environment variables that it reads."""
    command = typer.main.get_command(app)
    serve = command.commands["serve"]  # type: ignore[attr-defined]
    return {name: option for option in serve.params for name in (*option.opts, *option.secondary_opts)}


def test_what_is_copied_exists() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for line in instructions("COPY"):
        *sources, _ = line.split()
        for source in sources:
            assert (ROOT / source).exists(), source
            assert source not in ignored


def test_what_the_build_of_the_package_reads_is_copied() -> None:
    copied = {source for line in instructions("COPY") for source in line.split()[:-1]}
    read = set(re.findall(r'"(examples)"|with_name\("([\w.]+)"\)', (ROOT / "setup.py").read_text(encoding="utf-8")))
    named = {name for pair in read for name in pair if name}
    assert named >= {"examples", "README.md"}, "setup.py has changed: look for what it reads"
    assert {"pyproject.toml", "setup.py", "src", *named} <= copied


def test_the_python_is_one_that_the_package_supports() -> None:
    (image,) = instructions("FROM")
    version = re.fullmatch(r"python:(3\.\d+)-slim", image)
    assert version is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"Programming Language :: Python :: {version[1]}" in project["classifiers"]


def test_the_extras_and_the_models_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.findall(r"--extra (\w+)", (ROOT / "tools" / "lock_image.sh").read_text(encoding="utf-8"))
    assert extras
    assert set(extras) <= set(project["optional-dependencies"])
    (pull,) = [line for line in instructions("RUN") if "models pull" in line]
    names = shlex.split(pull.partition("&&")[0])[3:]
    assert names
    assert set(names) <= set(MODELS)


def test_the_image_and_the_nodes_start_the_server_with_options_that_it_has() -> None:
    options = serve_options()
    (entry,) = instructions("ENTRYPOINT")
    words = yaml.safe_load(entry)
    assert words[:2] == ["duologue", "serve"]
    nodes = [COMPOSE["services"][name] for name in ("a", "b")]
    for word in [*words[2:], *(word for node in nodes for word in node["command"])]:
        assert not word.startswith("--") or word in options, word


def test_the_port_is_the_same_everywhere() -> None:
    assert instructions("EXPOSE") == ["8765"]
    assert ":8765/readyz" in DOCKERFILE
    assert yaml.safe_load(instructions("ENTRYPOINT")[0])[-1] == "8765"
    for name in ("a", "b"):
        assert COMPOSE["services"][name]["ports"][0].endswith(":8765")


def test_the_nodes_read_variables_that_the_server_knows_and_share_one_healthy_store() -> None:
    known = {option.envvar for option in serve_options().values()}
    for name in ("a", "b"):
        node = COMPOSE["services"][name]
        assert {variable for variable in node["environment"] if variable.startswith("DUOLOGUE_")} <= known
        assert node["environment"]["DUOLOGUE_STORE"].split("@")[1] == "store:5432/duologue"
        assert node["depends_on"]["store"]["condition"] == "service_healthy"
    assert "healthcheck" in COMPOSE["services"]["store"]


def test_a_node_has_longer_to_stop_than_its_conversations_have() -> None:
    grace = int(COMPOSE["services"]["a"]["stop_grace_period"].removesuffix("s"))
    assert grace > serve_options()["--drain-s"].default
