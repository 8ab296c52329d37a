"""The labels that people read, in their language: names of the phases, and feedback while people wait.

Rule: the texts are stored as data in `duologue.phrases`, where every language has every label. For an unknown language,
English is used.
"""

from __future__ import annotations

from duologue.phrases.overrides import Phrases
from duologue.phrases.texts import LANGUAGES as LANGUAGES
from duologue.phrases.texts import texts_in

WAITS = ("working", "still_working", "making_progress", "taking_longer")  # the first has the label of its phase
LABELS: dict[str, dict[str, str]] = {language: texts_in(language).labels for language in LANGUAGES}


_OWN = Phrases()


def label(key: str, language: str = "en", phrases: Phrases = _OWN) -> str:
    """The label for a phase or for a kind of wait. `de-AT` and `de_AT` give the German label, and an unknown language
    gives the English label. If `phrases` has a label for this key, it is used instead. A key without a label is
    returned unchanged."""
    return phrases.label(language, key) if key in LABELS["en"] else key
