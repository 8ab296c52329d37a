"""The option `--json` of the commands: one JSON object on standard output instead of text."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON object instead of text.")]


def write_json(data: dict[str, Any]) -> None:
    """Write this object to standard output, indented."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")
