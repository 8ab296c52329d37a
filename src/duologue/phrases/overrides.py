"""`Phrases`: your own texts, which replace the texts of the agent's language.

Rule: every text has a code, and can be replaced under this code. A code or field that doesn't exist is reported as a
problem, in one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from .texts import FIELDS, SHOWN, SPOKEN, fields_of, filled, label, notice, one_of, texts_in

_NAMED = {"check_ins": "check_in", "goodbye": "goodbye", "broken_off": "broken_off"}  # fields that replace a code


@dataclass(frozen=True, slots=True)
class Phrases:
    """What the agent says and shows without asking the brain. A text that is None is taken from the agent's language.
    If the greeting, the check-ins or the goodbye are empty (""), the brain is asked for a text instead. If any other
    text is empty, nothing is said."""

    greeting: str = ""  # said first; with a greeting, the agent greets in every profile
    check_ins: tuple[str, ...] | None = None  # one for each silence
    goodbye: str | None = None  # after the last check-in
    broken_off: str | None = None  # said when an answer fails while the agent speaks it
    # Anything else that is said, by its code: {"working": "One moment."}, or several texts that take turns.
    spoken: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict, hash=False)
    # Labels and notices that are shown, by their code: {"listening": "I'm all ears"}.
    shown: Mapping[str, str] = field(default_factory=dict, hash=False)

    def say(self, language: str, code: str, number: int, **fields: str) -> str:
        """The spoken text with this code; "" if nothing is said. If there are several texts, `number` chooses one of
        them."""
        return filled(one_of(self.variants(language, code), number), fields)

    def variants(self, language: str, code: str) -> tuple[str, ...]:
        """All texts with this code: your own texts if there are any, otherwise the texts of the language."""
        for name, named in _NAMED.items():
            own = getattr(self, name)
            if named == code and own is not None:
                return _texts(own)
        own = self.spoken.get(code)
        return texts_in(language).spoken[code] if own is None else _texts(own)

    def label(self, language: str, code: str) -> str:
        """The label with this code: your own text if there is one, otherwise the text of the language."""
        return filled(self.shown[code], {}) if code in self.shown else label(language, code)

    def notice(self, language: str, code: str, **fields: str) -> str:
        """The text of the notice with this code: your own text if there is one, otherwise the text of the language."""
        if code not in self.shown:
            return notice(language, code, **fields)
        parts = texts_in(language).parts
        return filled(self.shown[code], {name: parts[v] if name == "part" else v for name, v in fields.items()})

    def missing_spoken(self) -> list[str]:
        """The codes of spoken texts that are not given here, in alphabetical order. They come from the language."""
        named = {code for name, code in _NAMED.items() if getattr(self, name) is not None}
        given = self.spoken if isinstance(self.spoken, Mapping) else {}
        return sorted(SPOKEN.keys() - named - given.keys())

    def problems(self) -> list[str]:
        """What is wrong with these texts, one line each."""
        if not isinstance(self.spoken, Mapping) or not isinstance(self.shown, Mapping):
            return ["phrases.spoken and phrases.shown must be dicts of texts by their code"]
        if isinstance(self.check_ins, str):
            return ["phrases.check_ins must be a tuple of texts: write (text,) for one"]
        found = _problems_of("phrases.greeting", "greeting", self.greeting)
        for name, code in _NAMED.items():
            own = getattr(self, name)
            found += [] if own is None else _problems_of(f"phrases.{name}", code, own)
            if own is not None and code in self.spoken:
                found.append(f"phrases.{name} and phrases.spoken[{code!r}] are both given: remove one")
        for code, own in self.spoken.items():
            place = f"phrases.spoken[{code!r}]"
            found += _problems_of(place, code, own) if code in SPOKEN else [_unknown(place, code, SPOKEN)]
        for code, own in self.shown.items():
            place = f"phrases.shown[{code!r}]"
            if code not in SHOWN:
                found.append(_unknown(place, code, SHOWN))
            elif not isinstance(own, str) or not own.strip():
                found.append(f"{place} must be a text that isn't empty, not {own!r}")
            else:
                found += _problems_of(place, code, own)
        return found


def _texts(own: str | tuple[str, ...]) -> tuple[str, ...]:
    return (own,) if isinstance(own, str) else tuple(own)


def _problems_of(place: str, code: str, own: object) -> list[str]:
    texts = [own] if isinstance(own, str) else own
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        return [f"{place} must be a text or a tuple of texts, not {own!r}"]
    return [problem for text in texts if (problem := _field_problem(place, code, text))]


def _field_problem(place: str, code: str, text: str) -> str:
    known = FIELDS.get(code, frozenset())
    try:
        unknown = sorted(fields_of(text) - known)
    except ValueError as failure:
        return f"{place}: {text!r} can't be read ({failure}): write {{{{ and }}}} for a brace"
    if not unknown:
        return ""
    has = f"it has {', '.join(f'{{{name}}}' for name in sorted(known))}" if known else "it has no fields"
    return f"{place}: unknown field {{{unknown[0]}}}: {has}"


def _unknown(place: str, code: object, known: Iterable[str]) -> str:
    near = get_close_matches(str(code), known, 1)
    advice = f": did you mean {near[0]!r}?" if near else f": known are {', '.join(known)}"
    return f"{place}: unknown code{advice}"
