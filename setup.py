"""What pyproject.toml can't say: examples in the wheel, and a README for the package index.

Its pictures and links are files of the repository; a package index would show broken ones.
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

README = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
PICTURE = re.compile(r"^!\[.*\]\(.*\)\n\n", re.MULTILINE)
LINK = re.compile(r"\[([^\]]+)\]\((?:docs/|[A-Z]+\.md)[^)]*\)")


class BuildWithExamples(build_py):
    """Copies the examples of the repository into a built wheel, where `duologue init --example` finds them."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            shutil.copytree(
                "examples",
                Path(self.build_lib, "duologue", "examples"),
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("__pycache__"),
            )


setup(
    cmdclass={"build_py": BuildWithExamples},
    long_description=LINK.sub(r"\1", PICTURE.sub("", README)),
    long_description_content_type="text/markdown",
)
