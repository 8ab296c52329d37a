"""Surveys LiveKit's plugins for docs/providers.toml: `python tools/survey_plugins.py`.

Takes the names from the extras of livekit-agents, which must be installed. Downloads each plugin's wheel without its
dependencies and reads its source: which of STT, TTS and LLM it has, whether its TTS tells word times, and whether it
talks through a native SDK or gRPC. Rule: nothing of a plugin is imported, and what was tried is never written here:
tools/providers_page.py reads the tests.
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "providers.toml"
NATIVE = ("azure-cognitiveservices", "grpcio", "google-cloud", "boto", "aws", "nvidia-riva", "onnx", "torch")
PARTS = ("STT", "TTS", "LLM")


def names_of_plugins() -> list[str]:
    """The plugins that livekit-agents names in its extras."""
    wanted = importlib.metadata.requires("livekit-agents") or []
    found = {match[1] for line in wanted if (match := re.match(r"livekit-plugins-([\w-]+)", line))}
    return sorted(found)


def survey(name: str, folder: Path) -> dict[str, str]:
    """What one plugin's wheel says. Empty if it can't be downloaded or has no STT, TTS or LLM."""
    version = importlib.metadata.version("livekit-agents")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
    done = subprocess.run([*command, f"livekit-plugins-{name}=={version}"], capture_output=True, check=False)
    wheels = sorted(folder.glob(f"livekit_plugins_{name.replace('-', '_')}-*.whl"))
    if done.returncode or not wheels:
        return {}
    with zipfile.ZipFile(wheels[0]) as wheel:
        files = {path: wheel.read(path).decode("utf-8", "replace") for path in wheel.namelist() if path.endswith(".py")}
        metadata = next(wheel.read(path).decode() for path in wheel.namelist() if path.endswith(".dist-info/METADATA"))
    parts = exported(files)
    if not parts:
        return {}
    code = "\n".join(files.values())
    needs = [line.split(":", 1)[1].strip() for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    native = sorted({one for one in NATIVE for line in needs if line.lower().startswith(one)})
    return {
        "parts": " ".join(parts),
        "word_times": "yes" if "TTS" in parts and "push_timed_transcript" in code else "",
        "native": ", ".join(native),
    }


def exported(files: dict[str, str]) -> list[str]:
    """Which of STT, TTS and LLM the package exports."""
    names: set[str] = set()
    for path, code in files.items():
        if path.count("/") == 3 and path.endswith("/__init__.py"):
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.ImportFrom):
                    names |= {alias.asname or alias.name for alias in node.names}
    return [part for part in PARTS if part in names]


def main() -> int:
    version = importlib.metadata.version("livekit-agents")
    lines = [
        "# Written by tools/survey_plugins.py from the wheels of the plugins; not edited by hand.",
        f'version = "{version}"',
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name in names_of_plugins():
            found = survey(name, Path(folder))
            if found:
                lines += ["", f"[plugins.{name}]", *(f'{key} = "{value}"' for key, value in found.items())]
    TARGET.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
