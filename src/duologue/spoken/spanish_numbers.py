"""Spanish number words: cardinals in both genders, ordinals, decimals and digits one by one."""

from __future__ import annotations

from typing import Literal, TypeAlias

Gender: TypeAlias = Literal["", "m", "f"]
"""Before a noun, 1 is "un" or "una"; alone it is "uno"."""

ONES = (
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete"
    " veintiocho veintinueve"
).split()
TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()
HUNDREDS = (
    "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos".split()
)
_ORDINALS = (
    "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo decimotercero"
    " decimocuarto decimoquinto decimosexto decimoséptimo decimoctavo decimonoveno vigésimo"
).split()


def cardinal(number: int, gender: Gender = "") -> str:
    """A whole number in words. `gender` is the gender of the noun that follows the number."""
    if number < 0:
        return f"menos {cardinal(-number, gender)}"
    if number < 30:
        return _with_gender(ONES[number], number, gender)
    if number < 100:
        tens, ones = divmod(number, 10)
        return f"{TENS[tens - 3]} y {cardinal(ones, gender)}" if ones else TENS[tens - 3]
    if number == 100:
        return "cien"
    if number < 1000:
        count, rest = divmod(number, 100)
        head = HUNDREDS[count - 1]
        head = head.replace("tos", "tas") if gender == "f" and count > 1 else head
        return f"{head} {cardinal(rest, gender)}" if rest else head
    if number < 10**6:
        count, rest = divmod(number, 1000)
        head = "mil" if count == 1 else f"{cardinal(count, gender or 'm')} mil"
        return f"{head} {cardinal(rest, gender)}" if rest else head
    scale, one, many = (10**12, "billón", "billones") if number >= 10**12 else (10**6, "millón", "millones")
    count, rest = divmod(number, scale)
    head = f"un {one}" if count == 1 else f"{cardinal(count, 'm')} {many}"
    return f"{head} {cardinal(rest, gender)}" if rest else head


def _with_gender(word: str, number: int, gender: Gender) -> str:
    if number % 10 != 1 or number == 11 or not gender:
        return word
    if gender == "f":
        return f"{word[:-1]}a"
    return "veintiún" if number == 21 else "un"


def ordinal(number: int, ending: str) -> str | None:
    """An ordinal with the ending "o", "a" or "er"; None if the number is too high (above 20) or below 1."""
    if not 1 <= number <= len(_ORDINALS):
        return None
    word = _ORDINALS[number - 1]
    if ending == "er":
        return word[:-1] if word.endswith("ero") else word
    return word[:-1] + ending


def digits(text: str) -> str:
    """The digits of a text in words, one by one."""
    return " ".join(ONES[int(digit)] for digit in text if digit in "0123456789")


def decimal(text: str, mark: str, gender: Gender = "") -> str:
    """A number such as "3,5", in words. `mark` is the word for the comma or the point."""
    whole, _, fraction = text.partition(",")
    if len(whole) > 15:
        return digits(text)
    said = cardinal(int(whole or "0"), "" if fraction else gender)
    if not fraction:
        return said
    part = digits(fraction) if fraction[0] == "0" or len(fraction) > 2 else cardinal(int(fraction))
    return f"{said} {mark} {part}"
