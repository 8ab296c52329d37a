"""`--json`: one JSON object on standard output instead of a table."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON object instead of a table.")]


def write_json(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data, indent=2) + "\n")
