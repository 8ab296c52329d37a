"""The page of phrases: every text that the agent says and shows by itself, in every language, and how to replace it.

Reads the texts from `duologue.phrases`. Rule: the page has every code, and no text is typed in here.
"""

from __future__ import annotations

from collections.abc import Iterator

from duologue.phrases.texts import FIELDS, LABELS, LANGUAGES, NOTICES, SPOKEN, Texts, texts_in

_OPENING = """\
What the agent says and shows without asking the brain: words while an answer is awaited, apologies, check-ins, the
goodbye, labels and notices. Each text has a code and exists in ten languages: {languages}.

- `Agent(language="de")` chooses the language of what is said, of labels and of hints. `de-AT` uses German. A language
  without a file uses English. A client of the server gets labels and notices in the language of its own `hello`.
- A spoken phrase has two or more variants that take turns. A number of the conversation (of the reply, the check-in or
  the cue) chooses the variant, so a journal replays with the same words.
- Ears that say which languages they hear (`languages`) are checked: `Agent(ears=LocalEars(), language="de")` is an
  `InvalidAgent`, because the local model transcribes English only. Ears without `languages` are accepted.

## Texts of your own

```python
from duologue import Agent, Phrases

phrases = Phrases(
    greeting="Hello! This is the bakery.",
    check_ins=("Are you still there?",),
    spoken={{"working": ("One moment.", "Just a second."), "apology": "", "tool_running": "Checking {{tool}}."}},
    shown={{"listening": "All ears", "recovered": "Back to normal."}},
)
agent = Agent(brain, phrases=phrases)
agent.says("working", 1)  # "Just a second."
```

- `check_ins`, `goodbye` and `broken_off` are short for the codes `check_in`, `goodbye` and `broken_off`.
- `None` and a code that isn't given mean the text of the language. An empty check-in, goodbye or greeting is left to
  the brain; any other empty spoken text isn't said. A text that is shown can't be empty.
- Fields are in braces. A field or code that doesn't exist is a problem that is listed when the agent is made. Write
  `{{{{` for a brace.
- Your texts replace those of every language, so write them in the agent's language.

## A language of your own

Copy `src/duologue/phrases/languages/en.toml` to the code of the language, such as `sv.toml`, and translate every text;
then add its words to turn-taking ([languages](turn-taking.md)). Tests compare the codes, fields and numbers of variants
of all files. Write sentences that a voice can say: no abbreviations, no markup, no gender of the speaker if the
language allows it.
"""


def phrases_page(notice: str) -> str:
    known = ", ".join(LANGUAGES[:-1]) + f" and {LANGUAGES[-1]}"
    lines = ["# Phrases", "", notice, "", _OPENING.format(languages=known), *_codes(), *_notices()]
    for language in LANGUAGES:
        lines += [f"## {language}", "", *_texts(texts_in(language)), ""]
    return "\n".join(lines)


def _codes() -> Iterator[str]:
    yield from ("## Spoken", "", "| code | said when | fields | first variant in English |", "|---|---|---|---|")
    english = texts_in("en").spoken
    for code, when in SPOKEN.items():
        yield f"| `{code}` | {when} | {_fields(code)} | {english[code][0]} |"
    yield ""


def _notices() -> Iterator[str]:
    yield from ("## Shown", "", "| code | kind | fields | in English |", "|---|---|---|---|")
    english = texts_in("en")
    yield from (f"| `{code}` | label | | {english.labels[code]} |" for code in LABELS)
    yield from (f"| `{code}` | notice | {_fields(code)} | {english.notices[code]} |" for code in NOTICES)
    yield ""


def _texts(texts: Texts) -> Iterator[str]:
    yield from ("| code | text |", "|---|---|")
    yield from (f"| `{code}` | {'<br>'.join(variants)} |" for code, variants in texts.spoken.items())
    yield from (f"| `{code}` | {text} |" for code, text in {**texts.labels, **texts.notices}.items())


def _fields(code: str) -> str:
    return ", ".join(f"`{{{name}}}`" for name in sorted(FIELDS.get(code, ())))
