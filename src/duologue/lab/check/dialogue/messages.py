"""The messages that are tried in dialogues, in each language: answers, commands, corrections, and messages that tempt a
machine into a silent error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from duologue.dialogue.language.packs import pack_of
from duologue.dialogue.language.readings import SlotKind


@dataclass(frozen=True, slots=True)
class TriedMessages:
    """The messages of one language."""

    for_nlu: str
    common: tuple[str, ...]  # tried in every state
    said: Mapping[SlotKind, tuple[str, str]]  # two answers to the question for a slot of each kind
    troubling: tuple[str, ...]  # two values, a span of days, a limit, a side question
    ambiguous: Mapping[SlotKind, str]
    wished: Mapping[SlotKind, tuple[str, str]]  # a range and a wish in it, and the value that is wished
    retry: str
    yesterday: str
    second: str  # the second of several
    change_it: str  # a wish for a change
    tagged: tuple[str, ...]  # a yes, and a statement that asks whether it is so
    change: str  # with {slot} and {value}
    make_it: str  # with {value}
    money: str  # with {value}
    list_replies: tuple[str, ...] = ()  # while a list is asked for
    list_changes: tuple[str, ...] = ()  # after a list


FOR_NLU = "so what about that other thing we had"
_ENGLISH = TriedMessages(
    FOR_NLU,
    ("yes", "no", "cancel", "help", "repeat", "hold on", "go back", "skip", "start over", "a person please"),
    {
        SlotKind.NUMBER: ("two", "five"),
        SlotKind.DATE: ("tomorrow", "december 20"),
        SlotKind.TIME: ("7 pm", "9 am"),
        SlotKind.DURATION: ("two hours", "three days"),
        SlotKind.MONEY: ("fifty dollars", "80 dollars"),
        SlotKind.YES_NO: ("yes", "no"),
        SlotKind.NAME: ("Boston", "Denver"),
        SlotKind.PHONE: ("555 123 4567", "555 765 4321"),
        SlotKind.EMAIL: ("ann@example.com", "bob@example.org"),
        SlotKind.CODE: ("A B 1 2", "X Y 3 4"),
        SlotKind.TEXT: ("tea", "coffee"),
        SlotKind.CHOICE: ("", ""),
    },
    (
        "friday at 9", "this weekend", "early next week", "after four", "2 or 3", "what was that again?",
        "the first one, and how long will it take?", "my wife's name",
    ),
    {SlotKind.DATE: "next friday", SlotKind.TIME: "half past six"},
    {
        SlotKind.DATE: ("this weekend, ideally sunday", "2025-12-07"),
        SlotKind.TIME: ("after four pm, preferably at 7 pm", "19:00"),
    },
    "retry",
    "yesterday",
    "the second one",
    "no, change it",
    ("okay and that is free of charge right", "yes i take it that it comes with a map"),
    "change the {slot} to {value}",
    "no, make it {value}",
    "{value} dollars",
    ("that's all", "remove the first one", "make it dome"),
    ("remove the first one", "make the first one dome", "add another one"),
)  # fmt: skip
_GERMAN = TriedMessages(
    "und was ist jetzt mit der anderen Sache",
    ("ja", "nein", "abbrechen", "Hilfe", "wie bitte", "einen Moment", "zurück", "überspringen", "von vorne",
      "ein Mitarbeiter bitte"),
    {
        **_ENGLISH.said,
        SlotKind.NUMBER: ("zwei", "fünf"),
        SlotKind.DATE: ("morgen", "am 20. Dezember"),
        SlotKind.TIME: ("um 19 Uhr", "um neun Uhr morgens"),
        SlotKind.DURATION: ("zwei Stunden", "drei Tage"),
        SlotKind.MONEY: ("fünfzig Euro", "80 Euro"),
        SlotKind.YES_NO: ("ja", "nein"),
        SlotKind.NAME: ("Anna Meier", "Jonas Wolf"),
        SlotKind.PHONE: ("0151 123456", "030 765432"),
        SlotKind.TEXT: ("Tee", "Kaffee"),
    },
    (
        "Freitag um neun", "am Wochenende", "Anfang nächster Woche", "nach vier", "zwei oder drei",
        "was war das noch mal?",
        "das erste, und wie lange dauert das?", "der Name meiner Frau",
    ),
    {SlotKind.DATE: "nächsten Freitag", SlotKind.TIME: "halb sieben"},
    {
        SlotKind.DATE: ("am Wochenende, am liebsten Sonntag", "2025-12-07"),
        SlotKind.TIME: ("nach 16 Uhr, am besten um 19 Uhr", "19:00"),
    },
    "wiederholen",
    "gestern",
    "den zweiten",
    "nein, ändern",
    ("okay, und das ist gratis, oder", "ja, und Hunde dürfen mit, nicht wahr"),
    "ändern Sie {slot} auf {value}",
    "nein, lieber {value}",
    "{value} Euro",
)  # fmt: skip
_SPANISH = TriedMessages(
    "y qué hay de aquella otra cosa",
    ("sí", "no", "cancelar", "ayuda", "repita", "un momento", "atrás", "saltar", "empezar de nuevo",
      "una persona por favor"),
    {
        **_ENGLISH.said,
        SlotKind.NUMBER: ("dos", "cinco"),
        SlotKind.DATE: ("mañana", "el 20 de diciembre"),
        SlotKind.TIME: ("a las 19:00", "a las nueve de la mañana"),
        SlotKind.DURATION: ("dos horas", "tres días"),
        SlotKind.MONEY: ("cincuenta euros", "80 euros"),
        SlotKind.YES_NO: ("sí", "no"),
        SlotKind.NAME: ("Ana García", "Jorge Lobo"),
        SlotKind.PHONE: ("612 345 678", "912 765 432"),
        SlotKind.TEXT: ("té", "café"),
    },
    (
        "el viernes a las nueve", "este fin de semana", "a principios de la semana que viene", "después de las cuatro",
        "dos o tres", "¿qué era eso?", "el primero, ¿y cuánto tarda?", "el nombre de mi mujer",
    ),
    {SlotKind.DATE: "el próximo viernes", SlotKind.TIME: "las seis y media"},
    {
        SlotKind.DATE: ("este fin de semana, mejor el domingo", "2025-12-07"),
        SlotKind.TIME: ("después de las 16:00, mejor a las 19:00", "19:00"),
    },
    "repetir",
    "ayer",
    "el segundo",
    "no, cambiar",
    ("vale, y eso es gratis, verdad", "sí, y los perros pueden venir, no es así"),
    "cambie {slot} a {value}",
    "no, mejor {value}",
    "{value} euros",
)  # fmt: skip
MESSAGES = {"en": _ENGLISH, "de": _GERMAN, "es": _SPANISH}


def messages_of(language: str) -> TriedMessages:
    """The messages of a language. If this module has no messages in that language, the English messages are
    returned."""
    return MESSAGES.get(pack_of(language).code, _ENGLISH)
