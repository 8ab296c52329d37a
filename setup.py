"""Only this: the examples of the repository become part of a built wheel, so that `duologue init --example` finds them.

Everything else is in pyproject.toml.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithExamples(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree(
                "examples",
                Path(self.build_lib, "duologue", "examples"),
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("__pycache__"),
            )


setup(cmdclass={"build_py": BuildWithExamples})
