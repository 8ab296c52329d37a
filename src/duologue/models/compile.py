"""Compiles the C library of a model whose package contains only source code.

The caller has already checked the hash of the source code. Rule: only the compiler is run, never a build script or a
Makefile from the package.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from .catalogue import Model
from .failure import PullFailed

OPTIONS = ("-O2", "-fPIC", "-shared", "-w", "-fwrapv", "-fno-strict-aliasing")
"""The options of the compiler. The last two turn off optimisations that break old C code."""
_COMPILERS = ("cc", "gcc", "clang")
_COMPILE_S_MAX = 600.0


def find_compiler() -> tuple[str, ...]:
    """The command of the C compiler. This is the environment variable CC if it is set; otherwise it is the first known
    compiler that is installed. Empty if no compiler is found."""
    chosen = shlex.split(os.environ.get("CC", ""))
    for command in [chosen] if chosen else [[name] for name in _COMPILERS]:
        if path := shutil.which(command[0]):
            return (path, *command[1:])
    return ()


def require_compiler(model: Model) -> None:
    """Raise `PullFailed` if the model must be compiled and there is no C compiler."""
    if model.library is not None and not find_compiler():
        raise PullFailed(f"{model.name} needs a C compiler: install gcc or clang, or don't pull this model")


def compile_library(folder: Path, model: Model) -> None:
    """Compile the library of a model. The model's files must be in this folder. Raises `PullFailed` if the library
    can't be compiled."""
    require_compiler(model)
    assert model.library is not None
    sources = sorted(str(path) for path in (folder / model.library.sources).glob("*.c"))
    command = [*find_compiler(), *OPTIONS, "-o", str(folder / model.library.cached_as), *sources, "-lm"]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_COMPILE_S_MAX, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise PullFailed(f"{model.name} can't be compiled: {problem}; nothing was installed") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", errors="replace").splitlines()
        error = next((line.strip() for line in said if "error" in line.lower()), f"exit code {done.returncode}")
        raise PullFailed(f"{model.name} can't be compiled: {error}; nothing was installed")
