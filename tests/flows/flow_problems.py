"""Flow files that are wrong, and what is reported about them."""

from __future__ import annotations

from duologue.flows import InvalidFlows, read_text

HEAD = """\
version: 1
slots:
  origin: {type: name, prompt: From where}
  day: {type: date, prompt: When, depends_on: [origin]}
  seat: {type: choice, prompt: Which seat, choices: [aisle, window]}
  note: {type: text}
flows:
  book:
    steps:
"""
SAY = "flows: {a: {steps: [{say: x}]}}"
FILE = f"version: 1\n{SAY}\n"  # what is added to it begins in line 3


def problems_of(text: str) -> list[str]:
    """The problems in a text, without the name of the file; warnings too."""
    try:
        found = read_text(text, "f.yaml").warnings
    except InvalidFlows as error:
        found = error.problems
    return [str(problem).removeprefix("f.yaml:") for problem in found]


def errors_in_steps(steps: str) -> list[str]:
    """The errors in the steps of a flow whose first step is in line 10."""
    indented = "\n".join(f"      {line}" for line in steps.splitlines())
    return [line for line in problems_of(HEAD + indented) if ": warning: " not in line]
