"""`duologue spoken`: shows the text that a voice (TTS) gets for a written text, sentence by sentence. Rule: the command
splits and rewrites the text exactly as a conversation does."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from duologue.core.errors import DuologueError

from .json_output import JsonOption, write_json


def spoken_command(
    text: Annotated[str, typer.Argument(help="The text as it is written.")],
    language: Annotated[str, typer.Option(help="The code of the language, such as en, en-GB, de or es-MX.")] = "en",
    as_json: JsonOption = False,
) -> None:
    """Show how a text is spoken: numbers, dates, money and abbreviations in words, without markup."""
    from duologue.spoken.forms import SpokenForms
    from duologue.turns.language import is_code
    from duologue.voice.sentences import Sentences

    if not is_code(language):
        raise DuologueError(f"--language must be a code such as en or de-AT, not {language!r}")
    forms, splitter = SpokenForms(language), Sentences(language)
    sentences = [forms.of(one) for one in (*splitter.feed(text), splitter.rest()) if one]
    if as_json:
        rows = [{"written": one.written, "spoken": one.text} for one in sentences]
        write_json({"language": language, "sentences": rows})
        return
    for one in sentences:
        sys.stdout.write(f"{one.text or '(only written)'}\n")
