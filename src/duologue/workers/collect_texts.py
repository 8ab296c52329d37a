"""The texts of the tasks that ask for one value, in each language that has a language pack.

Rule: a language in this module has all of the texts. Any other language gets the English texts.
"""

from __future__ import annotations

from collections.abc import Mapping

from duologue.dialogue.language.packs import has_pack, pack_of

_ENGLISH = {
    "again": "Sorry, I didn't get that. Could you say it again?",
    "right": "I have {value}. Is that right?",
    "yes_or_no": "Is that a yes or a no?",
    "name": "What is your name?",
    "email": "What is your e-mail address?",
    "phone": "What is your phone number?",
    "address": "What is your address?",
    "date": "On which day?",
    "which": "Do you mean {first} or {last}?",
    "card": "What is the number of your card?",
    "card_again": "That isn't a valid card number. Could you say it again, digit by digit?",
    "card_right": "The card that ends in {value}. Is that right?",
    "digits": "Please say or key in your number.",
    "digits_again": "That isn't the right number of digits. Could you enter it again?",
}
_GERMAN = {
    "again": "Das habe ich leider nicht verstanden. Können Sie es bitte noch einmal sagen?",
    "right": "Ich habe {value}. Ist das richtig?",
    "yes_or_no": "Heißt das ja oder nein?",
    "name": "Wie ist Ihr Name?",
    "email": "Wie lautet Ihre E-Mail-Adresse?",
    "phone": "Wie lautet Ihre Telefonnummer?",
    "address": "Wie lautet Ihre Adresse?",
    "date": "An welchem Tag?",
    "which": "Meinen Sie {first} oder {last}?",
    "card": "Wie lautet die Nummer Ihrer Karte?",
    "card_again": "Das ist keine gültige Kartennummer. Können Sie sie bitte Ziffer für Ziffer wiederholen?",
    "card_right": "Die Karte mit den letzten Ziffern {value}. Ist das richtig?",
    "digits": "Bitte sagen oder tippen Sie Ihre Nummer.",
    "digits_again": "Die Anzahl der Ziffern stimmt nicht. Können Sie sie bitte noch einmal eingeben?",
}
_SPANISH = {
    "again": "Perdone, no le he entendido. ¿Puede repetirlo?",
    "right": "Tengo {value}. ¿Es correcto?",
    "yes_or_no": "¿Eso es un sí o un no?",
    "name": "¿Cómo se llama?",
    "email": "¿Cuál es su correo electrónico?",
    "phone": "¿Cuál es su número de teléfono?",
    "address": "¿Cuál es su dirección?",
    "date": "¿Qué día?",
    "which": "¿Se refiere a {first} o a {last}?",
    "card": "¿Cuál es el número de su tarjeta?",
    "card_again": "No es un número de tarjeta válido. ¿Puede repetirlo cifra por cifra?",
    "card_right": "La tarjeta que termina en {value}. ¿Es correcto?",
    "digits": "Por favor, diga o marque su número.",
    "digits_again": "No es el número correcto de cifras. ¿Puede introducirlo otra vez?",
}
TEXTS: Mapping[str, Mapping[str, str]] = {"en": _ENGLISH, "de": _GERMAN, "es": _SPANISH}


def collect_text(language: str, name: str) -> str:
    """The text with this name, such as "email", in this language. "de-AT" gets the texts of "de", and a language
    without texts gets the English ones."""
    code = pack_of(language).code if has_pack(language) else "en"
    return TEXTS.get(code, _ENGLISH)[name]
