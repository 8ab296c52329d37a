"""`duologue spoken`: what a voice is given for a text."""

from __future__ import annotations

import json

from tests.cli.command_line import run


def test_each_sentence_is_a_line_as_it_is_spoken() -> None:
    done = run("spoken", "Dr. Smith paid **$3.50** at 5 p.m. yesterday. 👍")
    assert done.stdout == "Doctor Smith paid three dollars and fifty cents at five p m yesterday.\n(only written)\n"
    assert done.returncode == 0


def test_json_has_both_forms() -> None:
    done = run("spoken", "Am 3. Mai.", "--language", "de", "--json")
    assert json.loads(done.stdout) == {
        "language": "de",
        "sentences": [{"written": "Am 3. Mai.", "spoken": "Am dritten Mai."}],
    }


def test_a_language_that_is_no_code_is_refused() -> None:
    done = run("spoken", "Hello", "--language", "german!")
    assert done.returncode == 1
    assert "--language must be a code such as en or de-AT, not 'german!'" in done.stderr
