"""The Spanish words for currencies, units, fractions and symbols."""

from __future__ import annotations

from .spanish_numbers import Gender

_DOLLAR: tuple[str, str, str, Gender] = ("dólar", "dólares", "centavo", "m")
_EURO: tuple[str, str, str, Gender] = ("euro", "euros", "céntimo", "m")
_POUND: tuple[str, str, str, Gender] = ("libra", "libras", "penique", "f")
PESO: tuple[str, str, str, Gender] = ("peso", "pesos", "centavo", "m")
MONEY: dict[str, tuple[str, str, str, Gender]] = {
    "€": _EURO, "EUR": _EURO, "$": _DOLLAR, "USD": _DOLLAR, "£": _POUND, "GBP": _POUND, "MXN": PESO, "ARS": PESO,
    "¥": ("yen", "yenes", "sen", "m"),
}  # fmt: skip


def _he(one: str, many: str = "") -> tuple[str, str, Gender]:
    return one, many or f"{one}s", "m"


def _she(one: str, many: str = "") -> tuple[str, str, Gender]:
    return one, many or f"{one}s", "f"


UNITS: dict[str, tuple[str, str, Gender]] = {
    "km": _he("kilómetro"), "m": _he("metro"), "cm": _he("centímetro"), "mm": _he("milímetro"), "kg": _he("kilo"),
    "g": _he("gramo"), "mg": _he("miligramo"), "t": _she("tonelada"), "l": _he("litro"), "L": _he("litro"),
    "ml": _he("mililitro"), "°C": _he("grado Celsius", "grados Celsius"), "ºC": _he("grado Celsius", "grados Celsius"),
    "°F": _he("grado Fahrenheit", "grados Fahrenheit"), "°": _he("grado"),
    "km/h": _he("kilómetro por hora", "kilómetros por hora"), "m/s": _he("metro por segundo", "metros por segundo"),
    "kB": _he("kilobyte"), "KB": _he("kilobyte"), "MB": _he("megabyte"), "GB": _he("gigabyte"), "TB": _he("terabyte"),
    "Hz": _he("hercio"), "kHz": _he("kilohercio"), "MHz": _he("megahercio"), "GHz": _he("gigahercio"),
    "W": _he("vatio"), "kW": _he("kilovatio"), "kWh": _he("kilovatio hora", "kilovatios hora"), "V": _he("voltio"),
    "h": _she("hora"), "min": _he("minuto"), "s": _he("segundo"), "seg": _he("segundo"), "ms": _he("milisegundo"),
    "m²": _he("metro cuadrado", "metros cuadrados"), "km²": _he("kilómetro cuadrado", "kilómetros cuadrados"),
    "m³": _he("metro cúbico", "metros cúbicos"), "ha": _she("hectárea"), "dB": _he("decibelio"),
    "kcal": _she("kilocaloría"),
}  # fmt: skip
FRACTIONS = {
    2: ("medio", "medios"), 3: ("tercio", "tercios"), 4: ("cuarto", "cuartos"), 5: ("quinto", "quintos"),
    6: ("sexto", "sextos"), 8: ("octavo", "octavos"), 10: ("décimo", "décimos"),
}  # fmt: skip
SYMBOLS = (
    ("&", r"&(?:amp;)?", " y "), ("=", r"\s?=\s?", " igual a "), ("+", r"(?<=[\w\s])\+(?=[\s\d])", " más "),
    ("→", "→", " a "), ("≈", "≈", "aproximadamente "), ("~", r"~(?=\d)", "aproximadamente "),
    ("±", "±", "más o menos "), ("×", r"\s?×\s?", " por "),
    ("÷", "÷", " entre "), ("≥", "≥", " al menos "), ("≤", "≤", " como máximo "),
    ("#", r"#(?=\d)", "número "), ("½", "½", " medio "), ("¼", "¼", " un cuarto "), ("¾", "¾", " tres cuartos "),
    ("%", "%", " por ciento "), ("@", r"(?<!\S)@(?=\w)", "arroba "), ("§", r"§\s?", "sección "),
    (">", r"(?<=\s)>(?=\s)", "mayor que"), ("<", r"(?<=\s)<(?=\s)", "menor que"), ("/", r"(?<=y)/(?=o\b)", " "),
    ("*", r"(?<=\s)\*(?=\s)", "por"),
)  # fmt: skip
