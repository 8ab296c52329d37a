"""Rules that rewrite stretches of a written text, and the scan that applies them.

All rules of a language are combined into one pattern, so that a sentence is searched only one time. Rule: at each
position, the first rule that matches is applied. Text that a rule has rewritten isn't rewritten again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from .alignment import SpokenForm, SpokenText

Say: TypeAlias = Callable[[re.Match[str]], str | None]
"""What is said for a match. None keeps the match as it is written."""

_NAMED = re.compile(r"\(\?P<\w+>")
_END_MARKS = ".!?…。！？"
_CLOSING = " \t\n\"'”’»“)]*_`~|"


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """Replaces text that the pattern matches by what is said for it. `first` is a character class: the characters with
    which a match can begin. It makes the search fast."""

    first: str
    pattern: str
    say: Say | str
    compiled: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", re.compile(self.pattern))

    def apply(self, text: str, start: int) -> str | None:
        """What is said for the match that begins at `start`; None if the text stays as it is."""
        if isinstance(self.say, str):
            return self.say
        match = self.compiled.match(text, start)
        return self.say(match) if match else None


def _is_line_mark(text: str) -> bool:
    """Is this text a mark at the beginning of a heading, an item of a list or a row of a table?"""
    return text[-1:].isspace() and (text[0].isdigit() or not text[0].isalnum())


class RewriteRules:
    """An ordered list of rules, combined into one pattern."""

    def __init__(self, rules: Iterable[RewriteRule]) -> None:
        self._rules = tuple(rules)
        groups: list[tuple[str, list[str]]] = []
        for number, rule in enumerate(self._rules):
            source = f"(?P<r{number}>{_NAMED.sub('(?:', rule.pattern)})"
            if groups and groups[-1][0] == rule.first:
                groups[-1][1].append(source)
            else:
                groups.append((rule.first, [source]))
        self._scan = re.compile("|".join(f"(?={first})(?:{'|'.join(sources)})" for first, sources in groups))

    def apply(self, written: str) -> SpokenForm:
        """Apply the rules to a sentence, and return its spoken form."""
        match = self._scan.search(written)
        if match is None and written == " ".join(written.split()):
            return SpokenForm(written, written)
        spoken, at, is_listed = SpokenText(written), 0, False
        while match is not None:
            spoken.keep(at, match.start())
            at = match.end()
            text = self._rules[int(str(match.lastgroup)[1:])].apply(written, match.start())
            if text is None:
                spoken.keep(match.start(), at)
            else:
                spoken.say(text, match.start(), at)
                is_listed = is_listed or (match.start() == 0 and _is_line_mark(match.group()))
            match = self._scan.search(written, at)
        spoken.keep(at, len(written))
        self._end(spoken, written, is_listed)
        return spoken.done()

    def _end(self, spoken: SpokenText, written: str, is_listed: bool) -> None:
        """Add a full stop if the spoken text ends without a punctuation mark and needs one. It needs one after a
        heading or an item of a list, and if the written full stop was part of an abbreviation that was replaced."""
        if not spoken.last or spoken.last in f"{_END_MARKS},;:":
            return
        bare = written.rstrip(_CLOSING)
        if is_listed or bare[-1:] in _END_MARKS:
            spoken.end_with(".")
