"""The German words for currencies, units, fractions and symbols."""

from __future__ import annotations

MONEY = {
    "€": ("Euro", "Euro", "Cent"), "EUR": ("Euro", "Euro", "Cent"), "$": ("Dollar", "Dollar", "Cent"),
    "USD": ("Dollar", "Dollar", "Cent"), "£": ("Pfund", "Pfund", "Pence"), "GBP": ("Pfund", "Pfund", "Pence"),
    "CHF": ("Franken", "Franken", "Rappen"), "¥": ("Yen", "Yen", ""),
}  # fmt: skip


def _same(name: str) -> tuple[str, str]:
    return name, name


def _with_n(name: str) -> tuple[str, str]:
    return name, f"{name}n"


UNITS = {
    "km": _same("Kilometer"), "m": _same("Meter"), "cm": _same("Zentimeter"), "mm": _same("Millimeter"),
    "kg": _same("Kilogramm"), "g": _same("Gramm"), "mg": _same("Milligramm"), "t": ("Tonne", "Tonnen"),
    "l": _same("Liter"), "L": _same("Liter"), "ml": _same("Milliliter"), "°C": _same("Grad Celsius"),
    "°F": _same("Grad Fahrenheit"), "°": _same("Grad"), "km/h": _same("Kilometer pro Stunde"),
    "m/s": _same("Meter pro Sekunde"), "kB": _same("Kilobyte"), "KB": _same("Kilobyte"), "MB": _same("Megabyte"),
    "GB": _same("Gigabyte"), "TB": _same("Terabyte"), "Mbit/s": _same("Megabit pro Sekunde"), "Hz": _same("Hertz"),
    "kHz": _same("Kilohertz"), "MHz": _same("Megahertz"), "GHz": _same("Gigahertz"), "W": _same("Watt"),
    "kW": _same("Kilowatt"), "kWh": _with_n("Kilowattstunde"), "V": _same("Volt"), "PS": _same("PS"),
    "h": _with_n("Stunde"), "Std.": _with_n("Stunde"), "min": _with_n("Minute"), "Min.": _with_n("Minute"),
    "s": _with_n("Sekunde"), "Sek.": _with_n("Sekunde"), "ms": _with_n("Millisekunde"), "m²": _same("Quadratmeter"),
    "qm": _same("Quadratmeter"), "km²": _same("Quadratkilometer"), "m³": _same("Kubikmeter"), "ha": _same("Hektar"),
    "dB": _same("Dezibel"), "kcal": _with_n("Kilokalorie"), "Mio.": ("Million", "Millionen"),
    "Mrd.": ("Milliarde", "Milliarden"),
}  # fmt: skip
FRACTIONS = {2: "Halbe", 3: "Drittel", 4: "Viertel", 5: "Fünftel", 6: "Sechstel", 8: "Achtel", 10: "Zehntel"}
SYMBOLS = (
    ("&", r"&(?:amp;)?", " und "), ("=", r"\s?=\s?", " gleich "), ("+", r"(?<=[\w\s])\+(?=[\s\d])", " plus "),
    ("→", "→", " zu "), ("≈", "≈", "ungefähr "), ("~", r"~(?=\d)", "ungefähr "), ("±", "±", "plus minus "),
    ("×", r"\s?×\s?", " mal "), ("÷", "÷", " geteilt durch "), ("≥", "≥", " mindestens "), ("≤", "≤", " höchstens "),
    ("#", r"#(?=\d)", "Nummer "), ("½", "½", " einhalb "), ("¼", "¼", " ein Viertel "), ("¾", "¾", " drei Viertel "),
    ("%", "%", " Prozent "), ("@", r"(?<!\S)@(?=\w)", "ät "), ("§", r"§\s?", "Paragraf "),
    (">", r"(?<=\s)>(?=\s)", "größer als"), ("<", r"(?<=\s)<(?=\s)", "kleiner als"), ("/", r"(?<=und)/(?=oder)", " "),
    ("*", r"(?<=\s)\*(?=\s)", "mal"),
)  # fmt: skip
