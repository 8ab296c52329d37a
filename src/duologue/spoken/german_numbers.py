"""German number words: cardinals, ordinals, decimals, years and digits one by one."""

from __future__ import annotations

ONES = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn"
).split()
TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_SCALES = ((10**12, "Billion", "Billionen"), (10**9, "Milliarde", "Milliarden"), (10**6, "Million", "Millionen"))
_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}


def cardinal(number: int, one: str = "eins") -> str:
    """A whole number in words. `one` is the word for a 1 at the end of the number: "eins", or before a noun "ein" or
    "eine"."""
    if number < 0:
        return f"minus {cardinal(-number, one)}"
    for scale, name, names in _SCALES:
        if number >= scale:
            count, rest = divmod(number, scale)
            said = f"eine {name}" if count == 1 else f"{cardinal(count, 'ein')} {names}"
            return f"{said} {cardinal(rest, one)}" if rest else said
    if number >= 1000:
        count, rest = divmod(number, 1000)
        return f"{cardinal(count, 'ein')}tausend{cardinal(rest, one) if rest else ''}"
    if number >= 100:
        count, rest = divmod(number, 100)
        return f"{cardinal(count, 'ein')}hundert{cardinal(rest, one) if rest else ''}"
    if number >= 20:
        tens, ones = divmod(number, 10)
        return f"{cardinal(ones, 'ein')}und{TENS[tens - 2]}" if ones else TENS[tens - 2]
    return one if number == 1 else ONES[number]


def ordinal(number: int, ending: str) -> str:
    """An ordinal in words with an ending such as "e", "en" or "er": "dritter", "zwanzigsten"."""
    high, low = divmod(number, 100)
    head = f"{cardinal(high * 100)}" if high else ""
    if low in _ORDINALS:
        return f"{head}{_ORDINALS[low]}{ending}"
    words = cardinal(number) if low == 0 else head + cardinal(low)
    return f"{words}{'t' if 0 < low < 20 else 'st'}{ending}"


def year(number: int) -> str:
    high, low = divmod(number, 100)
    if 11 <= high <= 19:
        return f"{cardinal(high)}hundert{cardinal(low) if low else ''}"
    return cardinal(number).removeprefix("ein") if 1000 <= number < 1100 else cardinal(number)


def digits(text: str) -> str:
    """The digits of a text in words, one by one."""
    return " ".join(ONES[int(digit)] for digit in text if digit in "0123456789")


def decimal(text: str, one: str = "eins") -> str:
    """A number such as "3,5", in words. Every digit after the comma is said."""
    whole, _, fraction = text.partition(",")
    if len(whole) > 15:
        return digits(text)
    return f"{cardinal(int(whole or '0'))} Komma {digits(fraction)}" if fraction else cardinal(int(whole or "0"), one)
